"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

What is hidden by escapes, invisible characters, base64 or the end of a line is read as what it stands for. Times are
linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from agenteval.redaction.decoding import (
    Reading,
    decoded,
    decoded_row,
    dressed_parts,
    encodes_text,
    joined,
    undressed,
)
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import lowered


class Found(NamedTuple):
    """Something of some kind, from `start` up to `end` in the text; `plain` is what it means, where it is written otherwise."""

    kind: str
    start: int
    end: int
    plain: str = ""


# Keys of a known form ------------------------------------------------------------------------------------------

Key = tuple[str, int, int]
"""A key of some kind, from a place up to another in the text."""

_PREFIXES = tuple(
    """
    AGE-SECRET-KEY- ATATT3 GOCSPX- PMAK- dapi dckr_pat_ dop_v1_ figd_ glsa_ gsk_ hf_ lin_api_ lsv2_pt_
    lsv2_sk_ nfp_ ntn_ pplx- r8_ rk_test_ sbp_ shpat_ shpca_ shppa_ shpss_ sk-lf- sk-or-v1- sk_test_
    tvly- whsec_ xai- xapp-
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
"""How the keys of many services begin; a key begins a word."""
_COMMON_PREFIX = "sk-"
"""How the keys of several services begin; it begins other things, too, so that a longer row has to follow."""
_KEY = "[A-Za-z0-9_-]"
_FORMS = {
    "anthropic-key": rf"sk-ant-{_KEY}{{16,}}",
    "aws-access-key": rf"A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)[0-9A-Z]{{16}}{_KEY}*",
    "azure-storage-key": r"AccountKey=[A-Za-z0-9+/=]{88}",
    "bearer-token": r"(?<=earer )(?=[A-Za-z._~+/-]{0,40}(?:[0-9]|(?<=[a-z])[A-Z]))[A-Za-z0-9._~+/-]{19,}[A-Za-z0-9_-]=*",
    "discord-token": rf"[MNO]{_KEY}{{23,25}}\.{_KEY}{{6}}\.{_KEY}{{27,}}|(?<=/webhooks/)[0-9]{{15,20}}/{_KEY}{{60,}}",
    "github-token": rf"gh[oprsu]_[A-Za-z0-9_]{{36}}{_KEY}*|github_pat_[A-Za-z0-9_]{{20,}}",
    "gitlab-token": rf"(?:gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-|GR1348941){_KEY}{{20,}}",
    "google-key": rf"AIza{_KEY}{{35,}}",
    "jwt": r"eyJ[A-Za-z0-9_=-]{13,}+(\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_=+/-]+)*)?",  # of one part it is none
    "mailchimp-key": rf"[0-9a-z]{{32}}-us[0-9]{{1,2}}{_KEY}*",
    "npm-token": r"npm_[A-Za-z0-9]{30,}|(?<=_authToken=)[^\s\"'\\]{16,}",
    "password-hash": r"\$(?:apr1|argon2id?|argon2d|2[abxy]?|[1567y]|gy|scrypt|pbkdf2[a-z0-9-]*)\$[A-Za-z0-9./$=+,_-]{19,}[A-Za-z0-9/]"
    r"|\{S{1,2}HA\}[A-Za-z0-9+/]{20,}={0,2}",
    "openai-key": rf"sk-(?:(?:proj|svcacct|admin)-{_KEY}{{20,}}|{_KEY}{{20,160}}?T3BlbkFJ{_KEY}{{20,}})",
    "private-key": r"(?s)-{0,5}(?:BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|PuTTY-User-Key-File-[0-9])(?=.{0,160}[A-Za-z0-9+/]{20})"
    r"(?:.*?-----END [A-Z0-9 ]{1,40}-----|.*)",  # without a last line, to the end of the text
    "pypi-token": rf"pypi-AgE{_KEY}{{80,}}",
    "sendgrid-key": rf"SG\.{_KEY}{{22}}\.{_KEY}{{43,}}",
    "service-key": rf"""(?x)
        (?: (?<![A-Za-z0-9_-]) | (?<=\\[nrt]) )  # or after an escape
        (?: (?:{"|".join(_PREFIXES)})
            (?=[A-Za-z_-]{{0,40}}[0-9])  # a name of words has none
            (?:[a-z]{{3,4}}-|[0-9A-Z-]{{1,32}}-)?  # of what kind the key is
            (?:[A-Za-z0-9]{{20,}}|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})
          | {_COMMON_PREFIX}(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{32,}}
        )
        [A-Za-z0-9_=-]*
      | (?:ya29|hvs)\.{_KEY}{{20,}}""",
    "slack-token": rf"(?i)xox[a-z]-(?:[0-9]+-)+{_KEY}+|https://hooks\.slack\.com/services/T\w+/B\w+/{_KEY}+",
    "square-secret": rf"sq0csp-[A-Za-z0-9_\\-]{{43}}{_KEY}*",
    "stripe-key": rf"[rs]k_live_[A-Za-z0-9]{{24}}{_KEY}*",
    "telegram-token": rf"[0-9]{{8,10}}:{_KEY}{{35,}}",
    "twilio-key": rf"(?:AC|SK)[a-z0-9]{{32}}{_KEY}*",
}
FORMS = {kind: lazy(form) for kind, form in _FORMS.items()}
"""The kinds that are told apart, each with its form. A match without the group that its form has is none."""


def keys_in(text: str) -> Iterator[Key]:
    """All keys of known forms; they may overlap."""
    for kind, form in FORMS.items():
        for match in form.finditer(text):
            if match.lastindex or not match.re.groups:
                yield kind, *match.span()


_LONG_WORD = b"a" * 20
_WORD_SIGNS = bytes(
    ord("a") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-\\\n") else ord(" ")
    for code in range(256)
)
"""Maps every character that keys are made of to `a`, and ends of lines, which may break one; all others to a blank."""
_DIGIT = lazy(rb"[0-9]")
_ENDS = lazy(rb"\\+[nrt]?|\n")
_SIGN = lazy(
    rb"A3T|A[KSB]IA|ACCA|AIza|gh[pousr]_|github_pat_|gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent)-|gloas-|GR1348941"
    rb"|eyJ|T3BlbkFJ|sk-(?:ant|proj|svcacct|admin)-|pypi-AgE|npm_|_authToken=|SG\.|xox[a-z]-|sq0csp-"
    rb"|sk_live_|rk_live_|AccountKey=|-us[0-9]|:(?<=[0-9]{8}:)[\w-]{35}|\.(?<=[\w-]{24}\.)[\w-]{6}\.[\w-]{27}"
    rb"|AC[a-z0-9]{32}|SK[a-z0-9]{32}|earer |ya29\.|hvs\.|webhooks/[0-9]{15}|\{S{1,2}HA\}"
)
"""What a word that could be a key begins with, or has beside it.

Each alternative begins with a plain character, and is tried only where that stands: this takes a quarter of the time.
"""
_HEADED = tuple(prefix.encode() for prefix in (*_PREFIXES, _COMMON_PREFIX))
_HEADS = frozenset(prefix[:2] for prefix in _HEADED)
_BEFORE, _AFTER = 36, 36
_LINE_BEFORE = lazy(rb"PRIVATE KEY|PuTTY-User|hooks\.slack")
_FAR_BEFORE = 128
_IN_ROW = (b"+", b"/")
_ROW_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_HASH = lazy(rb"\$(?:apr1|argon2|2|[1567y]|gy|scrypt|pbkdf2)[\w-]*\$[A-Za-z0-9./=]")


def has_form(data: bytes) -> bool:
    """Whether a text, or JSON, has a long word that could be a key, broken over lines or not, or that encodes a text."""
    if b"$" in data and _HASH.search(data):
        return True
    words = data.translate(_WORD_SIGNS) + b" "
    start = words.find(_LONG_WORD)
    while start >= 0:
        end = words.find(b" ", start)
        word = data[start:end]
        if word[:2] in _HEADS and word.startswith(_HEADED):
            return True
        if (b"\n" in word or b"\\" in word) and _DIGIT.search(word) and _is_broken(word):
            return True
        before = max(0, start - _BEFORE)
        if (
            not word.islower()
            or word.find(b"-us") >= 0  # half the time of `in`
            or word.find(b"xox") >= 0
            or data.find(b"earer ", before, start) >= 0
        ):
            if _SIGN.search(data, before, end + _AFTER) or encodes_text(data, start):
                return True
            if data[start - 1 : start] in _IN_ROW and encodes_text(data, _row_of(data, start)):
                return True
            if _LINE_BEFORE.search(data, max(0, start - _FAR_BEFORE), end):
                return True
        start = words.find(_LONG_WORD, end)
    return False


def _row_of(data: bytes, start: int) -> int:
    """Where the row of base64 begins that a word is a part of: such rows have signs that no word has."""
    before = data[max(0, start - _FAR_BEFORE) : start]
    return start - len(before) + len(before.rstrip(_ROW_SIGNS))


def _is_broken(word: bytes) -> bool:
    """Whether ends of lines in a word stand before a key, or in one."""
    parts = _ENDS.split(word)
    return _SIGN.search(b"".join(parts)) is not None or any(
        part.startswith(_HEADED) or encodes_text(part) for part in parts
    )


# Values beside the name of a secret ----------------------------------------------------------------------------

BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`."""
COOKIE = "cookie"
"""What a browser has kept of a site: in a header, `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *FORMS}))
"""All kinds that are told apart."""
SHORTEST = 4
_SHORTEST_COOKIE = 16
_PLAIN_WORD = 20
"""From this length on a word of letters in one case is a secret; beside `password` every word is."""

_WHOSE = r"(?:api|access|account|encryption|master|pre-?shared|private|secret|signing)[_ -]?"
_NAMES = rf"(?:pass(?:wor[dt]|wd|phrase|code)|(?-i:_PASS)|pwd|secret|token|authorization|{_WHOSE}key)"
_NAME = lazy(
    rf"pass(?:wor[dt]|wd|phrase|code)|_pass(?!wor|wd|phr|code)|pwd|secret|token|auth(?:orization)?|{_WHOSE}key|cookie"
)
"""Where a name begins, in small letters."""
_SECRET_NAME = lazy(rf"(?i:{_NAMES}|cookie)\Z")
_OPTION = lazy(rf"(?i)-(?!-?no-)[\w-]*{_NAMES}")
_IS = r"[ \t]{0,8}(?:=>|:=|=|:)\*{0,3}[ \t]{0,8}"
_BREAK = r"(?:\\n|\r?\n)"
_ROW = r"(?=[\w.~+/=-]{0,64}?(?=[a-z]{0,15}[0-9])(?=[0-9]{0,15}[a-z])[a-z0-9]{16})"
"""A long row of letters and digits, as no word, date or UUID has."""
_CLOSING = ".,:;!?)]}&"
"""What may stand after a value that is written without quotes."""
_SCHEME = lazy(r"(?i)\A(?:bearer|basic|token) (?=\S)")
"""What stands before the value of an `Authorization`."""
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
_NO_SECRET = frozenset(
    {"required", "optional", "string", "null", "none", "true", "false", "unknown", "redacted"}
)


def names_secret(key: str) -> bool:
    """Whether a key says that its value is a secret: `password`, `db_password`, `apiKey`, `client-secret`."""
    return _SECRET_NAME.search(key) is not None


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


def is_login(value: str) -> bool:
    """Whether a text is `user:password` in base64."""
    return b":" in decoded_row(value.encode(errors="replace"))


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

Accepts = Callable[["re.Match[str]", str], bool]
"""Whether a match is a secret; the value is what its last group holds, without what ends a sentence."""


class _Rule(NamedTuple):
    """One way to write a secret: where it stands, what may follow it, and when it is one."""

    form: "re.Pattern[str]"
    accepts: Accepts
    closing: str = ""
    at_name: bool = True
    """Whether a match begins at the name of a secret: trying these places alone is far faster."""
    kind: str = CREDENTIAL


def _tells(match: "re.Match[str]", value: str) -> bool:
    return is_telling(match["name"], value)


def _tells_without_quotes(match: "re.Match[str]", value: str) -> bool:
    """Not the first word of a sentence, a call, or what a program assigns to a variable of that name."""
    name, text, end = match["name"], match.string, match.start("bare") + len(value)
    if not is_telling(name, value) or (
        text[match.end() : match.end() + 1] in ("(", "[") and _CALL.fullmatch(value)
    ):
        return False
    if "=" in (sign := text[match.end("name") : match.start("bare")]):
        return value != name and not (value.startswith("`") and value.count("`") == 1)
    is_word = value.isalpha() and (value.islower() or value.istitle())
    return not (is_word and sign.endswith(": ") and _NEXT_WORD.match(text, end))


def _tells_below(match: "re.Match[str]", value: str) -> bool:
    form = _LETTERS_AND_DIGITS if _is_password(match["name"]) else _LONG_ROW
    return bool(form.match(value)) and is_telling(match["name"], value) and not _BELOW_OTHERS.match(value)


_CALL = lazy(r"[A-Za-z_.]+(?:64)?")
_NEXT_WORD = lazy(r"[ ](?:[^\W\d_][\w'\u2019-]{0,64}(?![\w:=@*])|[>\u203a\u2192][ ])")
"""A word, or an arrow to it, that makes a sentence of the word before it; no name of another value."""
_EXPRESSION = lazy(r"[\w.]+[(\[](?:.*(?:,|[()\[\]](?:\.[\w.]*)?))?[;:]?")
"""A call or an index, perhaps up to the first blank or quote in it."""
_LETTERS_AND_DIGITS = lazy(r"(?i)(?=[^0-9]{0,64}[0-9])(?=[^a-z]{0,64}[a-z])")
_LONG_ROW = lazy(rf"(?i){_ROW}")
_BELOW_OTHERS = lazy(r"[-#$({\[]|.*(?:[:,({\[]\Z|://|@[\w.-]+:)")
"""What stands below a name and is no value: an item, a name, an address, the prompt of a shell."""
_SPEAKS = r"""["'*_`]{0,3}[ ](?:is|was|ist|lautet)(?:[ ]now)?:?"""
_SIGNS = r"""(?:\\n|[\\"':{\[\s]){1,64}+"""
_WRAPPED = rf"{{{_SIGNS}(?:arrayValue{_SIGNS}values{_SIGNS})?(?:string|bytes|int|double)Value{_SIGNS}"
"""What OTLP writes before a value: `{"stringValue": "`."""
_KEPT = r"""[^\s"',;\\()<>]{0,4096}"""

_QUOTED = _Rule(  # `"name": "value"`
    lazy(rf"""(?ixm)(?P<name>{_NAMES})\*{{0,3}}\\{{0,8}}(?P<named>["'])?{_IS}(?:
        (?(named)\s{{0,64}})[bu]?"(?P<double>(?:\\.|[^"\\\n]){{1,4096}})
      | (?(named)\s{{0,64}})[bu]?'(?P<single>(?:\\.|''|[^'\\\n]){{1,4096}})
      | (?P<quote>\\{{1,8}}["'])(?P<escaped>[^\n]{{1,4096}}?)(?:(?P=quote)|$)
      | (?:(?:bearer|basic|token)[ ])?(?P<bare>[^\s"'\\,;&<>(){{}}\[\]|]{{4,4096}})
    )"""),
    lambda match, value: (_tells_without_quotes if match["bare"] else _tells)(match, value),
)
_RULES = (
    _QUOTED,
    _Rule(  # letters and digits up to a blank: brackets, commas and the like are part of it
        lazy(rf"""(?ix)(?P<name>{_NAMES})\*{{0,3}}{_IS}(?![$(\[{{])(?=\S{{0,64}}[0-9])(?=\S{{0,64}}[a-z])
            (?P<value>(?:[^\s"'\\,;&<>|]|[,;&](?!amp;|[\w.-]{{1,64}}[=:])){{4,256}}+)(?=["'\\\s]|\Z)"""),
        lambda match, value: _tells(match, value) and not _EXPRESSION.fullmatch(match["value"]),
        closing=_CLOSING,
    ),
    _Rule(  # below or behind the name that a list of variables gives it: `name: DB_PASSWORD`, `value: …`
        lazy(rf"""(?ix)(?P<name>{_NAMES})(?:[\\"',\s]|\\n){{1,64}}value[\\"']{{0,9}}[ \t]{{0,8}}[:=][ \t]{{0,8}}
            (?:{_WRAPPED})?\\{{0,8}}["']?(?P<value>[^\s"'\\,;&<>(){{}}\[\]|\u2026][^\s"'\\]{{3,4095}})"""),
        _tells,
    ),
    _Rule(lazy(rf"(?i)(?P<name>{_NAMES})>\s{{0,64}}(?P<value>[^\s<>]{{4,4096}})\s{{0,64}}</"), _tells),  # XML
    _Rule(  # a password in a sentence, with letters and digits as no word has
        lazy(rf"""(?ix)pass(?:wor[dt]|wd|phrase|code){_SPEAKS}(?:[ ]|(?<=:)(?:\\n|[\s`]){{1,8}})["'*_`\u201c]{{0,3}}
            (?!\$|base64|sha|md5|utf|argon|pbkdf)(?=[^\s0-9]{{0,64}}[0-9])(?=[^\sa-z]{{0,64}}[a-z])
            ((?:[^\s"'*`\u201d,;:|&<>(){{}}\[\]$]|[,;:&(){{}}\[\]$](?=[^\w\s]?\w)){{4,256}})"""),
        lambda *_: True,
        closing=".!?",
    ),
    _Rule(  # any other secret in a sentence
        lazy(rf"""(?ix){_NAMES}{_SPEAKS}(?:\\n|[\s"'*_`\\\u201c]){{1,8}}{_ROW}([\w.~+/=-]{{16,4096}})"""),
        lambda *_: True,
        closing=".!?",
    ),
    _Rule(  # on a line of its own below a name: after a colon, as a block of YAML, or as the answer to a question
        lazy(rf"""(?ix)(?P<name>{_NAMES})["'*_`]{{0,3}}[:?]["'*_`]{{0,3}}[ \t]{{0,8}}(?:[|>][-+0-9]{{0,2}}[ \t]{{0,8}})?
            (?:{_BREAK}[ \t>"'`*_]{{0,16}}){{1,4}}(?P<value>[^\s"'`*\\<>|]{{4,256}})(?=["'`*_.]{{0,3}}[ \t]{{0,8}}(?:{_BREAK}|["'\\]|\Z))"""),
        _tells_below,
        closing=".!?",
    ),
    _Rule(  # `user:password` in base64, as npm and docker keep it: `_auth=…`, `"auth": "…"`
        lazy(rf"""(?ix)(?<![a-z])auth\\{{0,8}}["']?{_IS}\\{{0,8}}["']?([A-Za-z0-9+/]{{8,4096}}={{0,2}})"""),
        lambda _, value: is_login(value),
    ),
    _Rule(
        lazy(
            rf"""(?i)cookie\\{{0,8}}["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\{{0,8}}["']?([\w.-]{{1,64}}={_KEPT}(?:; ?[\w.-]{{1,64}}{_KEPT})*)"""
        ),
        lambda _, value: len(value) >= _SHORTEST_COOKIE,
        kind=COOKIE,
    ),
    _Rule(  # behind an option: words are what manuals write there
        lazy(
            rf"""(?i)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES} {{1,8}}(?:"([^\s"\\]{{4,4096}})"|'([^\s'\\]{{4,4096}})'|["']?(?!\w{{1,32}}=\w)([^\s"'\\,;&<>(){{}}\[\]|-][^\s"'\\,;&<>(){{}}\[\]|]{{3,4095}}))"""
        ),
        lambda _, value: is_telling("token", value),
        at_name=False,
    ),
    _Rule(  # after an option, in a list as JSON and Python write it, or YAML
        lazy(rf"""(?ix)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES}(?:
            \\{{0,8}}["'],(?:\\n|\s){{0,64}}\\{{0,8}}["'](?P<quoted>[^\s"'\\-][^"'\\\n]{{3,4095}})
          | ["']?(?:\\n|\n)[ \t]{{0,64}}-[ ]["']?(?P<item>[^\s"'\\-][^\s"'\\]{{3,4095}}) )"""),
        lambda _, value: is_telling("token", value),
        at_name=False,
    ),
    _Rule(  # lets whoever has the address read what it leads to, in Azure, AWS and Google Cloud
        lazy(r"""(?ix)[?&;][\w.%-]{0,32}?sig(?:nature)?=(?=[^\s&]{0,64}[0-9])([\w.~+/%=-]{16,4096})"""),
        lambda *_: True,
        at_name=False,
    ),
)


def _by_rules(text: str) -> Iterator[Found]:
    names = [match.start() for match in _NAME.finditer(lowered(text))]
    for form, accepts, closing, at_name, kind in _RULES:
        if form is _QUOTED.form:
            closing = ".!?:"  # noqa: PLW2901 - a sentence may end after it
        for match in _at(form, text, names) if at_name else form.finditer(text):
            group = match.lastgroup or match.lastindex or 0
            value = match[group] if group in ("double", "single", "escaped") else match[group].rstrip(closing)
            if accepts(match, value):
                yield Found(kind, match.start(group), match.start(group) + len(value))


def _at(form: "re.Pattern[str]", text: str, names: Sequence[int]) -> Iterator["re.Match[str]"]:
    """What `finditer` gives, where matches begin at some of these places: far faster than trying all."""
    end = 0
    for name in names:
        if name >= end and (match := form.match(text, name)):
            end = match.end()
            yield match


_THEN = (
    rb"(?:\*{0,3}[ \t]{0,8}[\\\"'=:>]|[\"'*_`]{0,3}\?|\s{1,64}value"
    rb"|[\"'*_`]{0,3} (?:is|was|ist|lautet)(?: now)?:?(?:\\[nrt]|[^a-z0-9]){1,24}[!-~]{16}|([ \t\r\n]))"
)
"""What stands between a name and its value, as the rules and JSON have it; or a blank, in a group."""
_WHOSE_ENDS = rb"(?:api|ess|unt|ion|ter|ate|ret|red|ing)"
_KEY_NAME = rb"ey(?:(?<=" + _WHOSE_ENDS + rb"key)|(?<=" + _WHOSE_ENDS + rb"[_ -]key))"
_SAID = rb"[\"'*_`]{0,3} (?:is|was|ist|lautet)(?: now)?:?[ \\\s]"
_ASSIGNED = (
    lazy(rb"k(?:(?<=tok)en|(?<=cook)ie|" + _KEY_NAME + rb")" + _THEN),
    lazy(
        rb"p(?:ass(?:wor[dt]|wd|phrase|code)(?:"
        + _SAID
        + rb"|"
        + _THEN
        + rb")|(?:(?<=_p)ass|wd)"
        + _THEN
        + rb")"
    ),
    lazy(rb"secret" + _THEN),
    lazy(rb"auth(?:orization)?" + _THEN),
)
"""Names in small letters. Looking for a rare letter of several, or for one name, is far faster than looking for all."""
_LONGEST_FLAG = 64
_SIGNATURE = lazy(rb"sig(?:nature)?=")


def _has_assignment(data: bytes) -> bool:
    """Whether a name such as `password` is followed by a sign of assignment, by a quote or `is`, or is a flag."""
    small = data.lower()
    for names in _ASSIGNED:
        match = names.search(small)
        while match:
            at = match.start()
            if match.lastindex is None or small.rfind(b"--", max(0, at - _LONGEST_FLAG), at) >= 0:
                return True
            match = names.search(small, match.end())
    return b"=" in data and _SIGNATURE.search(small) is not None


# Passwords in files that hold nothing else ---------------------------------------------------------------------

_GAP = r"(?:\\[nrt]|\s){1,16}"
_FILES = (
    (  # `.netrc`: `machine ftp.example login bob password …`, on one line or several
        b"password",
        lazy(rb"(?:login|account)(?:\\[nrt]|\s){1,16}[^\s\\]{1,128}(?:\\[nrt]|\s){1,16}password"),
        lazy(
            rf"""(?i)\b(?:machine{_GAP}[^\s\\]{{1,256}}|default){_GAP}login{_GAP}[^\s\\]{{1,128}}{_GAP}(?:account{_GAP}[^\s\\]{{1,128}}{_GAP})?password{_GAP}([^\s"'\\]{{4,256}})"""
        ),
    ),
    (  # `.pgpass`: `host:port:database:user:password`, with a usual port or any
        b":",
        lazy(rb":(?:543[0-9]|6432|6543|\*):[^\s:]{1,128}:"),
        lazy(r"""(?xm)(?:^|(?<=\\[nt])|(?<=["'`\s]))(?!\#)[\w.*/@-]{1,253}:(?:543[0-9]|6432|6543|\*):(?![0-9]+:)[^\s:]{1,128}:[^\s:]{1,128}
            :((?:\\[:\\]|[^\s:"'`\\]){4,256})(?=[\s"'`]|\\n|\Z)"""),
    ),
)
"""For each a word of a line and its looks, both in small letters, and the line with its password."""


def _files_in(data: bytes) -> Iterator["re.Pattern[str]"]:
    """The forms of such lines that the looks of a text allow; looking for the word first takes a tenth of the time."""
    small = data.lower()
    return (line for word, looks, line in _FILES if word in small and looks.search(small))


def _in_files(text: str, data: bytes) -> Iterator[Found]:
    for line in _files_in(data):
        for match in line.finditer(text):
            if is_telling("password", match[1]):
                yield Found(CREDENTIAL, *match.span(1))


# Passwords in addresses and commands ---------------------------------------------------------------------------

_BASIC_AUTH = lazy(r"://[^\s/@:\"'\\]{0,256}:([^\s/@\"'\\]{1,256})@")
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
_USER = lazy(r"(?i)(?<![a-z])user(?:_?name)?:\Z")
"""Who has a password in a manual."""


def _might_be_command(data: bytes) -> bool:
    """Whether there is such an option, and one of the programs is spoken of: if not, there is no command of it."""
    return _SHORT_OPTION.search(data) is not None and any(word in data for word in _PROGRAMS)


def _of_users(text: str, data: bytes) -> Iterator[Found]:
    """The passwords in addresses and commands, but for what stands in for one: `user:password`, `bob:${PW}`."""
    given = [(BASIC_AUTH, *match.span(1)) for match in _BASIC_AUTH.finditer(text)] if b"://" in data else []
    for word, form in _COMMANDS if _might_be_command(data) else ():
        for match in form.finditer(text) if word in data else ():
            group = match.lastgroup or ""
            value = match[group] if group == "quoted" else match[group].rstrip(".,:!?")  # a sentence may end
            given.append((CREDENTIAL, match.start(group), match.start(group) + len(value)))
    for kind, start, end in given:
        value = text[start:end]
        is_named = names_secret(value) and _USER.search(text, max(0, start - 12), start)
        if is_value(value) and not is_named and not _STAND_IN.fullmatch(value):
            yield Found(kind, start, end)


# Everything ----------------------------------------------------------------------------------------------------

_LAYERS = 3
"""How many times what a text stands for may itself stand for another."""
_FILLED = lazy(r"x{8}|X{8}|\*{8}")
"""What no key has, but an example of one: `ghp_xxxxxxxx`."""
_REST = lazy(r"(?=.*[0-9])(?=.*[A-Za-z]).+|.*[a-z][A-Z].*")
_SURE_REST = lazy(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z]).{8,}")
"""What is a part of a key at the beginning of a line; and behind what is a key without it."""


@lru_cache(16)  # learned from, judged, masked in evidence: the same text comes by several times
def detect(text: str, layers: int = _LAYERS) -> tuple[Found, ...]:
    """The secrets in a text, in order; none overlaps another."""
    data = text.encode(errors="replace")
    found: list[Found] = []
    readings: list[Reading] = []
    if has_form(data):
        found += (Found(*key) for key in keys_in(text) if not _FILLED.search(text, *key[1:]))
        found += _broken(text)
        readings += decoded(text)
    found += (*_of_users(text, data), *_in_files(text, data))
    if _has_assignment(data):
        found += _by_rules(text)
    if layers and dressed_parts(data):
        readings.append(undressed(text))
    for reading in readings if layers else ():
        for each in detect(reading.text, layers - 1):
            plain = each.plain or reading.text[each.start : each.end]
            found.append(Found(each.kind, *reading.span(each.start, each.end), plain))
    return tuple(_joined(found))


def might_hold(data: bytes, layers: int = _LAYERS) -> bool:
    """Whether a text, or JSON in UTF-8, has the looks of holding a secret: false means that `detect` finds none."""
    return (
        has_form(data)
        or (b"@" in data and b"://" in data)
        or _might_be_command(data)
        or _has_assignment(data)
        or any(_files_in(data))
        or (
            layers > 0
            and (parts := dressed_parts(data)) != ""
            and might_hold(undressed(parts).text.encode(errors="replace"), layers - 1)
        )
    )


def _broken(text: str) -> Iterator[Found]:
    """Keys of a known form that go on in the next lines."""
    lines = joined(text)
    for kind, start, end in keys_in(lines.text):
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


def _joined(found: Iterable[Found]) -> list[Found]:
    """In order, with overlaps joined into the outermost; of equal ones, that with the more specific form."""
    made: list[Found] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end, one.kind in (CREDENTIAL, BASIC_AUTH))):
        if made and each.start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, each.end))
        else:
            made.append(each)
    return made
