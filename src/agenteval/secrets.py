"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

Times are linear in the length of the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agenteval.command_passwords import command_passwords, might_be_command
from agenteval.key_forms import KEY_KINDS, has_form, keys_in
from agenteval.lazyregex import lazy


class Found(NamedTuple):
    """Something of some kind, from `start` up to `end` in the text."""

    kind: str
    start: int
    end: int


BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`; a rule of the library, and a wider one."""
COOKIE = "cookie"
"""What a browser has kept of a site: in a header, `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *KEY_KINDS}))
"""All kinds that are told apart."""

_WHOSE = r"(?:api|access|account|encryption|private|secret|signing)[_ -]?"
_NAMES = rf"(?:pass(?:wor[dt]|wd|phrase)|(?-i:_PASS)|pwd|secret|token|authorization|{_WHOSE}key)"
_SECRET_NAME = lazy(rf"(?i:{_NAMES}|cookie)\Z")
_IS = r"[ \t]{0,8}(?:=>|:=|=|:)\*{0,3}[ \t]{0,8}"
_CREDENTIAL = lazy(rf"""(?ixm)(?P<name>{_NAMES})\*{{0,3}}\\{{0,8}}["']?{_IS}(?:
    "(?P<double>(?:\\.|[^"\\\n]){{1,4096}})
  | '(?P<single>(?:\\.|''|[^'\\\n]){{1,4096}})
  | (?P<quote>\\{{1,8}}["'])(?P<escaped>[^\n]{{1,4096}}?)(?:(?P=quote)|$)
  | (?:(?:bearer|basic|token)[ ])?(?P<bare>[^\s"'\\,;&<>(){{}}\[\]|]{{4,4096}})
)""")
_UNQUOTED = lazy(rf"""(?ix)(?P<name>{_NAMES})\*{{0,3}}{_IS}(?![$(\[{{])(?=\S{{0,64}}[0-9])(?=\S{{0,64}}[a-z])
    (?P<value>(?:[^\s"'\\,;&<>|]|[,;&](?!amp;|[\w.-]{{1,64}}[=:])){{4,256}}+)(?=["'\\\s]|\Z)""")
"""A value with letters and digits up to a blank: brackets, commas and the like are part of it, as of a password."""
_EXPRESSION = lazy(r"[\w.]+[(\[](?:.*(?:,|[()\[\]](?:\.[\w.]*)?))?[;:]?")
"""A call or an index, perhaps up to the first blank or quote in it."""
_FLAG = lazy(
    rf"""(?i)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES} {{1,8}}(?:"([^\s"\\]{{4,4096}})"|'([^\s'\\]{{4,4096}})'|["']?(?!\w{{1,32}}=\w)([^\s"'\\,;&<>(){{}}\[\]|-][^\s"'\\,;&<>(){{}}\[\]|]{{3,4095}}))"""
)
_ARGUMENT = lazy(rf"""(?ix)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES}(?:
    \\{{0,8}}["'],(?:\\n|\s){{0,64}}\\{{0,8}}["'](?P<quoted>[^\s"'\\-][^"'\\\n]{{3,4095}})
  | ["']?(?:\\n|\n)[ \t]{{0,64}}-[ ]["']?(?P<item>[^\s"'\\-][^\s"'\\]{{3,4095}}) )""")
"""The argument after an option, in a list as JSON and Python write it, or YAML."""
_GAP = r"(?:\\[nrt]|\s){1,16}"
_NETRC = lazy(
    rf"""(?i)\b(?:machine{_GAP}[^\s\\]{{1,256}}|default){_GAP}login{_GAP}[^\s\\]{{1,128}}{_GAP}password{_GAP}([^\s"'\\]{{4,256}})"""
)
"""A password in `.netrc`: `machine ftp.example login bob password …`, on one line or several."""
_SPOKEN = lazy(r"""(?ix)pass(?:wor[dt]|wd|phrase)["'*_`]{0,3}[ ](?:is|was)(?:[ ]now)?:?
    (?:[ ]|(?<=:)(?:\\n|[\s`]){1,8})["'*_`\u201c]{0,3}(?!\$|base64|sha|md5|utf|argon|pbkdf)(?=[^\s0-9]{0,64}[0-9])(?=[^\sa-z]{0,64}[a-z])
    ((?:[^\s"'*`\u201d,;:|&<>(){}\[\]$]|[,;:&(){}\[\]$](?=[^\w\s]?\w)){4,256})""")
"""A password in a sentence; when it has letters and digits, as no word has."""
_TOLD = lazy(rf"""(?ix){_NAMES}["'*_`]{{0,3}}[ ](?:is|was)(?:[ ]now)?:?(?:\\n|[\s"'*_`\\\u201c]){{1,8}}
    (?=[\w.~+/=-]{{0,64}}?(?=[a-z]{{0,15}}[0-9])(?=[0-9]{{0,15}}[a-z])[a-z0-9]{{16}})([\w.~+/=-]{{16,4096}})""")
"""Any other secret in a sentence; when it has a long row of letters and digits, as no word, date or UUID has."""
_SIGNS = r"""(?:\\n|[\\"':{\[\s]){1,64}+"""
_WRAPPED = rf"{{{_SIGNS}(?:arrayValue{_SIGNS}values{_SIGNS})?(?:string|bytes|int|double)Value{_SIGNS}"
"""What OTLP writes before a value: `{"stringValue": "`."""
_ENTRY = lazy(rf"""(?ix)(?P<name>{_NAMES})(?:[\\"',\s]|\\n){{1,64}}value[\\"']{{0,9}}[ \t]{{0,8}}[:=][ \t]{{0,8}}
    (?:{_WRAPPED})?\\{{0,8}}["']?(?P<value>[^\s"'\\,;&<>(){{}}\[\]|\u2026][^\s"'\\]{{3,4095}})""")
"""A value below or behind the name that a list of variables gives it: `name: DB_PASSWORD`, `value: …`."""
_ELEMENT = lazy(rf"(?i)(?P<name>{_NAMES})>(?P<value>[^\s<>]{{4,4096}})</")
"""A value between the tags of XML: `<password>…</password>`."""
_KEPT = r"""[^\s"',;\\()<>]{0,4096}"""
_COOKIE = lazy(
    rf"""(?i)cookie\\{{0,8}}["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\{{0,8}}["']?([\w.-]{{1,64}}={_KEPT}(?:; ?[\w.-]{{1,64}}{_KEPT})*)"""
)
_CALL = lazy(r"[A-Za-z_.]+(?:64)?")
_CLOSING = ".,:;!?)]}&"
"""What may stand after a value that is written without quotes."""
_WIDER_BASIC_AUTH = lazy(r"://[^\s/@:\"'\\]{0,256}:([^\s/@\"'\\]{1,256})@")
_FOLDER = lazy(r"(?:~|[A-Za-z]:)?[/\\].*")
_NO_VALUE = lazy(
    r"(?s)process\.env\b.*|os\.environ\b.*|\$\{?\w+\}?|\{\{.*|%\w+%|<[^>]*>?|\*+|\.+|[•●]+|[xX]+"
    r"|\[redacted:.*|\[secret [a-z-]+\]"
)
"""What may stand in the place of a secret: a variable, a blank, or what has been redacted or masked."""
_STAND_IN = lazy(rf"""(?sx)(?i:your)(?:[_-][A-Za-z]+)+ | (?=[A-Z_]+\Z)(?:[A-Z]+_)*(?i:{_NAMES})
  | [\w-]{{0,12}}?(?:x{{4,}}|X{{4,}}|\*{{3,}}|[•●]{{3,}}|\.{{3}}|\u2026)\w{{0,4}}
  | (?:~|\.{{1,2}}|[A-Za-z]:)[/\\].* | ![A-Za-z_]+ | \[[A-Za-z ]+\] | \([A-Za-z ]+\) | (?i:(?:[a-z_]\w*\.)+[a-z_]*{_NAMES})""")
"""What manuals, settings and programs write for a secret.

`YOUR_TOKEN`, `your-key-here`, `sk-xxxx`, `~/.ssh/key`, `!vault`, `user.password`.
"""
_SCHEME = lazy(r"(?i)\A(?:bearer|basic|token) (?=\S)")
"""What stands before the value of an `Authorization`."""
_FILLED = lazy(r"x{8}|X{8}|\*{8}")
"""What no key has, but an example of one: `ghp_xxxxxxxx`."""
_USER = lazy(r"(?i)(?<![a-z])user(?:_?name)?:\Z")
"""Who has a password in a manual."""
_OF_ONE = lazy(r"(?i)(?<![\w'])(?:the|our|my|this|wi-?fi|guest|admin|root)(?: [\w'-]+){0,2} \Z")
_ASKED = lazy(
    r"(?i)\b(?:reset|chang|forg[eo]t|recover|updat|enter|set|creat|choos|confirm|typ|provid|need|us)\w*\b"
)
"""What one does with a password that is not told."""
_NEXT_WORD = lazy(r"[ ](?:[^\W\d_][\w'\u2019-]{0,64}(?![\w:=@*])|[>\u203a\u2192][ ])")
"""A word, or an arrow to it, that makes a sentence of the word before it; no name of another value."""
_NO_SECRET = frozenset(
    {"required", "optional", "string", "null", "none", "true", "false", "unknown", "redacted"}
)
SHORTEST = 4
_SHORTEST_COOKIE = 16
_PLAIN_WORD = 20
"""From this length on a word of letters in one case is a secret; beside `password` every word is."""


def detect(text: str) -> list[Found]:
    """The secrets in a text, in order; none overlaps another."""
    data = text.encode(errors="replace")
    found: list[Found] = []
    if has_form(data):
        found += (Found(*key) for key in keys_in(text) if not _FILLED.search(text, *key[1:]))
    if "://" in text and "@" in text:
        found += _basic_auth(text)
    if might_be_command(data):
        found += _in_commands(text, data)
    if _has_assignment(data):
        found += (
            *_credentials(text),
            *_unquoted(text),
            *_spoken(text),
            *_flags(text),
            *_netrc(text),
            *_entries(text),
            *_cookies(text),
        )
    return list(_joined(found))


def might_hold(data: bytes) -> bool:
    """Whether a text, or JSON in UTF-8, has the looks of holding a secret: false means that `detect` finds none."""
    return (
        has_form(data) or (b"@" in data and b"://" in data) or might_be_command(data) or _has_assignment(data)
    )


def names_secret(key: str) -> bool:
    """Whether a key says that its value is a secret: `password`, `db_password`, `apiKey`, `client-secret`."""
    return _SECRET_NAME.search(key) is not None


_TYPED = frozenset(("stringValue", "bytesValue", "intValue", "doubleValue", "arrayValue", "values"))
"""What OTLP wraps around a value: `{"stringValue": "…"}`, `{"arrayValue": {"values": […]}}`."""


def key_of(mapping: Mapping[Any, Any], key: Any, outer: str = "") -> str:
    """What names the value under a key: the key, or the name beside it in `{"name": "DB_PASSWORD", "value": "…"}`.

    Only a value that is a secret wherever it stands has such a name: many things have a name and a value. A value that
    OTLP wraps is always named so, and `outer`, which names the mapping, names what is wrapped in it.
    """
    if key == "value":
        name, value = mapping.get("name", mapping.get("key")), mapping[key]
        if isinstance(name, str) and names_secret(name):
            text = spelled(value)
            if _is_typed(value) if text is None else is_telling(name, text):
                return name
    elif outer and key in _TYPED and _is_typed(mapping):
        return outer
    return str(key)


_OPTION = lazy(rf"(?i)-(?!-?no-)[\w-]*{_NAMES}")


def named_items(items: Iterable[Any], key: str = "") -> Iterator[tuple[str, Any]]:
    """The items of a list, each with what names it: the option before it (`["--password", "…"]`), else `key`."""
    option = ""
    for item in items:
        is_text = isinstance(item, str)
        yield (key if is_text and item.startswith("-") else option or key), item
        option = item if is_text and item.startswith("-") and _OPTION.fullmatch(item) else ""


def _is_typed(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and not _TYPED.isdisjoint(value)


def spelled(value: Any) -> str | None:
    """A text, or a number as it is written; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def is_value(text: str, key: str = "") -> bool:
    """Whether a text beside the name of a secret can be one: not if it is empty, or a variable such as `${TOKEN}`.

    Nor is a folder under `PWD`, where shells keep the current one.
    """
    text = text.strip()
    if key[-3:].lower() == "pwd" and _FOLDER.fullmatch(text):
        return False
    return bool(text) and _NO_VALUE.fullmatch(text) is None


def is_telling(key: str, value: str) -> bool:
    """Whether a value beside the name of a secret is one wherever it stands, and not an everyday word."""
    value = value.strip()
    words = _SCHEME.sub("", value.strip("*_`"))  # without the marks of Markdown
    if len(value) < SHORTEST or not is_value(value, key) or words.lower() in _NO_SECRET:
        return False
    if not is_value(words, key) or _STAND_IN.fullmatch(words):
        return False
    if key.lower().endswith(("word", "wort", "wd", "phrase", "_pass")):
        return True
    letters = words.replace("-", "").replace("_", "")
    in_one_case = letters.isalpha() and (letters.islower() or words.istitle() or letters.isupper())
    return not (in_one_case and len(value) < _PLAIN_WORD) and not value.replace(".", "").isdigit()


_KEY = b"key"
_PASS = b"pass"
_WORDS_OF_PASS = tuple(b"password passwort passwd passphrase _pass".split())
_OTHER_WORDS = (*b"pwd secret token authorization cookie".split(), _KEY)
_NAME_WORDS = _WORDS_OF_PASS + _OTHER_WORDS
"""All names in full, except what stands before `key`. Finding them one by one is far faster than one pattern."""
_WHOSE_KEY = lazy(rf"{_WHOSE}\Z".encode())
_LONGEST_WHOSE = len("encryption_")
_LONGEST_FLAG = 32 + _LONGEST_WHOSE + len("--")
"""What may stand before a name in `_FLAG`."""
_ASSIGNED = lazy(rb"\*{0,3}[ \t]{0,8}[\\\"'=:>]|\s{1,64}value")
"""The start of what may stand between a name and its value in `_CREDENTIAL`, in JSON, and after bold names."""
_SAID = lazy(rb"[\"'*_`]{0,3} (?:is|was)[ :]")
"""The same in a sentence, as `_SPOKEN` has it."""
_LONG_SAID = lazy(rb"[\"'*_`]{0,3} (?:is|was)(?: now)?:?(?:\\[nrt]|[^a-z0-9]){1,24}[!-~]{16}")
"""The same, as `_TOLD` has it: a long word follows."""


_LOGIN = lazy(rf"login{_GAP}[^\s\\]{{1,128}}{_GAP}\Z".encode())
"""What stands before `password` in `_NETRC`."""
_LONGEST_LOGIN = len("login") + 2 * 16 * 2 + 128


def _has_assignment(data: bytes) -> bool:
    """Whether a name such as `password` is followed by a sign of assignment, by a quote or `is`, a flag, or in a `.netrc`."""
    lowered = data.lower()
    for word in _NAME_WORDS if _PASS in lowered else _OTHER_WORDS:
        at = lowered.find(word)
        while at >= 0:
            end = at + len(word)
            if (
                _ASSIGNED.match(lowered, end) or _LONG_SAID.match(lowered, end) or _is_flag(lowered, at, end)
            ) and (word != _KEY or _WHOSE_KEY.search(lowered, max(0, at - _LONGEST_WHOSE), at)):
                return True
            if word.startswith(_PASS) and (_SAID.match(lowered, end) or _is_in_netrc(lowered, at, end)):
                return True
            at = lowered.find(word, end)
    return False


def _is_flag(lowered: bytes, at: int, end: int) -> bool:
    return (
        lowered.startswith((b" ", b"\n"), end) and lowered.rfind(b"--", max(0, at - _LONGEST_FLAG), at) >= 0
    )


def _is_in_netrc(lowered: bytes, at: int, end: int) -> bool:
    is_whole = lowered.startswith((b" ", b"\n", b"\r", b"\t"), end)
    return is_whole and _LOGIN.search(lowered, max(0, at - _LONGEST_LOGIN), at) is not None


def _basic_auth(text: str) -> Iterator[Found]:
    from detect_secrets.plugins.basic_auth import BasicAuthDetector

    for pattern in (*BasicAuthDetector.denylist, _WIDER_BASIC_AUTH):
        for match in pattern.finditer(text):
            if _is_given(text, *match.span(1)):
                yield Found(BASIC_AUTH, *match.span(1))


def _in_commands(text: str, data: bytes) -> Iterator[Found]:
    return (
        Found(CREDENTIAL, start, end)
        for start, end in command_passwords(text, data)
        if _is_given(text, start, end)
    )


def _is_given(text: str, start: int, end: int) -> bool:
    """Whether a password in an address or a command is one, and nothing that stands in for it: `user:password`, `bob:${PW}`."""
    value = text[start:end]
    is_named = names_secret(value) and _USER.search(text, max(0, start - 12), start)
    return is_value(value) and not is_named and not _STAND_IN.fullmatch(value)


def _credentials(text: str) -> Iterator[Found]:
    for match in _CREDENTIAL.finditer(text):
        group = match.lastgroup or ""
        value = (
            match[group].rstrip(".!?:") if group == "bare" else match[group]
        )  # a sentence may end after it
        is_call = group == "bare" and text[match.end() : match.end() + 1] in ("(", "[")
        if is_telling(match["name"], value) and not (is_call and _CALL.fullmatch(value)):
            start = match.start(group)
            end = start + len(value)
            sign = text[match.end("name") : start]
            if group != "bare" or not (
                _begins_sentence(text, match.start("name"), start, end)
                or _is_code(match["name"], sign, value)
            ):
                yield Found(CREDENTIAL, start, end)


def _begins_sentence(text: str, name: int, start: int, end: int) -> bool:
    """Whether a plain word after a name and a colon is the first of a sentence: `Reset your password: click the link`.

    Not where the name is that of one password, which is told: `The guest password: sunshine for all`.
    """
    word = text[start:end]
    is_plain = word.isalpha() and (word.islower() or word.istitle())
    if not (is_plain and text.endswith(": ", 0, start) and _NEXT_WORD.match(text, end)):
        return False
    before = text[max(0, name - 80) : name].rpartition("\n")[2]
    return not _OF_ONE.search(before) or _ASKED.search(before) is not None


def _is_code(name: str, sign: str, value: str) -> bool:
    """Whether a program assigns a variable of the same name, or a shell what a command in backticks prints."""
    return "=" in sign and (value == name or (value.startswith("`") and value.count("`") == 1))


def _unquoted(text: str) -> Iterator[Found]:
    for match in _UNQUOTED.finditer(text):
        value = match["value"].rstrip(_CLOSING)
        if is_telling(match["name"], value) and not _EXPRESSION.fullmatch(match["value"]):
            yield Found(CREDENTIAL, match.start("value"), match.start("value") + len(value))


def _flags(text: str) -> Iterator[Found]:
    """What follows `--password` and the like in a command or a list of arguments, unless it is a word, as in manuals."""
    for form in (_FLAG, _ARGUMENT) if "--" in text else ():
        for match in form.finditer(text):
            group = match.lastindex or 0
            if is_telling("token", match[group]):
                yield Found(CREDENTIAL, *match.span(group))


def _netrc(text: str) -> Iterator[Found]:
    for match in _NETRC.finditer(text):
        if is_telling("password", match[1]):
            yield Found(CREDENTIAL, *match.span(1))


def _entries(text: str) -> Iterator[Found]:
    for form in (_ENTRY, _ELEMENT):
        for match in form.finditer(text):
            if is_telling(match["name"], match["value"]):
                yield Found(CREDENTIAL, *match.span("value"))


def _spoken(text: str) -> Iterator[Found]:
    for form in (_SPOKEN, _TOLD):
        for match in form.finditer(text):
            yield Found(CREDENTIAL, match.start(1), match.start(1) + len(match[1].rstrip(".!?")))


def _cookies(text: str) -> Iterator[Found]:
    found = _COOKIE.finditer(text)
    return (Found(COOKIE, *match.span(1)) for match in found if len(match[1]) >= _SHORTEST_COOKIE)


def _joined(found: Iterable[Found]) -> Iterator[Found]:
    """In order, with overlaps joined into the outermost; of equal ones, that with the more specific form."""
    current: Found | None = None
    for each in sorted(found, key=lambda one: (one.start, -one.end, one.kind in (CREDENTIAL, BASIC_AUTH))):
        if current is not None and each.start < current.end:
            current = current._replace(end=max(current.end, each.end))
            continue
        if current is not None:
            yield current
        current = each
    if current is not None:
        yield current
