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
    decode_text,
    decoded,
    decoded_row,
    encoded_parts,
    encodes_text,
    joined,
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


class Form:
    """One way in which services write keys. The quick look for it is made of the same words and pattern."""

    def __init__(self, kind: str, words: str, source: str, *, begins: bool = False) -> None:
        self.kind = kind
        self.words = tuple(filter(None, words.split(",")))
        """One of them stands in every key, or right before it; a form of any service has none."""
        self.source = source
        self.pattern = lazy(source)
        """A match without the group that the pattern has is no key."""
        self.begins = begins
        """Whether one of the words begins the key, and the key a word: this is the quickest to look for."""


_KEY_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_KEY = "[A-Za-z0-9_-]"
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""Where a word begins, also after an escaped line break."""
_MIXED_ROW = "(?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{30,}"
"""A long row of digits, in two places at least, and of letters of both cases."""
_MARKS = tuple(
    """
    AGE-SECRET-KEY- APP_USR- ATATT3 ATCTT3 BSA- CFPAT- CLOJARS_ FLWSECK- FLWSECK_TEST- GOCSPX- HRKU- NRAK- NRJS- PMAK-
    apify_api_ bkua_ cfat_ cfk_ cfut_ csk- dapi dckr_oat_ dckr_pat_ dop_v1_ dor_v1_ doo_v1_ duffel_test_ duffel_live_
    e2b_ figd_ figu_ fo1_ fw_ glc_ glsa_ gsk_ hf_ jina_ lin_api_ lin_oauth_ lsv2_pt_ lsv2_sk_ nfc_ nfp_ ntn_ nvapi-
    pat-na1- pat-eu1- pcsk_ phs_ phx_ pplx- pscale_oauth_ pscale_pw_ pscale_tkn_ pul- r8_ rk_test_ rnd_ rpa_ rubygems_
    rzp_live_ sbp_ secret_ sgp_ shpat_ shpca_ shppa_ shpss_ sk-lf- sk-or-v1- sk_ sk_test_ sntrys_ sntryu_ tfp_ tgp_v1_
    tvly- vca_ vci_ vck_ vcp_ vcr_ vercel_blob_rw_ whsec_ xai- xapp- xkeysib-
""".split()  # noqa: SIM905 - a list of them would be ten times as long
)
"""How the keys of many services begin."""
FORMS = (
    Form("anthropic-key", "sk-ant-", rf"sk-ant-{_KEY}{{16,}}"),
    Form(
        "aws-access-key",
        "A3T,ABIA,ACCA,AKIA,ASIA,ABSK",
        rf"A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)[0-9A-Z]{{16}}{_KEY}*|ABSK(?=[A-Za-z0-9]{{20}})[A-Za-z0-9+/]{{100,}}={{0,2}}",
    ),
    Form("azure-storage-key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/=]{88}"),
    Form(
        "bearer-token",
        "earer ",
        r"(?<=earer )(?=[A-Za-z._~+/-]{0,40}(?:[0-9]|(?<=[a-z])[A-Z]))[A-Za-z0-9._~+/-]{19,}[A-Za-z0-9_-]=*",
    ),
    Form(
        "discord-token",
        ".,/webhooks/",
        rf"[MNO]{_KEY}{{23,25}}\.{_KEY}{{6}}\.{_KEY}{{27,}}|(?<=/webhooks/)[0-9]{{15,20}}/{_KEY}{{60,}}",
    ),
    Form(
        "github-token",
        "gho_,ghp_,ghr_,ghs_,ghu_,github_pat_",
        rf"gh[oprsu]_[A-Za-z0-9_]{{36}}{_KEY}*|github_pat_[A-Za-z0-9_]{{20,}}",
    ),
    Form(
        "gitlab-token",
        "glagent-,glcbt-,gldt-,glffct-,glft-,glimt-,gloas-,glpat-,glptt-,glrt-,glrtr-,glsoat-,glwt-,GR1348941",
        rf"(?:gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rtr?|soat|wt)-|GR1348941){_KEY}{{20,}}",
    ),
    Form("google-key", "AIza,AQ.", rf"AIza{_KEY}{{35,}}|{_START}AQ\.Ab[A-Za-z0-9]{_KEY}{{30,}}"),
    # Of one part it is none.
    Form("jwt", "eyJ", r"eyJ[A-Za-z0-9_=-]{13,}+(\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_=+/-]+)*)?"),
    Form(
        "mailchimp-key",
        ",".join(f"-us{digit}" for digit in range(10)),
        rf"[0-9a-z]{{32}}-us[0-9]{{1,2}}{_KEY}*",
    ),
    Form("npm-token", "npm_,_authToken=", r"npm_[A-Za-z0-9]{30,}|(?<=_authToken=)[^\s\"'\\]{16,}"),
    Form(
        "password-hash",
        "$,{SHA},{SSHA}",
        r"\$(?:apr1|argon2id?|argon2d|2[abxy]?|[1567y]|gy|scrypt|pbkdf2[a-z0-9-]*)\$[A-Za-z0-9./$=+,_-]{19,}[A-Za-z0-9/]"
        r"|\{S{1,2}HA\}[A-Za-z0-9+/]{20,}={0,2}",
    ),
    Form(
        "openai-key",
        "sk-admin-,sk-proj-,sk-svcacct-,T3BlbkFJ",
        rf"sk-(?:(?:proj|svcacct|admin)-{_KEY}{{20,}}|{_KEY}{{20,160}}?T3BlbkFJ{_KEY}{{20,}})",
    ),
    Form(  # without a last line, to the end of the text
        "private-key",
        "PRIVATE KEY,PuTTY-User-Key-File-",
        r"(?s)-{0,5}(?:BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|PuTTY-User-Key-File-[0-9])(?=.{0,160}[A-Za-z0-9+/]{20})"
        r"(?:.*?-----END [A-Z0-9 ]{1,40}-----|.*)",
    ),
    Form("pypi-token", "pypi-AgE", rf"pypi-AgE{_KEY}{{80,}}"),
    Form("sendgrid-key", "SG.", rf"SG\.{_KEY}{{22}}\.{_KEY}{{43,}}"),
    Form(
        "service-key",
        ",".join(_MARKS),
        rf"""(?x) {_START} (?:{"|".join(_MARKS)})
            (?=[A-Za-z_-]{{0,40}}[0-9])  # a name of words has none
            (?:[a-z]{{3,4}}-|[0-9A-Z-]{{1,32}}-|[A-Za-z0-9]{{4,8}}_)?  # of what kind the key is
            (?:[A-Za-z0-9]{{20,}}|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}) [A-Za-z0-9_=-]*""",
        begins=True,
    ),
    Form(  # how they begin is how other things do, too: a longer row has to follow, or one of a certain length
        "service-key",
        "fc-,key-,nvapi-,re_,sb_secret_,sk-,tskey-,ya29.,hvb.,hvs.,hvr.,dp.st.,dp.pt.,dp.sa.,dp.ct.,sl.A,sl.B,sl.u.,mlsn.,dt0c01.,.atlasv1.",
        rf"""(?x) {_START} (?:
            sk-(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{32,}}[A-Za-z0-9_=-]*
          | (?:fc|key)-[0-9a-f]{{32}}(?!{_KEY})
          | nvapi-(?={_KEY}{{0,60}}[0-9]){_KEY}{{60,}}
          | re_(?=[A-Za-z0-9]*[0-9A-Z])[A-Za-z0-9]{{8}}_(?=[A-Za-z]{{0,23}}[0-9])[A-Za-z0-9]{{20,}}
          | sb_secret_{_KEY}{{20,}}
          | tskey-[a-z]{{2,10}}-[A-Za-z0-9]{{8,}}-[A-Za-z0-9]{{16,}}
          | dp\.(?:st|pt|sa|ct)\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{40,}}
          | sl\.(?:u\.|(?=[AB]))(?={_KEY}{{0,60}}[0-9]){_KEY}{{100,}}
          | mlsn\.[0-9a-f]{{60,}} | dt0c01\.[A-Z0-9]{{24}}\.[A-Z0-9]{{60,}}
          | [A-Za-z0-9]{{14}}\.atlasv1\.{_KEY}{{60,}} )
          | (?:ya29|hv[bsr])\.{_KEY}{{20,}}""",
        begins=True,
    ),
    # The form of most keys to come: a mark, and a long row with digits in two places and letters of both cases.
    # Ids of calls and messages have at most 29 signs (`toolu_`, `chatcmpl-`), or are hexadecimal (`resp_`, digests);
    # names in code have digits in one place (`this.handleSocks5FinalHandshakeResponse`).
    Form(
        "service-key",
        "",
        rf"""(?x) (?:(?<![A-Za-z0-9_.+/\\-])|(?<=\\[nrt]))
            (?!sha[0-9]{{1,3}}-|wamid\.|cs_(?:test|live)_)  # digests, messages of WhatsApp, and checkouts of Stripe
            (?:[a-z][a-z0-9]{{1,11}}[_.-]|[A-Z][A-Z0-9]{{1,11}}[_.-]){{1,3}}
            {_MIXED_ROW} [A-Za-z0-9_=-]*""",
    ),
    Form(
        "slack-token",
        "xox,//hooks.slack",
        rf"xox[a-z]-(?={_KEY}{{15}})(?:[0-9]+-)+{_KEY}+|https://hooks\.slack\.com/services/[Tt]\w+/[Bb]\w+/{_KEY}+",
    ),
    Form("square-secret", "sq0csp-", rf"sq0csp-[A-Za-z0-9_\\-]{{43}}{_KEY}*"),
    Form("stripe-key", "rk_live_,sk_live_", rf"[rs]k_live_[A-Za-z0-9]{{24}}{_KEY}*"),
    Form("telegram-token", ":", rf"[0-9]{{8,10}}:{_KEY}{{35,}}"),
    Form("twilio-key", "AC,SK", rf"(?:AC|SK)[a-z0-9]{{32}}{_KEY}*"),
)
"""Each line is one way to write a key; several lines may be of one kind. A new kind of key is a new line, or a new mark."""


def keys_in(text: str, *, of_any_service: bool = True) -> Iterator[Key]:
    """All keys of known forms; they may overlap. The form of any service is known from no word of the table."""
    for form in FORMS:
        if any(word in text for word in form.words) or (of_any_service and not form.words):
            for match in form.pattern.finditer(text):
                if match.lastindex or not match.re.groups:
                    yield form.kind, *match.span()


_LONG_WORD = b"a" * 20
_WORD_SIGNS = bytes(ord("a") if code in _KEY_SIGNS + b"\\\n" else ord(" ") for code in range(256))
"""Maps every sign that keys are made of to `a`, and ends of lines, which may break one; all others to a blank."""
_ENDS = lazy(rb"\\+[nrt]?|\n")
_DIGIT = lazy(rb"[0-9]")
_IN_ROW, _ROW_SIGNS = (b"+", b"/"), _KEY_SIGNS + b"+/"
_FAR_BEFORE = 128
_BEFORE = 8
"""How far before a long word a word of the table with dots begins: `hvs.`."""
_WORDS = {word.encode(): form for form in FORMS for word in form.words}
_BEGINNINGS = tuple(word for word, form in _WORDS.items() if form.begins and b"." not in word)
_HEADS = frozenset(word[:2] for word in _BEGINNINGS)
_SHORT = {word: lazy(form.source.encode()) for word, form in _WORDS.items() if len(word) <= 2}
"""Words that are everywhere: the pattern of the form has to match, too."""
_AROUND = tuple(word for word in _WORDS if word not in _SHORT and word.strip(_KEY_SIGNS + b"."))
"""Words with signs that neither a long word has nor what stands right before it: they are looked for in all of a text."""
_WITHIN = tuple(word for word in _WORDS if word not in (*_SHORT, *_AROUND, *_BEGINNINGS))
_MIXED = lazy(rb"(?<![A-Za-z0-9])" + _MIXED_ROW.encode())
_OF_ANY_SERVICE = tuple(lazy(form.source.encode()) for form in FORMS if not form.words)


def has_form(data: bytes) -> bool:
    """Return whether a text, or JSON, may hold a key of a known form, or a part of one, or encodes a text.

    Every key has a long word, perhaps broken over lines. So the words of the table are looked for in long words alone.
    """
    if any(word in data for word in _AROUND):
        return True
    found = {b"$"} if b"$" in data else set()
    is_mixed = False
    places = data.translate(_WORD_SIGNS) + b" "
    start = places.find(_LONG_WORD)
    while start >= 0:
        end = places.find(b" ", start)
        word, before = data[start:end], data[max(0, start - _BEFORE) : start]
        parts: Sequence[bytes] = (word,)
        if b"\n" in word or b"\\" in word:
            pieces = _ENDS.split(word)
            parts = (*pieces, b"".join(pieces))
        elif before[-1:] in _IN_ROW and encodes_text(data, _row_of(data, start)):
            return True
        for part in parts:
            if part[:2] in _HEADS and part.startswith(_BEGINNINGS) and _DIGIT.search(parts[-1]):
                return True
            if not part.islower():
                if encodes_text(part):
                    return True
                is_mixed = is_mixed or _MIXED.search(part) is not None
        found.update((before[-1:], before + word, parts[-1]))
        start = places.find(_LONG_WORD, end)
    words = b" ".join(found)
    return (
        any(word in words for word in _WITHIN)
        or any(
            word in (words if len(word) > 1 else found) and pattern.search(data)
            for word, pattern in _SHORT.items()
        )
        or (is_mixed and any(pattern.search(data) for pattern in _OF_ANY_SERVICE))
    )


def _row_of(data: bytes, start: int) -> int:
    """Return the place where the row of base64 begins that a word is a part of: such rows have signs that no word has."""
    before = data[max(0, start - _FAR_BEFORE) : start]
    return start - len(before) + len(before.rstrip(_ROW_SIGNS))


# Values beside the name of a secret ----------------------------------------------------------------------------

BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`."""
COOKIE = "cookie"
"""What a browser has kept of a site: in a header, `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *(form.kind for form in FORMS)}))
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


def is_secret(key: str, value: str) -> bool:
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
    return is_secret(match["name"], value)


def _tells_without_quotes(match: "re.Match[str]", value: str) -> bool:
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


def _tells_below(match: "re.Match[str]", value: str) -> bool:
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
        lambda _, value: is_secret("token", value),
        at_name=False,
    ),
    _Rule(  # after an option, in a list as JSON and Python write it, or YAML
        lazy(rf"""(?ix)(?<![\w-])--(?!no-)[\w-]{{0,32}}?{_NAMES}(?:
            \\{{0,8}}["'],(?:\\n|\s){{0,64}}\\{{0,8}}["'](?P<quoted>[^\s"'\\-][^"'\\\n]{{3,4095}})
          | ["']?(?:\\n|\n)[ \t]{{0,64}}-[ ]["']?(?P<item>[^\s"'\\-][^\s"'\\]{{3,4095}}) )"""),
        lambda _, value: is_secret("token", value),
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
            if is_secret("password", match[1]):
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
    if layers and encoded_parts(data):
        readings.append(decode_text(text))
    for reading in readings if layers else ():
        for each in detect(reading.text, layers - 1):
            plain = each.plain or reading.text[each.start : each.end]
            found.append(Found(each.kind, *reading.span(each.start, each.end), plain))
    return tuple(_joined(found))


def may_contain(data: bytes, layers: int = _LAYERS) -> bool:
    """Whether a text, or JSON in UTF-8, has the looks of holding a secret: false means that `detect` finds none."""
    return (
        has_form(data)
        or (b"@" in data and b"://" in data)
        or _might_be_command(data)
        or _has_assignment(data)
        or any(_files_in(data))
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
    for kind, start, end in keys_in(lines.text, of_any_service=False):
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
