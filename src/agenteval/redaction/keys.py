"""Finds keys of services by their form: a table of forms, and a quick look derived from it."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agenteval.redaction.decoding import encodes_text
from agenteval.text.lazy_regexes import lazy


class Found(NamedTuple):
    """Something of some kind, from `start` up to `end` in the text; `plain` is what it means, where it is written otherwise."""

    kind: str
    start: int
    end: int
    plain: str = ""


Check = Callable[["re.Match[str]", str], bool]
"""Decides whether a match is a secret. The second argument is the value, without what ends a sentence."""


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

    def find(self, text: str) -> Iterator[Found]:
        """Find all secrets that are written in this way."""
        if self.words and not any(word in text for word in self.words):
            return
        for match in self.matches(text):
            group = match.lastgroup or 0
            value = match[group] if group in _IN_QUOTES else match[group].rstrip(self.closing)
            if self.check(match, value):
                yield Found(self.kind, match.start(group), match.start(group) + len(value))

    def matches(self, text: str) -> Iterator["re.Match[str]"]:
        """Find what may be secrets, before the check."""
        return self.pattern.finditer(text)


_IN_QUOTES = ("double", "single", "escaped", "quoted")
"""Groups with a value that ends at a quote: a full stop before the quote belongs to the value."""


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


def may_contain_key(data: bytes) -> bool:
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
