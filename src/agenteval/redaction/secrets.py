"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

What is hidden by escapes, invisible characters, base64 or the end of a line is read as what it stands for. Times are
linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from agenteval.redaction.decoding import (
    Reading,
    decode_text,
    decoded,
    decoded_row,
    encoded_parts,
    joined,
)
from agenteval.redaction.keys import FORMS, Check, Form, Found, keys_in, may_contain_key
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import lowered

# Values beside the name of a secret ----------------------------------------------------------------------------

BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`."""
COOKIE = "cookie"
"""The value that a site leaves in a browser, in a header: `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *(form.kind for form in FORMS)}))
"""All kinds of secrets, sorted."""
SHORTEST = 4
_SHORTEST_COOKIE = 16
_PLAIN_WORD = 20
"""From this length on a word of letters in one case is a secret; beside `password` every word is."""

_WHOSE = r"(?:api|access|account|encryption|master|pre-?shared|private|secret|signing)[_ -]?"
_NAMES = rf"(?:pass(?:wor[dt]|wd|phrase|code)|(?-i:_PASS)|pwd|secret|token|authorization|{_WHOSE}key)"
_NAME = lazy(
    rf"pass(?:wor[dt]|wd|phrase|code)|_pass(?!wor|wd|phr|code)|pwd|secret|token|auth(?:orization)?|{_WHOSE}key|cookie"
)
"""The beginning of a name in small letters."""
_SECRET_NAME = lazy(rf"(?i:{_NAMES}|cookie)\Z")
_OPTION = lazy(rf"(?i)-(?!-?no-)[\w-]*{_NAMES}")
_IS = r"[ \t]{0,8}(?:=>|:=|=|:)\*{0,3}[ \t]{0,8}"
_BREAK = r"(?:\\n|\r?\n)"
_ROW = r"(?=[\w.~+/=-]{0,64}?(?=[a-z]{0,15}[0-9])(?=[0-9]{0,15}[a-z])[a-z0-9]{16})"
"""A long row of letters and digits, as no word, date or UUID has."""
_CLOSING = ".,:;!?)]}&"
"""Signs that may follow a value without quotes."""
_SCHEME = lazy(r"(?i)\A(?:bearer|basic|token) (?=\S)")
"""The scheme before the value of an `Authorization`."""
_FOLDER = lazy(r"(?:~|[A-Za-z]:)?[/\\].*")
_NO_VALUE = lazy(
    r"(?s)process\.env\b.*|os\.environ\b.*|\$\{?\w+\}?|\{\{.*|%\w+%|<[^>]*>?|\*+|\.+|[•●]+|[xX]+"
    r"|\[redacted:.*|\[secret [a-z-]+\]"
)
"""Text in the place of a secret: a variable, a blank, or something that was redacted or masked."""
_STAND_IN = lazy(rf"""(?sx)(?i:your)(?:[_-][A-Za-z]+)+ | (?=[A-Z_]+\Z)(?:[A-Z]+_)*(?i:{_NAMES})
  | [\w-]{{0,12}}?(?:x{{4,}}|X{{4,}}|\*{{3,}}|[•●]{{3,}}|\.{{3}}|\u2026)\w{{0,4}}
  | (?:~|\.{{1,2}}|[A-Za-z]:)[/\\].* | ![A-Za-z_]+ | \[[A-Za-z ]+\] | \([A-Za-z ]+\) | (?i:(?:[a-z_]\w*\.)+[a-z_]*{_NAMES})""")
"""Stand-ins for a secret in manuals, settings and programs.

`YOUR_TOKEN`, `your-key-here`, `sk-xxxx`, `~/.ssh/key`, `!vault`, `user.password`.
"""
_NO_SECRET = frozenset(
    {"required", "optional", "string", "null", "none", "true", "false", "unknown", "redacted"}
)


def names_secret(key: str) -> bool:
    """Return whether a key names a secret: `password`, `db_password`, `apiKey`, `client-secret`."""
    return _SECRET_NAME.search(key) is not None


def is_value(text: str, key: str = "") -> bool:
    """Return whether a text beside the name of a secret can be one: an empty text or a variable (`${TOKEN}`) cannot.

    Nor is a folder under `PWD`, where shells keep the current one.
    """
    text = text.strip()
    if key[-3:].lower() == "pwd" and _FOLDER.fullmatch(text):
        return False
    return bool(text) and _NO_VALUE.fullmatch(text) is None


def is_secret(key: str, value: str) -> bool:
    """Return whether a value beside the name of a secret is a secret wherever it stands, and no everyday word."""
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


def is_login(value: str) -> bool:
    """Return whether a text is `user:password` in base64."""
    return b":" in decoded_row(value.encode(errors="replace"))


_TYPED = frozenset(("stringValue", "bytesValue", "intValue", "doubleValue", "arrayValue", "values"))
"""Keys that OTLP wraps around a value: `{"stringValue": "…"}`, `{"arrayValue": {"values": […]}}`."""


def key_of(mapping: Mapping[Any, Any], key: Any, outer: str = "") -> str:
    """Name the value under a key: by the key, or by the name beside it in `{"name": "DB_PASSWORD", "value": "…"}`.

    Only a value that is a secret wherever it stands has such a name: many things have a name and a value. A value that
    OTLP wraps is always named so, and `outer`, which names the mapping, names what is wrapped in it.
    """
    if key == "value":
        name, value = mapping.get("name", mapping.get("key")), mapping[key]
        if isinstance(name, str) and names_secret(name):
            text = spelled(value)
            if _is_typed(value) if text is None else is_secret(name, text):
                return name
    elif outer and key in _TYPED and _is_typed(mapping):
        return outer
    return str(key)


def named_items(items: Iterable[Any], key: str = "") -> Iterator[tuple[str, Any]]:
    """The items of a list, each with what names it: the option before it (`["--password", "…"]`), else `key`."""
    option = ""
    for item in items:
        is_option = isinstance(item, str) and item.startswith("-")
        yield (key if is_option else option or key), item
        option = item if is_option and _OPTION.fullmatch(item) else ""


def _is_typed(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and not _TYPED.isdisjoint(value)


def spelled(value: Any) -> str | None:
    """A text, or a number as it is written; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


# Where values stand in texts -----------------------------------------------------------------------------------


def _any(*_: object) -> bool:
    return True


def _is_secret_here(match: "re.Match[str]", value: str) -> bool:
    return is_secret(match["name"], value)


def _is_secret_unquoted(match: "re.Match[str]", value: str) -> bool:
    """Not the first word of a sentence, a call, or what a program assigns to a variable of that name."""
    name, text, end = match["name"], match.string, match.start("bare") + len(value)
    if not is_secret(name, value) or (
        text[match.end() : match.end() + 1] in ("(", "[") and _CALL.fullmatch(value)
    ):
        return False
    if "=" in (sign := text[match.end("name") : match.start("bare")]):
        return value != name and not (value.startswith("`") and value.count("`") == 1)
    is_word = value.isalpha() and (value.islower() or value.istitle())
    return not (is_word and sign.endswith(": ") and _NEXT_WORD.match(text, end))


def _is_secret_below(match: "re.Match[str]", value: str) -> bool:
    form = _LETTERS_AND_DIGITS if _is_password(match["name"]) else _LONG_ROW
    return bool(form.match(value)) and is_secret(match["name"], value) and not _BELOW_OTHERS.match(value)


_CALL = lazy(r"[A-Za-z_.]+(?:64)?")
_NEXT_WORD = lazy(r"[ ](?:[^\W\d_][\w'\u2019-]{0,64}(?![\w:=@*])|[>\u203a\u2192][ ])")
"""A word, or an arrow to it, that makes a sentence of the word before it; no name of another value."""
_EXPRESSION = lazy(r"[\w.]+[(\[](?:.*(?:,|[()\[\]](?:\.[\w.]*)?))?[;:]?")
"""A call or an index, perhaps up to the first blank or quote in it."""
_LETTERS_AND_DIGITS = lazy(r"(?i)(?=[^0-9]{0,64}[0-9])(?=[^a-z]{0,64}[a-z])")
_LONG_ROW = lazy(rf"(?i){_ROW}")
_BELOW_OTHERS = lazy(r"[-#$({\[]|.*(?:[:,({\[]\Z|://|@[\w.-]+:)")
"""Text below a name that is no value: an item, a name, an address, the prompt of a shell."""
_SPEAKS = r"""["'*_`]{0,3}[ ](?:is|was|ist|lautet)(?:[ ]now)?:?"""
_SIGNS = r"""(?:\\n|[\\"':{\[\s]){1,64}+"""
_WRAPPED = rf"{{{_SIGNS}(?:arrayValue{_SIGNS}values{_SIGNS})?(?:string|bytes|int|double)Value{_SIGNS}"
"""The wrapping of OTLP before a value: `{"stringValue": "`."""
_KEPT = r"""[^\s"',;\\()<>]{0,4096}"""


class _NamedForm(Form):
    """A form in which every match begins at the name of a secret: trying these places alone is far faster."""

    def matches(self, text: str) -> Iterator["re.Match[str]"]:
        end = 0
        for name in _names_in(text):
            if name >= end and (match := self.pattern.match(text, name)):
                end = match.end()
                yield match


@lru_cache(1)  # nine forms in a row ask for the same text
def _names_in(text: str) -> list[int]:
    return [match.start() for match in _NAME.finditer(lowered(text))]


def _assigned(
    source: str, check: Check = _is_secret_here, closing: str = "", *, kind: str = CREDENTIAL
) -> Form:
    return _NamedForm(kind, "", source, check, closing=closing)


_ASSIGNMENTS = (
    _assigned(  # `"name": "value"`; a sentence may end after a value without quotes
        rf"""(?ixm)(?P<name>{_NAMES})\*{{0,3}}\\{{0,8}}(?P<named>["'])?{_IS}(?:
            (?(named)\s{{0,64}})[bu]?"(?P<double>(?:\\.|[^"\\\n]){{1,4096}})
          | (?(named)\s{{0,64}})[bu]?'(?P<single>(?:\\.|''|[^'\\\n]){{1,4096}})
          | (?P<quote>\\{{1,8}}["'])(?P<escaped>[^\n]{{1,4096}}?)(?:(?P=quote)|$)
          | (?:(?:bearer|basic|token)[ ])?(?P<bare>[^\s"'\\,;&<>(){{}}\[\]|]{{4,4096}})
        )""",
        lambda match, value: (_is_secret_unquoted if match["bare"] else _is_secret_here)(match, value),
        ".!?:",
    ),
    _assigned(  # letters and digits up to a blank: brackets, commas and the like are part of it
        rf"""(?ix)(?P<name>{_NAMES})\*{{0,3}}{_IS}(?![$(\[{{])(?=\S{{0,64}}[0-9])(?=\S{{0,64}}[a-z])
            (?P<value>(?:[^\s"'\\,;&<>|]|[,;&](?!amp;|[\w.-]{{1,64}}[=:])){{4,256}}+)(?=["'\\\s]|\Z)""",
        lambda match, value: _is_secret_here(match, value) and not _EXPRESSION.fullmatch(match["value"]),
        _CLOSING,
    ),
    _assigned(  # below or behind the name that a list of variables gives it: `name: DB_PASSWORD`, `value: …`
        rf"""(?ix)(?P<name>{_NAMES})(?:[\\"',\s]|\\n){{1,64}}value[\\"']{{0,9}}[ \t]{{0,8}}[:=][ \t]{{0,8}}
            (?:{_WRAPPED})?\\{{0,8}}["']?(?P<value>[^\s"'\\,;&<>(){{}}\[\]|\u2026][^\s"'\\]{{3,4095}})""",
    ),
    _assigned(rf"(?i)(?P<name>{_NAMES})>\s{{0,64}}(?P<value>[^\s<>]{{4,4096}})\s{{0,64}}</"),  # XML
    _assigned(  # a password in a sentence, with letters and digits as no word has
        rf"""(?ix)pass(?:wor[dt]|wd|phrase|code){_SPEAKS}(?:[ ]|(?<=:)(?:\\n|[\s`]){{1,8}})["'*_`\u201c]{{0,3}}
            (?!\$|base64|sha|md5|utf|argon|pbkdf)(?=[^\s0-9]{{0,64}}[0-9])(?=[^\sa-z]{{0,64}}[a-z])
            (?P<value>(?:[^\s"'*`\u201d,;:|&<>(){{}}\[\]$]|[,;:&(){{}}\[\]$](?=[^\w\s]?\w)){{4,256}})""",
        _any,
        ".!?",
    ),
    _assigned(  # any other secret in a sentence
        rf"""(?ix){_NAMES}{_SPEAKS}(?:\\n|[\s"'*_`\\\u201c]){{1,8}}{_ROW}(?P<value>[\w.~+/=-]{{16,4096}})""",
        _any,
        ".!?",
    ),
    _assigned(  # on a line of its own below a name: after a colon, as a block of YAML, or as the answer to a question
        rf"""(?ix)(?P<name>{_NAMES})["'*_`]{{0,3}}[:?]["'*_`]{{0,3}}[ \t]{{0,8}}(?:[|>][-+0-9]{{0,2}}[ \t]{{0,8}})?
            (?:{_BREAK}[ \t>"'`*_]{{0,16}}){{1,4}}(?P<value>[^\s"'`*\\<>|]{{4,256}})(?=["'`*_.]{{0,3}}[ \t]{{0,8}}(?:{_BREAK}|["'\\]|\Z))""",
        _is_secret_below,
        ".!?",
    ),
    _assigned(  # `user:password` in base64, as npm and docker keep it: `_auth=…`, `"auth": "…"`
        rf"""(?ix)(?<![a-z])auth\\{{0,8}}["']?{_IS}\\{{0,8}}["']?(?P<value>[A-Za-z0-9+/]{{8,4096}}={{0,2}})""",
        lambda _, value: is_login(value),
    ),
    _assigned(
        rf"""(?i)cookie\\{{0,8}}["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\{{0,8}}["']?(?P<value>[\w.-]{{1,64}}={_KEPT}(?:; ?[\w.-]{{1,64}}{_KEPT})*)""",
        lambda _, value: len(value) >= _SHORTEST_COOKIE,
        kind=COOKIE,
    ),
)

_THEN = (
    rb"(?:\*{0,3}[ \t]{0,8}[\\\"'=:>]|[\"'*_`]{0,3}\?|[^a-z0-9]{1,64}value"
    rb"|[\"'*_`]{0,3} (?:is|was|ist|lautet)(?: now)?:?(?:\\[nrt]|[^a-z0-9]){1,24}[!-~]{16})"
)
"""The signs between a name and its value in these forms, and in JSON."""
_WHOSE_ENDS = rb"(?:api|ess|unt|ion|ter|ate|ret|red|ing)"
_KEY_NAME = rb"ey(?:(?<=" + _WHOSE_ENDS + rb"key)|(?<=" + _WHOSE_ENDS + rb"[_ -]key))"
_SENTENCE = rb"[\"'*_`]{0,3} (?:is|was|ist|lautet)(?: now)?:?[ \\\s]"
_ASSIGNED = (
    lazy(rb"k(?:(?<=tok)en|(?<=cook)ie|" + _KEY_NAME + rb")" + _THEN),
    lazy(
        rb"p(?:ass(?:wor[dt]|wd|phrase|code)(?:" + _SENTENCE + rb"|" + _THEN + rb")"
        rb"|(?:(?<=_p)ass|wd)" + _THEN + rb")"
    ),
    lazy(rb"secret" + _THEN),
    lazy(rb"auth(?:orization)?" + _THEN),
)
"""Names in small letters. Looking for a rare letter of several, or for one name, is far faster than looking for all."""

# Manuals write words behind an option, so a word is no secret there.
_OPTIONS = (
    Form(
        CREDENTIAL,
        "--",
        rf"""(?ix)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES}[ ]{{1,8}}(?:"(?P<double>[^\s"\\]{{4,4096}})"|'(?P<single>[^\s'\\]{{4,4096}})'
          | ["']?(?!\w{{1,32}}=\w)(?P<bare>[^\s"'\\,;&<>(){{}}\[\]|-][^\s"'\\,;&<>(){{}}\[\]|]{{3,4095}}))""",
        lambda _, value: is_secret("token", value),
    ),
    Form(  # in a list as JSON and Python write it, or YAML
        CREDENTIAL,
        "--",
        rf"""(?ix)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES}(?:
            \\{{0,8}}["'],(?:\\n|\s){{0,64}}\\{{0,8}}["'](?P<quoted>[^\s"'\\-][^"'\\\n]{{3,4095}})
          | ["']?(?:\\n|\n)[ \t]{{0,64}}-[ ]["']?(?P<item>[^\s"'\\-][^\s"'\\]{{3,4095}}) )""",
        lambda _, value: is_secret("token", value),
    ),
)
_NAMED_OPTION = lazy(
    rb"--(?<![\w-]--)[\w\x80-\xff-]{0,128}?"
    rb"(?:pass(?:wor[dt]|wd|phrase|code)|_pass|pwd|secret|token|authorization|key)[\"'\\\s]"
)
"""It begins with a sign, which is found fast, and looks back from there."""


# Passwords in addresses, commands and files --------------------------------------------------------------------

_USER = lazy(r"(?i)(?<![a-z])user(?:_?name)?:\Z")
"""The names of users that have a password in a manual."""


def _is_given(match: "re.Match[str]", value: str) -> bool:
    """Return whether a password in an address or a command is one, and no stand-in: `user:password`, `bob:${PW}`."""
    start = match.start(match.lastgroup or 0)
    is_named = names_secret(value) and _USER.search(match.string, max(0, start - 12), start)
    return is_value(value) and not is_named and not _STAND_IN.fullmatch(value)


_ADDRESS = Form(BASIC_AUTH, "://", r"://[^\s/@:\"'\\]{0,256}:(?P<value>[^\s/@\"'\\]{1,256})@", _is_given)
_SIGNATURE = Form(  # lets whoever has the address read what it leads to, in Azure, AWS and Google Cloud
    CREDENTIAL,
    "=",
    r"(?ix)[?&;][\w.%-]{0,32}?sig(?:nature)?=(?=[^\s&]{0,64}[0-9])(?P<value>[\w.~+/%=-]{16,4096})",
)
_BETWEEN = r"(?:[^\n|;&\\]|\\\r?\n?|&(?!&)){0,200}?"
"""The words before the option in the same command, also on lines that a backslash continues."""
_USER_NAME = r"""[^:\s"'\\]{1,128}:"""
_GIVEN = r"""(?(quote)(?P<quoted>[^"'\\\n]{2,256})(?P=quote)|(?!-)(?P<bare>[^\s"'`\\|;&<>(){}\[\]]{2,256}))"""
_COMMANDS = tuple(
    Form(
        CREDENTIAL,
        word,
        rf"(?x)(?<![\w-]){program}[ ]{_BETWEEN}(?<=[ ]){option}{_GIVEN}",
        _is_given,
        closing=".,:!?",
    )
    # For each program a word that is in all its commands, its name, and the option with all that stands before the
    # password. A port that a container publishes (`-p3306:3306`) is no password of the database that it runs.
    for word, program, option in (
        (
            "curl",
            r"curl",
            rf"(?:-[A-Za-z]{{0,8}}[uU][ ]{{0,4}}|--(?:proxy-)?user[ =])(?P<quote>[\"'])?{_USER_NAME}",
        ),
        ("mysql", r"mysql\w{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
        ("mariadb", r"mariadb[\w-]{0,16}", r"-p(?![0-9.]+:[0-9])(?P<quote>[\"'])?"),
        ("mongo", r"mongo[a-z]{0,8}", r"-p[ ]{1,4}(?P<quote>[\"'])?"),
        ("sshpass", r"sshpass", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
        ("redis-cli", r"redis-cli", r"-a[ ]{1,4}(?P<quote>[\"'])?"),
        (" login ", r"(?:docker|podman)[ ]login", r"-p[ ]{0,4}(?P<quote>[\"'])?"),
    )
)
_SHORT_OPTION = lazy(rb" -(?:[a-z]{0,8}u|p|a |-(?:proxy-)?user)")

_GAP = r"(?:\\[nrt]|\s){1,16}"
_NETRC = Form(  # `machine ftp.example login bob password …`, on one line or several
    CREDENTIAL,
    "",
    rf"""(?i)\b(?:machine{_GAP}[^\s\\]{{1,256}}|default){_GAP}login{_GAP}[^\s\\]{{1,128}}{_GAP}(?:account{_GAP}[^\s\\]{{1,128}}{_GAP})?password{_GAP}(?P<value>[^\s"'\\]{{4,256}})""",
    lambda _, value: is_secret("password", value),
)
_PGPASS = Form(  # `host:port:database:user:password`, with a usual port or any
    CREDENTIAL,
    ":",
    r"""(?xm)(?:^|(?<=\\[nt])|(?<=["'`\s]))(?!\#)[\w.*/@-]{1,253}:(?:543[0-9]|6432|6543|\*):(?![0-9]+:)[^\s:]{1,128}:[^\s:]{1,128}
        :(?P<value>(?:\\[:\\]|[^\s:"'`\\]){4,256})(?=[\s"'`]|\\n|\Z)""",
    lambda _, value: is_secret("password", value),
)


class Group(NamedTuple):
    """Forms with one quick look. A text may hold them if it has one of each tuple of looks, in small letters."""

    looks: tuple[tuple["bytes | re.Pattern[bytes]", ...], ...]
    forms: tuple[Form, ...]

    def may_match(self, small: bytes) -> bool:
        """Return whether a text in small letters, or JSON, may hold one of the forms."""
        for looks in self.looks:  # without generators, which take three times as long
            for look in looks:
                if look in small if isinstance(look, bytes) else look.search(small):
                    break
            else:
                return False
        return True


GROUPS = (
    Group((_ASSIGNED,), _ASSIGNMENTS),
    Group(((_NAMED_OPTION,),), _OPTIONS),
    Group(((b"://",), (b"@",)), (_ADDRESS,)),
    Group(((lazy(rb"sig(?:nature)?="),),), (_SIGNATURE,)),
    Group(((_SHORT_OPTION,), tuple(word.encode() for form in _COMMANDS for word in form.words)), _COMMANDS),
    # Looking for the word first takes a tenth of the time.
    Group(
        (
            (b"password",),
            (lazy(rb"(?:login|account)(?:\\[nrt]|\s){1,16}[^\s\\]{1,128}(?:\\[nrt]|\s){1,16}password"),),
        ),
        (_NETRC,),
    ),
    Group(((lazy(rb":(?:543[0-9]|6432|6543|\*):[^\s:]{1,128}:"),),), (_PGPASS,)),
)
"""All ways to write a secret beside what names it."""


def _values_in(text: str, data: bytes) -> Iterator[Found]:
    small = data.lower()
    for group in GROUPS:
        if group.may_match(small):
            for form in group.forms:
                yield from form.find(text)


# Everything ----------------------------------------------------------------------------------------------------

_LAYERS = 3
"""The most readings within each other: a text in base64 may hold another one, and so on."""
_FILLED = lazy(r"x{8}|X{8}|\*{8}")
"""A row that only an example of a key has: `ghp_xxxxxxxx`."""
_REST = lazy(r"(?=.*[0-9])(?=.*[A-Za-z]).+|.*[a-z][A-Z].*")
_SURE_REST = lazy(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z]).{8,}")
"""The rest of a key on the next line; and the rest of a key that is complete without it."""


@lru_cache(16)  # learned from, judged, masked in evidence: the same text comes by several times
def detect(text: str, layers: int = _LAYERS) -> tuple[Found, ...]:
    """The secrets in a text, in order; none overlaps another."""
    data = text.encode(errors="replace")
    found: list[Found] = []
    readings: list[Reading] = []
    if may_contain_key(data):
        found += (key for key in keys_in(text) if not _FILLED.search(text, key.start, key.end))
        found += _broken(text)
        readings += decoded(text)
    found += _values_in(text, data)
    if layers and encoded_parts(data):
        readings.append(decode_text(text))
    for reading in readings if layers else ():
        for each in detect(reading.text, layers - 1):
            plain = each.plain or reading.text[each.start : each.end]
            found.append(Found(each.kind, *reading.span(each.start, each.end), plain))
    return tuple(_joined(found))


def may_contain(data: bytes, layers: int = _LAYERS) -> bool:
    """Return whether a text, or JSON in UTF-8, may hold a secret. If not, `detect` finds none."""
    small = data.lower()
    return (
        may_contain_key(data)
        or any(group.may_match(small) for group in GROUPS)
        or (
            layers > 0
            and (parts := encoded_parts(data)) != ""
            and may_contain(decode_text(parts).text.encode(errors="replace"), layers - 1)
        )
    )


def _broken(text: str) -> Iterator[Found]:
    """Keys of a known form that go on in the next lines."""
    lines = joined(text)
    # Joined to the word before it, every key has a mark.
    for kind, start, end, _ in keys_in(lines.text, of_any_service=False):
        breaks = sorted({*lines.starts[bisect_right(lines.starts, start) : bisect_left(lines.starts, end)]})
        if not breaks or kind == "private-key":
            continue
        rest = _SURE_REST if any(keys_in(lines.text[start : breaks[0]])) else _REST
        for at, until in pairwise((*breaks, end)):
            if not rest.fullmatch(lines.text, at, until):
                end = at  # noqa: PLW2901 - the next line is none of it
                break
        key = lines.text[start:end]
        if end > breaks[0] and any(keys_in(key)) and not _FILLED.search(key):
            yield Found(kind, *lines.span(start, end), key)


_LEAST = frozenset((CREDENTIAL, BASIC_AUTH, "service-key"))
"""Kinds that say least: of what is found as one of them and as another, the other one is shown."""


def _joined(found: Iterable[Found]) -> list[Found]:
    """In order, with overlaps joined into the outermost; of equal ones, that with the more specific form."""
    made: list[Found] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end, one.kind in _LEAST)):
        if made and each.start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, each.end))
        else:
            made.append(each)
    return made
