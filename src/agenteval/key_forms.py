"""Finds keys and tokens by the form that services give them.

The forms are rules of the library `detect-secrets`, and a few that it lacks. Its rules of entropy are not used: they
take every id for a secret. Importing the library takes as long as a whole run, so it is loaded only once a text has a
long word of the right kind (`has_form`). Times are linear in the length of the text.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from agenteval.lazyregex import lazy

Key = tuple[str, int, int]
"""A key of some kind, from a place up to another in the text."""


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

KEY_KINDS = frozenset({*(rule.kind for rule in LIBRARY), *(kind for kind, _ in OWN)})
"""All kinds of keys that are told apart."""


def keys_in(text: str) -> Iterator[Key]:
    """All keys of known forms; they may overlap."""
    yield from _by_library(text)
    yield from ((kind, *match.span()) for kind, form in OWN for match in form.finditer(text))


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


def has_form(data: bytes) -> bool:
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


def _by_library(text: str) -> Iterator[Key]:
    for rule, patterns in _patterns():
        for pattern in patterns:
            done = 0
            for start, end in _matches(rule, pattern, text):
                if start >= done:
                    begin, done = _whole(rule.kind, text, start, end)
                    yield rule.kind, begin, done


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
