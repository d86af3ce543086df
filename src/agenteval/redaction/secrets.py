"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

What is hidden by escapes, invisible characters, base64 or the end of a line is read as what it stands for. Times are
linear in the length of the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
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


Check = Callable[["re.Match[str]", str], bool]
"""Tells whether a match is a secret. The second argument is the value, without what ends a sentence."""


class Form:
    """One way to write a secret.

    All that is known of it stands here once: the quick look of `may_contain` is made of the same words and patterns.
    """

    def __init__(
        self,
        kind: str,
        words: str,
        source: str,
        check: Check = lambda *_: True,
        *,
        begins: bool = False,
        closing: str = "",
        at_name: bool = False,
    ) -> None:
        self.kind = kind
        self.words = tuple(filter(None, words.split(",")))
        """Words of which one stands in every match, or right before it. Without words, any text may have a match."""
        self.source = source
        self.pattern = lazy(source)
        """The last group with a name is the secret; without one it is the whole match."""
        self.check = check
        self.begins = begins
        """True if one of the words begins the key, and the key begins a word: this is the quickest to look for."""
        self.closing = closing
        """Signs that may stand behind a value without quotes, and are no part of it."""
        self.at_name = at_name
        """True if every match begins at the name of a secret: trying these places alone is far faster."""

    def find(self, text: str) -> Iterator[Found]:
        """Find all secrets that are written in this way."""
        if self.words and not any(word in text for word in self.words):
            return
        for match in _at_names(self.pattern, text) if self.at_name else self.pattern.finditer(text):
            group = match.lastgroup or 0
            value = match[group] if group in _IN_QUOTES else match[group].rstrip(self.closing)
            if self.check(match, value):
                yield Found(self.kind, match.start(group), match.start(group) + len(value))


_IN_QUOTES = ("double", "single", "escaped", "quoted")
"""Groups whose value ends at a quote: a full stop before the quote belongs to the value."""


def _at_names(pattern: "re.Pattern[str]", text: str) -> Iterator["re.Match[str]"]:
    """Find what `finditer` finds, where matches begin at the name of a secret."""
    end = 0
    for name in _names_in(text):
        if name >= end and (match := pattern.match(text, name)):
            end = match.end()
            yield match


@lru_cache(1)  # nine forms in a row ask for the same text
def _names_in(text: str) -> list[int]:
    return [match.start() for match in _NAME.finditer(lowered(text))]


# Keys of a known form ------------------------------------------------------------------------------------------

_KEY_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_KEY = "[A-Za-z0-9_-]"
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""The beginning of a word, also after an escaped line break."""
_MIXED_ROW = (
    "(?!(?:[0-9]{1,40}|[a-z]{2,40}|[A-Z]{2,40})[_-]|[A-Za-z0-9_-]{0,60}_[A-Z][a-z]{3}|[AaCcHhLlMmQqSsTtVvZz0-9-]{30})"
    "(?=(?:[a-z0-9_-]{0,40}+[A-Z]){5})(?=(?:[A-Z0-9_-]{0,40}+[a-z]){5})"
    "(?=(?:(?:[A-Za-z_-]|[0-9]{1,40}+(?![A-Za-z])){0,40}+[0-9]{1,40}+[A-Za-z]){2})"
    "(?=(?:(?:[a-z_-]|[0-9](?![a-z])|[A-Z](?![A-Z0-9])){0,40}+[A-Z0-9][A-Za-z0-9]){3})[A-Za-z0-9_-]{30,}"
)
"""A long row of signs at random.

It begins with no part of a mark or a time, has no part that is a word (`_Returns404`), and is no drawing in SVG
(`M8-12v-10h8`). It has five letters of each case (a time in a name has `T` and `Z`), and digits before letters in two
places. Three times a digit or another capital follows a capital, or a small letter a digit: in
`decodeUtf8StringFromBase64Buffer` none does. All looks ahead are bounded: a row may be as long as a text.
"""
_MARKS = tuple(
    """
    AGE-SECRET-KEY- APP_USR- ATATT3 ATBB ATCTT3 BSA- CCDB1_ CCIPAT_ CCIPRJ_ CFPAT- CLOJARS_ FLWSECK- FLWSECK_TEST- GOCSPX-
    HRKU- NRAK- NRJS- PMAK- access-production- access-sandbox- apify_api_ bb_live_ bkua_ cal_live_ cfat_ cfk_ cfut_ crsr_
    csk- dapi dbtc_ dbtu_ dckr_oat_ dckr_pat_ ddapp_ ddpat_ dop_v1_ dor_v1_ doo_v1_ dtn_ duffel_test_ duffel_live_ e2b_
    figd_ figu_ fo1_ fw_ glc_ glsa_ gsk_ hcaik_ hcamk_ hf_ jina_ lin_api_ lin_oauth_ lsv2_pt_ lsv2_sk_ mdb_sa_sk_ n8n_api_
    napi_ nfc_ nfp_ ntn_ nvapi- pat-na1- pat-eu1- pcsk_ pdl_live_apikey_ pdl_sdbx_apikey_ phs_ phx_ polar_oat_ pplx-
    pscale_oauth_ pscale_pw_ pscale_tkn_ pul- r8_ rk_test_ rnd_ rpa_ rubygems_ rzp_live_ sbp_ secret_ sgamp_user_ sgp_
    shpat_ shpca_ shppa_ shpss_ signkey-prod- sk-helicone- sk-lf- sk-or-v1- sk_ sk_test_ sk_car_ sntrys_ sntryu_ sq0atp-
    sqa_ sqp_ squ_ tfp_ tgp_v1_ tr_pat_ tr_prod_ tvly- vca_ vci_ vck_ vcp_ vcr_ vercel_blob_rw_ wandb_v1_ whsec_ xaat-
    xai- xapp- xapt- xkeysib- xsmtpsib-
""".split()  # noqa: SIM905 - a list of them would be ten times as long
)
"""The beginnings of the keys of many services."""
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
    # A row of one part is no token. It is matched all the same, or rows of `eyJeyJ…` would take quadratic time.
    Form(
        "jwt",
        "eyJ",
        r"eyJ[A-Za-z0-9_=-]{13,}+(\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_=+/-]+)*)?",
        lambda match, _: match.lastindex is not None,
    ),
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
            (?:[a-z]{{3,4}}-|[0-9A-Z-]{{1,32}}-|[A-Za-z0-9]{{4,26}}_)?  # of what kind the key is, or which it is
            (?:[A-Za-z0-9]{{20,}}|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}
             |(?:[a-z0-9]{{7}}-){{3,}}[a-z0-9]{{7}}|(?={_KEY}{{0,40}}[A-Z])(?={_KEY}{{0,40}}[a-z]){_KEY}{{22,}}) [A-Za-z0-9_=-]*""",
        begins=True,
    ),
    Form(  # how they begin is how other things do, too: a longer row has to follow, or one of a certain length
        "service-key",
        "fc-,key-,nvapi-,re_,sb_secret_,sk-,tskey-,ya29.,hvb.,hvs.,hvr.,dp.st.,dp.pt.,dp.sa.,dp.ct.,sl.A,sl.B,sl.u.,mlsn.,dt0c01.,.atlasv1."
        ",hf_,api_org_,key_,AKCp,AKID,AQVN,LTAI5t,BSA,EAAA,IQoJb3JpZ2lu,cmVmdGtuOj,snyk_uat.,1//0,v1.0-,fm2_,bce-v3/,LLM|,"
        "access_token$,oy2,cio",
        rf"""(?x) {_START} (?:
            sk-(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{32,}}[A-Za-z0-9_=-]* | sk-[a-z0-9]{{48}}(?!{_KEY})
          | (?:hf_|api_org_)(?=[A-Z]*[a-z])(?=[a-z]*[A-Z])[A-Za-z]{{34}}(?!{_KEY})  # of letters alone
          | (?:fc-|key-|key_)[0-9a-f]{{32}}(?!{_KEY}) | key_(?:[0-9a-f]{{28}}|[0-9a-f]{{64}})(?!{_KEY})
          | AKCp[A-Za-z0-9]{{60,}} | AKID[A-Za-z0-9]{{32}}(?!{_KEY}) | AQVN{_KEY}{{35,}} | LTAI5t[A-Za-z0-9]{{18}}(?!{_KEY})
          | BSA(?=[A-Za-z_-]*[0-9])(?=[A-Z0-9_-]*[a-z]){_KEY}{{28}}(?!{_KEY}) | EAAA{_KEY}{{60}}(?![A-Za-z0-9_+/-])
          | IQoJb3JpZ2lu[A-Za-z0-9+/]{{80,}}=* | cmVmdGtuOj[A-Za-z0-9+/]{{50,}} | snyk_uat\.[0-9a-f]{{8}}\.{_KEY}{{20,}}
          | 1//0{_KEY}{{40,}} | v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{100,}} | fm2_[A-Za-z0-9+/]{{60,}}[A-Za-z0-9+/=,]*
          | bce-v3/ALTAK-[A-Za-z0-9]{{20,}}/[0-9a-f]{{40}} | LLM\|[0-9]{{10,}}\|{_KEY}{{20,}}
          | access_token\$(?:production|sandbox)\$[a-z0-9]{{16}}\$[0-9a-f]{{32}}
          | (?:oy2[a-z0-9]{{43}}|cio(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{{32}})(?!{_KEY})
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
    # names in code are made of words (`this.handleSocks5FinalHandshakeResponse`).
    Form(
        "service-key",
        "",
        rf"""(?x) (?:(?<![A-Za-z0-9_.+/\\-])|(?<=\\[nrt]))
            (?!sha[0-9]{{1,3}}-|wamid\.|cs_(?:test|live)_)  # digests, messages of WhatsApp, and checkouts of Stripe
            (?:[a-z][a-z0-9]{{1,11}}[_.-]|[A-Z][A-Z0-9]{{1,11}}[_.-]){{1,3}}
            {_MIXED_ROW} [A-Za-z0-9_=-]*""",
    ),
    # Marks in the middle: of Azure's newer services and its applications, of Airtable, Infisical and ClickUp.
    Form("service-key", "JQQJ99", r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{16,}"),
    Form(
        "service-key",
        "pat,st.",
        rf"(?<![A-Za-z0-9_-])(?:pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}|st\.[0-9a-f]{{24}}\.[0-9a-f]{{32}}\.[0-9a-f]{{32}})(?!{_KEY})",
    ),
    Form(
        "service-key",
        "7Q~,8Q~",
        r"(?<![A-Za-z0-9_.~-])[A-Za-z0-9_.~-]{3}[78]Q~(?=[a-z0-9_.~-]*[A-Z])(?=[A-Z0-9_.~-]*[a-z])[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_~-])",
    ),
    Form("service-key", "pk_", rf"(?<![A-Za-z0-9_-])pk_[0-9]{{6,9}}_[A-Z0-9]{{32}}(?!{_KEY})"),
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


def keys_in(text: str, *, of_any_service: bool = True) -> Iterator[Found]:
    """Find keys of known forms; they may overlap. `of_any_service` adds the form that has no word in the table."""
    for form in FORMS:
        if form.words or of_any_service:
            yield from form.find(text)


_LONG_WORD = b"a" * 20
_WORD_SIGNS = bytes(ord("a") if code in _KEY_SIGNS + b"\\\n" else ord(" ") for code in range(256))
"""Maps every sign that keys are made of to `a`, and ends of lines, which may break one; all others to a blank."""
_ENDS = lazy(rb"\\+[nrt]?|\n")
_DIGIT = lazy(rb"[0-9]")
_ROW_SIGNS = _KEY_SIGNS + b"+/"
_FAR_BEFORE = 64
"""The bytes before a long word that the first parts of a key may take; those of a Discord token take 34."""
_ROW_BEFORE = 128
"""The bytes before a long word that may belong to the same row of base64."""
_WORDS = {word.encode(): form for form in FORMS for word in form.words}
_BEFORE = max(map(len, _WORDS))
"""The bytes before a long word that a word of the table with dots may take: `hvs.`, `.atlasv1.`."""
_BEGINNINGS = tuple(word for word, form in _WORDS.items() if form.begins and b"." not in word)
_HEADS = frozenset(word[:2] for word in _BEGINNINGS)
_SHORT = {
    word: lazy(form.source.encode())
    for word, form in _WORDS.items()
    if len(word) <= 2 or word in (b"pat", b"st.")
}
"""Words that are everywhere (`latest.`): the pattern of the form has to match, too."""
_AROUND = tuple(word for word in _WORDS if word not in _SHORT and word.strip(_KEY_SIGNS + b"."))
"""Words with signs that neither a long word has nor what stands right before it: they are looked for in all of a text."""
_WITHIN = tuple(_WORDS.keys() - {*_SHORT, *_AROUND, *_BEGINNINGS})
_ANY_WITHIN = lazy(b"|".join(map(re.escape, _WITHIN)))
"""Finds the words twice as fast as one after the other; but compiling it takes as long as 50 kB of words do."""
_MUCH = 50_000
_SEARCHED = [0]
"""The bytes that this process has searched for the words so far: a few tests are not worth the compiling."""
_MIXED = lazy(rb"(?<![A-Za-z0-9])" + _MIXED_ROW.encode())
_OF_PARTS = tuple(_SHORT[word] for word in (b".", b":", b"pat"))
"""Patterns of keys that have parts before their long word. Each begins with any sign, so a whole text takes them long."""
_OF_ROWS = tuple(lazy(form.source.encode()) for form in FORMS if not form.words)
"""Patterns of keys with a mark before a row of mixed signs, which is within the long word."""


def _may_contain_key(data: bytes) -> bool:
    """Return whether a text, or JSON, may hold a key of a known form, or a part of one, or encodes a text."""
    has_sign = any(word in data for word in _AROUND) or (
        b"$" in data and _SHORT[b"$"].search(data) is not None
    )
    return has_sign or _may_contain_long_word_of_key(data)


def _may_contain_long_word_of_key(data: bytes) -> bool:
    """Look for most words of the table beside long words alone: nearly every key has one, perhaps broken over lines."""
    words: list[bytes] = []
    parts_before: list[bytes] = []
    rows: list[bytes] = []
    for start, word in _long_words(data):
        before = data[max(0, start - _BEFORE) : start]
        words.append(before + word)
        pieces = [word]
        if b"\n" in word or b"\\" in word:
            pieces = _ENDS.split(word)
            pieces.append(b"".join(pieces))
            words.append(pieces[-1])
        if _may_be_key(pieces) or (
            before.endswith((b"+", b"/")) and encodes_text(data, _row_of(data, start))
        ):
            return True
        is_mixed = not word.islower() and any(map(_MIXED.search, {word, pieces[-1]}))
        has_parts = before.endswith((b".", b":"))
        if is_mixed or has_parts:
            far_before = data[max(0, start - _FAR_BEFORE) : start]
            whole = (far_before + word, _ENDS.sub(b"", far_before) + pieces[-1])
            rows += whole if is_mixed else ()
            parts_before += whole if has_parts else ()
    if not words:  # as in most texts
        return False
    for candidates, patterns in ((parts_before, _OF_PARTS), (rows, _OF_ROWS)):
        if candidates and any(pattern.search(b" ".join(candidates)) for pattern in patterns):
            return True
    return _has_word(b" ".join(words))


def _has_word(words: bytes) -> bool:
    is_short = any(word in words and _SHORT[word].search(words) for word in (b"AC", b"SK"))
    _SEARCHED[0] += len(words)
    if _SEARCHED[0] < _MUCH:
        return is_short or any(word in words for word in _WITHIN)
    return is_short or _ANY_WITHIN.search(words) is not None


def _may_be_key(pieces: list[bytes]) -> bool:
    """Return whether a piece of a word begins like a key or encodes a text; the last piece is the longest."""
    for piece in pieces:
        # Only a name of words, such as `sk_buff_head_init`, is in small letters without a digit.
        if (
            piece[:2] in _HEADS
            and piece.startswith(_BEGINNINGS)
            and (not piece.islower() or _DIGIT.search(pieces[-1]))
        ):
            return True
        if not piece.islower() and encodes_text(piece):
            return True
    return False


def _long_words(data: bytes) -> Iterator[tuple[int, bytes]]:
    """List the words that are long enough for a key, each with its place."""
    places = data.translate(_WORD_SIGNS) + b" "
    start = places.find(_LONG_WORD)
    while start >= 0:
        end = places.find(b" ", start)
        yield start, data[start:end]
        start = places.find(_LONG_WORD, end)


def _row_of(data: bytes, start: int) -> int:
    """Return the place where the row of base64 begins that a word is a part of: such rows have signs that no word has."""
    before = data[max(0, start - _ROW_BEFORE) : start]
    return start - len(before) + len(before.rstrip(_ROW_SIGNS))


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


def _assigned(
    source: str, check: Check = _is_secret_here, closing: str = "", *, kind: str = CREDENTIAL
) -> Form:
    return Form(kind, "", source, check, closing=closing, at_name=True)


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
    if _may_contain_key(data):
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
        _may_contain_key(data)
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
