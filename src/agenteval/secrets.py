"""Finds secrets in texts: by the form that services give their keys, and by the name beside a password.

The forms are rules of the library `detect-secrets`, and a few that it lacks. Its rules of entropy are not used: they
take every id for a secret. Importing the library takes as long as a whole run, so it is loaded only once a text has a
long word of the right kind (`might_hold`). Times are linear in the length of the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from agenteval.lazyregex import lazy


class Found(NamedTuple):
    """Something of some kind, from `start` up to `end` in the text."""

    kind: str
    start: int
    end: int


class _Rule(NamedTuple):
    """A kind, and the plugin of detect-secrets (module and class) that knows its form."""

    kind: str
    module: str
    plugin: str
    marker: str = ""
    """What every match begins with, if trying the plugin's pattern everywhere would take too long."""


LIBRARY = (
    # the second pattern of AWSKeyDetector takes too long on hostile texts; `credential` finds what it would
    _Rule("aws-access-key", "aws", "AWSKeyDetector"),
    _Rule("azure-storage-key", "azure_storage_key", "AzureStorageKeyDetector"),
    _Rule("discord-token", "discord", "DiscordBotTokenDetector"),
    _Rule("github-token", "github_token", "GitHubTokenDetector"),
    _Rule("gitlab-token", "gitlab_token", "GitLabTokenDetector"),
    _Rule("jwt", "jwt", "JwtTokenDetector", "eyJ"),
    _Rule("mailchimp-key", "mailchimp", "MailchimpDetector"),
    _Rule("openai-key", "openai", "OpenAIDetector", "sk-"),
    _Rule("private-key", "private_key", "PrivateKeyDetector"),
    _Rule("pypi-token", "pypi_token", "PypiTokenDetector"),
    _Rule("sendgrid-key", "sendgrid", "SendGridDetector"),
    _Rule("slack-token", "slack", "SlackDetector"),
    _Rule("square-secret", "square_oauth", "SquareOAuthDetector"),
    _Rule("stripe-key", "stripe", "StripeDetector"),
    _Rule("telegram-token", "telegram_token", "TelegramBotTokenDetector"),
    _Rule("twilio-key", "twilio", "TwilioKeyDetector"),
)
"""Kinds whose form detect-secrets knows."""

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
_SERVICE_KEY = rf"""(?x)
    (?: (?<![A-Za-z0-9_-]) | (?<=\\[nrt]) )  # or after an escape
    (?: (?:{"|".join(_PREFIXES)})
        (?=[A-Za-z_-]{{0,40}}[0-9])  # a name of words has none
        (?:[a-z]{{3,4}}-|[0-9A-Z-]{{1,32}}-)?  # of what kind the key is
        (?:[A-Za-z0-9]{{20,}}|[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})
      | {_COMMON_PREFIX}(?=[A-Za-z]{{0,40}}[0-9])[A-Za-z0-9]{{32,}}
    )
    [A-Za-z0-9_=-]*
  | (?:ya29|hvs)\.[A-Za-z0-9_-]{{20,}}
"""

OWN = (
    ("anthropic-key", lazy(r"sk-ant-[A-Za-z0-9_-]{16,}")),
    (
        "bearer-token",
        lazy(
            r"(?<=earer )(?=[A-Za-z._~+/-]{0,40}(?:[0-9]|(?<=[a-z])[A-Z]))[A-Za-z0-9._~+/-]{19,}[A-Za-z0-9_-]=*"
        ),
    ),
    ("github-token", lazy(r"github_pat_[A-Za-z0-9_]{20,}")),
    ("google-key", lazy(r"AIza[A-Za-z0-9_-]{35,}")),
    ("npm-token", lazy(r"npm_[A-Za-z0-9]{30,}|(?<=_authToken=)[^\s\"'\\]{16,}")),
    ("openai-key", lazy(r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}")),
    ("service-key", lazy(_SERVICE_KEY)),
)
"""Kinds whose form the library does not know, or not in all its variants."""

BASIC_AUTH = "basic-auth"
"""The password in an address: `https://user:password@host`; a rule of the library, and a wider one."""
COOKIE = "cookie"
"""What a browser has kept of a site: in a header, `Cookie: name=value`."""
CREDENTIAL = "credential"
"""The value beside a name such as `password`, `api_key` or `token`."""
KINDS = tuple(
    sorted({BASIC_AUTH, COOKIE, CREDENTIAL, *(r.kind for r in LIBRARY), *(kind for kind, _ in OWN)})
)
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
    rf"""(?i)(?<![\w-])--[\w-]{{0,32}}?{_NAMES} {{1,8}}(?:"([^\s"\\]{{4,4096}})"|'([^\s'\\]{{4,4096}})'|["']?(?!\w{{1,32}}=\w)([^\s"'\\,;&<>(){{}}\[\]|-][^\s"'\\,;&<>(){{}}\[\]|]{{3,4095}}))"""
)
_SPOKEN = lazy(r"""(?ix)pass(?:wor[dt]|wd|phrase)["'*_`]{0,3}[ ](?:is|was)(?:[ ]now)?:?
    [ ]["'*_`\u201c]{0,3}(?!\$|base64|sha|md5|utf|argon|pbkdf)(?=[^\s0-9]{0,64}[0-9])(?=[^\sa-z]{0,64}[a-z])
    ((?:[^\s"'*`\u201d,;:|&<>(){}\[\]$]|[,;:&(){}\[\]$](?=[^\w\s]?\w)){4,256})""")
"""A password in a sentence; when it has letters and digits, as no word has."""
_TOLD = lazy(rf"""(?ix){_NAMES}["'*_`]{{0,3}}[ ](?:is|was)(?:[ ]now)?:?(?:\\n|[\s"'*_`\\\u201c]){{1,8}}
    (?=[\w.~+/=-]{{0,64}}?(?=[a-z]{{0,15}}[0-9])(?=[0-9]{{0,15}}[a-z])[a-z0-9]{{16}})([\w.~+/=-]{{16,4096}})""")
"""Any other secret in a sentence; when it has a long row of letters and digits, as no word, date or UUID has."""
_SIGNS = r"""(?:\\n|[\\"':{\[\s]){1,64}+"""
_WRAPPED = rf"{{{_SIGNS}(?:arrayValue{_SIGNS}values{_SIGNS})?(?:string|bytes|int|double)Value{_SIGNS}"
"""What OTLP writes before a value: `{"stringValue": "`."""
_ENTRY = lazy(rf"""(?ix)(?P<name>{_NAMES})(?:[\\"',\s]|\\n){{1,64}}value[\\"']{{0,9}}[ \t]{{0,8}}:[ \t]{{0,8}}
    (?:{_WRAPPED})?\\{{0,8}}["']?(?P<value>[^\s"'\\,;&<>(){{}}\[\]|\u2026][^\s"'\\]{{3,4095}})""")
"""A value below or behind the name that a list of variables gives it: `name: DB_PASSWORD`, `value: …`."""
_KEPT = r"""[^\s"',;\\()<>]{0,4096}"""
_COOKIE = lazy(
    rf"""(?i)cookie\\{{0,8}}["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}\\{{0,8}}["']?([\w.-]{{1,64}}={_KEPT}(?:; ?[\w.-]{{1,64}}{_KEPT})*)"""
)
_CALL = lazy(r"[A-Za-z_.]+")
_CLOSING = ".,:;!?)]}&"
"""What may stand after a value that is written without quotes."""
_WIDER_BASIC_AUTH = lazy(r"://[^\s/@:\"'\\]{0,256}:([^\s/@\"'\\]{1,256})@")
_FOLDER = lazy(r"(?:~|[A-Za-z]:)?[/\\].*")
_NO_VALUE = lazy(
    r"(?s)process\.env\b.*|os\.environ\b.*|\$\{?\w+\}?|\{\{.*|%\w+%|<[^>]*>?|\*+|\.+|[•●]+|[xX]+|\[redacted:.*"
)
"""What may stand in the place of a secret: a variable, a blank, or what has been redacted."""
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
    if _has_form(data):
        found += _by_library(text)
        found += (Found(kind, *match.span()) for kind, form in OWN for match in form.finditer(text))
    if "://" in text and "@" in text:
        found += _basic_auth(text)
    if _has_assignment(data):
        found += (
            *_credentials(text),
            *_unquoted(text),
            *_spoken(text),
            *_flags(text),
            *_entries(text),
            *_cookies(text),
        )
    return list(_joined(found))


def might_hold(data: bytes) -> bool:
    """Whether a text, or JSON in UTF-8, has the looks of holding a secret: false means that `detect` finds none."""
    return _has_form(data) or (b"@" in data and b"://" in data) or _has_assignment(data)


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
    if len(value) < SHORTEST or not is_value(value, key) or value.lower() in _NO_SECRET:
        return False
    if key.lower().endswith(("word", "wort", "wd", "phrase")):
        return True
    in_one_case = value.isalpha() and (value.islower() or value.istitle() or value.isupper())
    return not (in_one_case and len(value) < _PLAIN_WORD) and not value.replace(".", "").isdigit()


_LONG_WORD = b"a" * 20
_WORD_SIGNS = bytes(
    ord("a") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else ord(" ")
    for code in range(256)
)
"""Maps every character that keys are made of to `a`, all others to a blank: a run of `a` could be a key."""
_FORM = lazy(
    rb"A3T|A[KSB]IA|ACCA|AIza|gh[pousr]_|github_pat_|gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent)-|gloas-|GR1348941"
    rb"|eyJ|T3BlbkFJ|sk-(?:ant|proj|svcacct|admin)-|pypi-AgE|npm_|_authToken=|SG\.|xox[a-z]-|sq0csp-"
    rb"|sk_live_|rk_live_|AccountKey=|-us[0-9]|:(?<=[0-9]{8}:)[\w-]{35}|\.(?<=[\w-]{24}\.)[\w-]{6}\.[\w-]{27}"
    rb"|AC[a-z0-9]{32}|SK[a-z0-9]{32}|earer |ya29\.|hvs\."
)
"""What a word that could be a key begins with, or has beside it.

Each alternative begins with a plain character, and is tried only where that stands: this takes a quarter of the time.
"""
_HEADED = tuple(prefix.encode() for prefix in (*_PREFIXES, _COMMON_PREFIX))
_HEADS = frozenset(prefix[:2] for prefix in _HEADED)
_ESCAPES = b"nrt"
"""The letters of escapes such as `\\n`, which look like the start of a word."""
_BEFORE, _AFTER = 36, 36
_LINE_BEFORE = lazy(rb"PRIVATE KEY|PuTTY-User|hooks\.slack")
_FAR_BEFORE = 128


def _has_form(data: bytes) -> bool:
    """Whether there is a long word that could be a key, with a sign of a known form in or beside it."""
    words = data.translate(_WORD_SIGNS) + b" "
    start = words.find(_LONG_WORD)
    while start >= 0:
        end = words.find(b" ", start)
        word = data[start:end]
        if word[:2] in _HEADS and word.startswith(_HEADED):
            return True
        if word[0] in _ESCAPES and word.startswith(_HEADED, 1):
            return True
        before = max(0, start - _BEFORE)
        if (
            not word.islower()
            or word.find(b"-us") >= 0  # half the time of `in`
            or word.find(b"xox") >= 0
            or data.find(b"earer ", before, start) >= 0
        ):
            if _FORM.search(data, before, end + _AFTER):
                return True
            if _LINE_BEFORE.search(data, max(0, start - _FAR_BEFORE), start):
                return True
        start = words.find(_LONG_WORD, end)
    return False


_KEY = b"key"
_NAME_WORDS = (
    *b"password passwort passwd passphrase _pass pwd secret token authorization cookie".split(),
    _KEY,
)
"""All names in full, except what stands before `key`. Finding them one by one is far faster than one pattern."""
_WHOSE_KEY = lazy(rf"{_WHOSE}\Z".encode())
_LONGEST_WHOSE = len("encryption_")
_LONGEST_FLAG = 32 + _LONGEST_WHOSE + len("--")
"""What may stand before a name in `_FLAG`."""
_ASSIGNED = lazy(rb"\*{0,3}[ \t]{0,8}[\\\"'=:]|\s{1,64}value")
"""The start of what may stand between a name and its value in `_CREDENTIAL`, in JSON, and after bold names."""
_SAID = lazy(rb"[\"'*_`]{0,3} (?:is|was) ")
"""The same in a sentence, as `_SPOKEN` has it."""
_LONG_SAID = lazy(rb"[\"'*_`]{0,3} (?:is|was)(?: now)?:?(?:\\[nrt]|[^a-z0-9]){1,24}[!-~]{16}")
"""The same, as `_TOLD` has it: a long word follows."""


def _has_assignment(data: bytes) -> bool:
    """Whether a name such as `password` is followed by a sign of assignment, by a quote or by `is`, or is a flag."""
    lowered = data.lower()
    for word in _NAME_WORDS:
        at = lowered.find(word)
        while at >= 0:
            end = at + len(word)
            if (
                _ASSIGNED.match(lowered, end) or _LONG_SAID.match(lowered, end) or _is_flag(lowered, at, end)
            ) and (word != _KEY or _WHOSE_KEY.search(lowered, max(0, at - _LONGEST_WHOSE), at)):
                return True
            if word.startswith(b"pass") and _SAID.match(lowered, end):
                return True
            at = lowered.find(word, end)
    return False


def _is_flag(lowered: bytes, at: int, end: int) -> bool:
    return lowered.startswith(b" ", end) and lowered.rfind(b"--", max(0, at - _LONGEST_FLAG), at) >= 0


@cache
def _patterns() -> tuple[tuple[_Rule, tuple["re.Pattern[str]", ...]], ...]:
    """The patterns of the library's plugins. Importing it loads an HTTP client, which is never used."""
    from importlib import import_module

    loaded = []
    for rule in LIBRARY:
        plugin: Any = getattr(import_module(f"detect_secrets.plugins.{rule.module}"), rule.plugin)
        patterns = tuple(plugin.denylist)
        loaded.append((rule, patterns[:1] if rule.kind == "aws-access-key" else patterns))
    return tuple(loaded)


_REST = lazy(r"[A-Za-z0-9_-]*")
_WORD_OF_JWT = lazy(r"[A-Za-z0-9_=-]*")
_REST_OF_JWT = lazy(r"[A-Za-z0-9_=-]*(?:\.[A-Za-z0-9_=+/-]+)*")
_SHORTEST_JWT_HEADER = 16
_LAST_LINE = lazy(r"-----END [A-Z0-9 ]{1,40}-----")


def _by_library(text: str) -> Iterator[Found]:
    for rule, patterns in _patterns():
        for pattern in patterns:
            done = 0
            for start, end in _matches(rule, pattern, text):
                if start < done:
                    continue
                found = Found(rule.kind, *_whole(rule.kind, text, start, end))
                done = found.end
                yield found


def _matches(rule: _Rule, pattern: "re.Pattern[str]", text: str) -> Iterator[tuple[int, int]]:
    """All matches. A pattern that may read far is tried once in each word: if it fails there, it fails in all of it."""
    if not rule.marker:
        yield from (match.span() for match in pattern.finditer(text))
        return
    start = text.find(rule.marker)
    while start >= 0:
        match = pattern.match(text, start)
        if match:
            end = match.end()
            if rule.kind != "jwt" or text.find(".", start) - start >= _SHORTEST_JWT_HEADER:
                yield start, end
        else:
            end = _end(_WORD_OF_JWT, text, start)
        start = text.find(rule.marker, end)


def _whole(kind: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The whole of a key, of which the library's patterns match just enough to recognise it.

    A private key goes from its first line to its last or, without a last line, to the end of the text.
    """
    if kind == "private-key":
        last = _LAST_LINE.search(text, end)
        return len(text[:start].rstrip("-")), last.end() if last else len(text)
    if kind == "jwt":
        end = start + len(text[start:end].rstrip("."))
        return start, _end(_REST_OF_JWT, text, end)
    return start, _end(_REST, text, end)


def _end(rest: "re.Pattern[str]", text: str, end: int) -> int:
    match = rest.match(text, end)
    return match.end() if match else end


def _basic_auth(text: str) -> Iterator[Found]:
    from detect_secrets.plugins.basic_auth import BasicAuthDetector

    for pattern in (*BasicAuthDetector.denylist, _WIDER_BASIC_AUTH):
        for match in pattern.finditer(text):
            if is_value(match.group(1)):
                yield Found(BASIC_AUTH, *match.span(1))


def _credentials(text: str) -> Iterator[Found]:
    for match in _CREDENTIAL.finditer(text):
        group = match.lastgroup or ""
        value = (
            match[group].rstrip(".!?:") if group == "bare" else match[group]
        )  # a sentence may end after it
        is_call = group == "bare" and text[match.end() : match.end() + 1] in ("(", "[")
        if is_telling(match["name"], value) and not (is_call and _CALL.fullmatch(value)):
            start = match.start(group)
            yield Found(CREDENTIAL, start, start + len(value))


def _unquoted(text: str) -> Iterator[Found]:
    for match in _UNQUOTED.finditer(text):
        value = match["value"].rstrip(_CLOSING)
        if is_telling(match["name"], value) and not _EXPRESSION.fullmatch(match["value"]):
            yield Found(CREDENTIAL, match.start("value"), match.start("value") + len(value))


def _flags(text: str) -> Iterator[Found]:
    """What follows `--password` and the like on a command line, unless it is a word, as in manuals."""
    for match in _FLAG.finditer(text) if "--" in text else ():
        group = match.lastindex or 0
        if is_telling("token", match[group]):
            yield Found(CREDENTIAL, *match.span(group))


def _entries(text: str) -> Iterator[Found]:
    for match in _ENTRY.finditer(text):
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
