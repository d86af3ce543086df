"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

What is hidden by escapes, invisible characters, base64 or the end of a line is read as what it stands for. Times are
linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from agenteval.redaction.decoding import decoded, decoded_row, dressed_parts, joined, undressed
from agenteval.redaction.key_forms import FORMS, has_form, keys_in
from agenteval.text.parts import lowered
from agenteval.text.regexes import lazy


class Found(NamedTuple):
    """Something of some kind, from `start` up to `end` in the text; `plain` is what it means, where it is written otherwise."""

    kind: str
    start: int
    end: int
    plain: str = ""


BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`."""
COOKIE = "cookie"
"""What a browser has kept of a site: in a header, `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *FORMS}))
"""All kinds that are told apart."""

_WHOSE = r"(?:api|access|account|encryption|master|pre-?shared|private|secret|signing)[_ -]?"
_NAMES = rf"(?:pass(?:wor[dt]|wd|phrase|code)|(?-i:_PASS)|pwd|secret|token|authorization|{_WHOSE}key)"
_NAME = lazy(
    rf"pass(?:wor[dt]|wd|phrase|code)|_pass(?!wor|wd|phr|code)|pwd|secret|token|auth(?:orization)?|{_WHOSE}key|cookie"
)
"""Where a name begins, in small letters."""
_SECRET_NAME = lazy(rf"(?i:{_NAMES}|cookie)\Z")
_IS = r"[ \t]{0,8}(?:=>|:=|=|:)\*{0,3}[ \t]{0,8}"
_CREDENTIAL = lazy(rf"""(?ixm)(?P<name>{_NAMES})\*{{0,3}}\\{{0,8}}(?P<named>["'])?{_IS}(?:
    (?(named)\s{{0,64}})[bu]?"(?P<double>(?:\\.|[^"\\\n]){{1,4096}})
  | (?(named)\s{{0,64}})[bu]?'(?P<single>(?:\\.|''|[^'\\\n]){{1,4096}})
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
_SPOKEN = lazy(r"""(?ix)pass(?:wor[dt]|wd|phrase|code)["'*_`]{0,3}[ ](?:is|was|ist|lautet)(?:[ ]now)?:?
    (?:[ ]|(?<=:)(?:\\n|[\s`]){1,8})["'*_`\u201c]{0,3}(?!\$|base64|sha|md5|utf|argon|pbkdf)(?=[^\s0-9]{0,64}[0-9])(?=[^\sa-z]{0,64}[a-z])
    ((?:[^\s"'*`\u201d,;:|&<>(){}\[\]$]|[,;:&(){}\[\]$](?=[^\w\s]?\w)){4,256})""")
"""A password in a sentence; when it has letters and digits, as no word has."""
_ROW = r"(?=[\w.~+/=-]{0,64}?(?=[a-z]{0,15}[0-9])(?=[0-9]{0,15}[a-z])[a-z0-9]{16})"
_TOLD = lazy(rf"""(?ix){_NAMES}["'*_`]{{0,3}}[ ](?:is|was|ist|lautet)(?:[ ]now)?:?(?:\\n|[\s"'*_`\\\u201c]){{1,8}}
    {_ROW}([\w.~+/=-]{{16,4096}})""")
"""Any other secret in a sentence; when it has a long row of letters and digits, as no word, date or UUID has."""
_BREAK = r"(?:\\n|\r?\n)"
_BELOW = lazy(rf"""(?ix)(?P<name>{_NAMES})["'*_`]{{0,3}}[:?]["'*_`]{{0,3}}[ \t]{{0,8}}(?:[|>][-+0-9]{{0,2}}[ \t]{{0,8}})?
    (?:{_BREAK}[ \t>"'`*_]{{0,16}}){{1,4}}(?P<value>[^\s"'`*\\<>|]{{4,256}})(?=["'`*_.]{{0,3}}[ \t]{{0,8}}(?:{_BREAK}|["'\\]|\Z))""")
"""A value on a line of its own below a name: after a colon, as a block of YAML, or as the answer to a question."""
_BELOW_OTHERS = lazy(r"[-#$({\[]|.*(?:[:,({\[]\Z|://|@[\w.-]+:)")
"""What stands below a name and is no value: an item, a name, an address, the prompt of a shell."""
_SIGNS = r"""(?:\\n|[\\"':{\[\s]){1,64}+"""
_WRAPPED = rf"{{{_SIGNS}(?:arrayValue{_SIGNS}values{_SIGNS})?(?:string|bytes|int|double)Value{_SIGNS}"
"""What OTLP writes before a value: `{"stringValue": "`."""
_ENTRY = lazy(rf"""(?ix)(?P<name>{_NAMES})(?:[\\"',\s]|\\n){{1,64}}value[\\"']{{0,9}}[ \t]{{0,8}}[:=][ \t]{{0,8}}
    (?:{_WRAPPED})?\\{{0,8}}["']?(?P<value>[^\s"'\\,;&<>(){{}}\[\]|\u2026][^\s"'\\]{{3,4095}})""")
"""A value below or behind the name that a list of variables gives it: `name: DB_PASSWORD`, `value: …`."""
_ELEMENT = lazy(rf"(?i)(?P<name>{_NAMES})>\s{{0,64}}(?P<value>[^\s<>]{{4,4096}})\s{{0,64}}</")
"""A value between the tags of XML: `<password>…</password>`."""
_LOGIN = lazy(rf"""(?ix)(?<![a-z])auth\\{{0,8}}["']?{_IS}\\{{0,8}}["']?([A-Za-z0-9+/]{{8,4096}}={{0,2}})""")
"""`user:password` in base64, as npm and docker keep it: `_auth=…`, `"auth": "…"`."""
_LINE_OF_PGPASS = lazy(rb":(?:543[0-9]|6432|6543|\*):[^\s:]{1,128}:")
_PGPASS = lazy(r"""(?xm)(?:^|(?<=\\n)|(?<=["'`]))(?!\#)[\w.*/@-]{1,253}:(?:543[0-9]|6432|6543|\*):(?![0-9]+:)[^\s:]{1,128}:[^\s:]{1,128}
    :((?:\\[:\\]|[^\s:"'`\\]){4,256})(?=[\s"'`]|\\n|\Z)""")
"""A line of `.pgpass`: `host:port:database:user:password`, with a usual port or any."""
_SIGNED = lazy(r"""(?ix)[?&;][\w.%-]{0,32}?sig(?:nature)?=(?=[^\s&]{0,64}[0-9])([\w.~+/%=-]{16,4096})""")
"""What lets whoever has the address read what it leads to, in Azure, AWS and Google Cloud."""
_KEPT = r"""[^\s"',;\\()<>]{0,4096}"""
_COOKIE = lazy(
    rf"""(?i)cookie\\{{0,8}}["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\{{0,8}}["']?([\w.-]{{1,64}}={_KEPT}(?:; ?[\w.-]{{1,64}}{_KEPT})*)"""
)
_BETWEEN = r"(?:[^\n|;&\\]|\\\r?\n?|&(?!&)){0,200}?"
"""What may stand before the option in the same command, also on lines that a backslash continues."""
_WHO = r"""[^:\s"'\\]{1,128}:"""
_PROGRAMS = {
    b"curl": (r"curl", rf"(?:-[A-Za-z]{{0,8}}[uU][ ]{{0,4}}|--(?:proxy-)?user[ =])(?P<quote>[\"'])?{_WHO}"),
    b"mysql": (r"mysql\w{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
    b"mariadb": (r"mariadb[\w-]{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
    b"mongo": (r"mongo[a-z]{0,8}", r"-p[ ]{1,4}(?P<quote>[\"'])?"),
    b"sshpass": (r"sshpass", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
    b"redis-cli": (r"redis-cli", r"-a[ ]{1,4}(?P<quote>[\"'])?"),
    b" login ": (r"(?:docker|podman)[ ]login", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
}
"""For each program a word that is in all its commands, its name, and the option with all that stands before the password.

A port that a container publishes (`-p3306:3306`) is no password of the database that it runs.
"""
_GIVEN = r"""(?(quote)(?P<quoted>[^"'\\\n]{2,256})(?P=quote)|(?!-)(?P<bare>[^\s"'`\\|;&<>(){}\[\]]{2,256}))"""
_COMMANDS = [
    (word, lazy(rf"(?x)(?<![\w-]){program}[ ]{_BETWEEN}(?<=[ ]){option}{_GIVEN}"))
    for word, (program, option) in _PROGRAMS.items()
]
_SHORT_OPTION = lazy(rb" -(?:[A-Za-z]{0,8}[uU]|p|a |-(?:proxy-)?user)")
_CALL = lazy(r"[A-Za-z_.]+(?:64)?")
_CLOSING = ".,:;!?)]}&"
"""What may stand after a value that is written without quotes."""
_BASIC_AUTH = lazy(r"://[^\s/@:\"'\\]{0,256}:([^\s/@\"'\\]{1,256})@")
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
_REST = lazy(r"(?=.*[0-9])(?=.*[A-Za-z]).+|.*[a-z][A-Z].*")
_SURE_REST = lazy(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z]).{8,}")
"""What is a part of a key at the beginning of a line; and behind what is a key without it."""
_LETTERS_AND_DIGITS = lazy(r"(?i)(?=[^0-9]{0,64}[0-9])(?=[^a-z]{0,64}[a-z])")
_LONG_ROW = lazy(rf"(?i){_ROW}")
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


_LAYERS = 3
"""How many times what a text stands for may itself stand for another."""


def detect(text: str, layers: int = _LAYERS) -> list[Found]:
    """The secrets in a text, in order; none overlaps another."""
    data = text.encode(errors="replace")
    found: list[Found] = []
    if has_form(data):
        found += (Found(*key) for key in keys_in(text) if not _FILLED.search(text, *key[1:]))
        found += _broken(text)
        readings = list(decoded(text))
    else:
        readings = []
    if "://" in text and "@" in text:
        found += _basic_auth(text)
    if _might_be_command(data):
        found += _in_commands(text, data)
    if _has_assignment(data):
        names = [match.start() for match in _NAME.finditer(lowered(text))]
        found += (
            *_credentials(text, names),
            *_told(text, names),
            *_flags(text),
            *_netrc(text),
            *_signed(text),
        )
    if _LINE_OF_PGPASS.search(data):
        found += (Found(CREDENTIAL, *match.span(1)) for match in _PGPASS.finditer(text))
    if layers and dressed_parts(data):
        readings.append(undressed(text))
    for reading in readings if layers else ():
        for each in detect(reading.text, layers - 1):
            plain = each.plain or reading.text[each.start : each.end]
            found.append(Found(each.kind, *reading.span(each.start, each.end), plain))
    return list(_joined(found))


def might_hold(data: bytes, layers: int = _LAYERS) -> bool:
    """Whether a text, or JSON in UTF-8, has the looks of holding a secret: false means that `detect` finds none."""
    return (
        has_form(data)
        or (b"@" in data and b"://" in data)
        or _might_be_command(data)
        or _has_assignment(data)
        or _LINE_OF_PGPASS.search(data) is not None
        or (
            layers > 0
            and (parts := dressed_parts(data)) != ""
            and might_hold(undressed(parts).text.encode(errors="replace"), layers - 1)
        )
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
    if _is_password(key):
        return True
    letters = words.replace("-", "").replace("_", "")
    in_one_case = letters.isalpha() and (letters.islower() or words.istitle() or letters.isupper())
    return not (in_one_case and len(value) < _PLAIN_WORD) and not value.replace(".", "").isdigit()


def _is_password(key: str) -> bool:
    return key.lower().endswith(("word", "wort", "wd", "phrase", "code", "_pass"))


_SAID = rb"[\"'*_`]{0,3} (?:is|was|ist|lautet)(?: now)?:?"
_THEN = (
    rb"(?:\*{0,3}[ \t]{0,8}[\\\"'=:>]|[\"'*_`]{0,3}\?|\s{1,64}value"
    rb"|" + _SAID + rb"(?:\\[nrt]|[^a-z0-9]){1,24}[!-~]{16}|([ \t\r\n]))"
)
"""What stands between a name and its value, as `_CREDENTIAL`, `_BELOW`, `_TOLD` and JSON have it; or a blank, in a group."""
_WHOSE_ENDS = rb"(?:api|ess|unt|ion|ter|ate|ret|red|ing)"
_KEY = rb"ey(?:(?<=" + _WHOSE_ENDS + rb"key)|(?<=" + _WHOSE_ENDS + rb"[_ -]key))"
_ASSIGNED = (
    lazy(rb"k(?:(?<=tok)en|(?<=cook)ie|" + _KEY + rb")" + _THEN),
    lazy(
        rb"p(?:ass(?:wor[dt]|wd|phrase|code)(?:"
        + _SAID
        + rb"[ \\\s]|"
        + _THEN
        + rb")|(?<=_p)ass"
        + _THEN
        + rb"|wd"
        + _THEN
        + rb")"
    ),
    lazy(rb"secret" + _THEN),
    lazy(rb"auth(?:orization)?" + _THEN),
)
"""Names in small letters. Looking for a rare letter of several, or for one name, is far faster than looking for all."""
_LONGEST_FLAG = 64
_LOGIN_BEFORE = lazy(rf"login{_GAP}[^\s\\]{{1,128}}{_GAP}p\Z".encode())
_LONGEST_LOGIN = 200
_SIGNATURE = lazy(rb"sig(?:nature)?=")


def _has_assignment(data: bytes) -> bool:
    """Whether a name such as `password` is followed by a sign of assignment, by a quote or `is`, a flag, or in a `.netrc`."""
    lowered = data.lower()
    for names in _ASSIGNED:
        match = names.search(lowered)
        while match:
            at = match.start()
            if (
                match.lastindex is None
                or lowered.rfind(b"--", max(0, at - _LONGEST_FLAG), at) >= 0
                or _LOGIN_BEFORE.search(lowered, max(0, at - _LONGEST_LOGIN), at + 1)
            ):
                return True
            match = names.search(lowered, match.end())
    return b"=" in data and _SIGNATURE.search(lowered) is not None


def _basic_auth(text: str) -> Iterator[Found]:
    for match in _BASIC_AUTH.finditer(text):
        if _is_given(text, *match.span(1)):
            yield Found(BASIC_AUTH, *match.span(1))


def _might_be_command(data: bytes) -> bool:
    """Whether there is such an option, and one of the programs is spoken of: if not, there is no command of it."""
    return _SHORT_OPTION.search(data) is not None and any(word in data for word in _PROGRAMS)


def _in_commands(text: str, data: bytes) -> Iterator[Found]:
    for word, form in _COMMANDS:
        for match in form.finditer(text) if word in data else ():
            group = match.lastgroup or ""
            value = match[group] if group == "quoted" else match[group].rstrip(".,:!?")  # a sentence may end
            start = match.start(group)
            if _is_given(text, start, start + len(value)):
                yield Found(CREDENTIAL, start, start + len(value))


def _is_given(text: str, start: int, end: int) -> bool:
    """Whether a password in an address or a command is one, and nothing that stands in for it: `user:password`, `bob:${PW}`."""
    value = text[start:end]
    is_named = names_secret(value) and _USER.search(text, max(0, start - 12), start)
    return is_value(value) and not is_named and not _STAND_IN.fullmatch(value)


def _at(form: "re.Pattern[str]", text: str, names: Sequence[int]) -> Iterator["re.Match[str]"]:
    """What `finditer` gives, where matches begin at some of these places: far faster than trying all."""
    end = 0
    for name in names:
        if name >= end and (match := form.match(text, name)):
            end = match.end()
            yield match


def _credentials(text: str, names: Sequence[int]) -> Iterator[Found]:
    for match in _at(_CREDENTIAL, text, names):
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


def _told(text: str, names: Sequence[int]) -> Iterator[Found]:
    """What else stands beside a name: without quotes, in an entry or an element, in a sentence or below it, a login, a cookie."""
    for match in _at(_UNQUOTED, text, names):
        value = match["value"].rstrip(_CLOSING)
        if is_telling(match["name"], value) and not _EXPRESSION.fullmatch(match["value"]):
            yield Found(CREDENTIAL, match.start("value"), match.start("value") + len(value))
    for form in (_ENTRY, _ELEMENT):
        for match in _at(form, text, names):
            if is_telling(match["name"], match["value"]):
                yield Found(CREDENTIAL, *match.span("value"))
    for form in (_SPOKEN, _TOLD):
        for match in _at(form, text, names):
            yield Found(CREDENTIAL, match.start(1), match.start(1) + len(match[1].rstrip(".!?")))
    for match in _at(_BELOW, text, names):
        name, value = match["name"], match["value"].rstrip(".!?")
        is_told = _LETTERS_AND_DIGITS if _is_password(name) else _LONG_ROW
        if is_told.match(value) and is_telling(name, value) and not _BELOW_OTHERS.match(value):
            yield Found(CREDENTIAL, match.start("value"), match.start("value") + len(value))
    for match in _at(_LOGIN, text, names):
        if is_login(match[1]):
            yield Found(CREDENTIAL, *match.span(1))
    for match in _at(_COOKIE, text, names):
        if len(match[1]) >= _SHORTEST_COOKIE:
            yield Found(COOKIE, *match.span(1))


def is_login(value: str) -> bool:
    """Whether a text is `user:password` in base64."""
    return b":" in decoded_row(value.encode(errors="replace"))


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


def _signed(text: str) -> Iterator[Found]:
    return (Found(CREDENTIAL, *match.span(1)) for match in _SIGNED.finditer(text))


def _broken(text: str) -> Iterator[Found]:
    """Keys of a known form that go on in the next lines."""
    lines = joined(text)
    for kind, start, end in keys_in(lines.text):
        breaks = sorted({*lines.starts[bisect_right(lines.starts, start) : bisect_left(lines.starts, end)]})
        if not breaks or kind == "private-key":
            continue
        is_whole = any(keys_in(lines.text[start : breaks[0]]))
        rest = _SURE_REST if is_whole else _REST
        for at, until in pairwise((*breaks, end)):
            if not rest.fullmatch(lines.text, at, until):
                end = at  # noqa: PLW2901 - the next line is none of it
                break
        key = lines.text[start:end]
        if end > breaks[0] and any(keys_in(key)) and not _FILLED.search(key):
            yield Found(kind, *lines.span(start, end), key)


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
