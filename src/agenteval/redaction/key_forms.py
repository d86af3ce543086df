"""Finds keys and tokens by the form that services give them. Times are linear in the length of the text."""

from collections.abc import Iterator

from agenteval.redaction.decoding import encodes_text
from agenteval.text.regexes import lazy

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
