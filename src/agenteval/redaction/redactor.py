"""Redaction: what is sensitive stays out of everything that leaves the process.

Three kinds of values are sensitive: those of named fields (SPEC 13, `redact_fields`), secrets and e-mail addresses,
found by their form, and environment variables that the run has to hide. Verdicts rest on the real values. A redacted
value becomes `[redacted:<kind>:<short hash>]`, so that equal values still look equal; a piece of one becomes
`[redacted:part]`.
"""

import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from agenteval.contracts.errors import FileError, Problem
from agenteval.contracts.json_values import json_in
from agenteval.contracts.models import DataPath, plain
from agenteval.reading.documents import read_data
from agenteval.redaction.keys import Found
from agenteval.redaction.occurrences import (
    SHORTEST_TEXT,
    KnownValues,
    is_token,
    token,
    tokens_in,
)
from agenteval.redaction.secrets import (
    CREDENTIAL,
    detect,
    is_login,
    is_secret,
    is_value,
    key_of,
    may_contain,
    named_items,
    names_secret,
    spelled,
)
from agenteval.text.names import is_glob
from agenteval.text.parts import texts

SECRETS, EMAIL, FIELD, ENVIRONMENT = "secrets", "email", "field", "env"
_CHUNK = 1 << 20
_OVERLAP = 1 << 12
_LONG_NUMBER = 8
"""From this many digits on a number under the name of a secret is hidden wherever it stands; a shorter one may be a count."""


class RedactionRules:
    """The rules of a whole run: kinds that are found by their form (`secrets`, `email`), and known values."""

    def __init__(self, kinds: Iterable[str] = (SECRETS, EMAIL), values: Iterable[str] = ()) -> None:
        self.kinds = frozenset(kinds)
        self.known = KnownValues()
        """The values of environment variables."""
        for value in values:
            self.known.add(value, ENVIRONMENT)

    def suspects(self, data: bytes) -> bool:
        """Return whether a text, or JSON in UTF-8, may hold something of these kinds. Quick; errs only towards yes."""
        if EMAIL in self.kinds and b"@" in data:
            return True
        if SECRETS not in self.kinds:
            return False
        if len(data) <= _CHUNK:
            return may_contain(data)
        return any(may_contain(data[at : at + _CHUNK + _OVERLAP]) for at in range(0, len(data), _CHUNK))

    def found(self, text: str) -> list[Found]:
        """Find everything of these kinds in a text, in order, without overlaps, and outside of tokens."""
        found = list(detect(text)) if SECRETS in self.kinds else []
        if EMAIL in self.kinds and "@" in text:
            from agenteval.redaction.personal_data import emails

            escaped = (text[start - 1 : start] == "\\" and text[start] in "nrt" for start, _ in emails(text))
            addresses = [
                Found(EMAIL, start + is_escape, end)  # after the letter of an escaped line break
                for (start, end), is_escape in zip(emails(text), escaped, strict=True)
            ]
            found += _apart(addresses, [(each.start, each.end) for each in found])
            found.sort(key=lambda each: each.start)
        return _apart(found, tokens_in(text)) if found else found


def _apart(found: Sequence[Found], spans: Sequence[tuple[int, int]]) -> list[Found]:
    """Those that overlap none of the spans, which are in order and do not overlap each other."""
    starts = [start for start, _ in spans]
    before = (bisect_left(starts, each.end) for each in found)
    return [each for each, at in zip(found, before, strict=True) if at == 0 or spans[at - 1][1] <= each.start]


DEFAULT_RULES = RedactionRules()


_MESSAGE = 256
"""The characters of the end of a message, and of the beginning of the next, that are read as one text."""


class Redactor:
    """Redacts what belongs to one test, or, without names, to a whole run.

    `names` are fields whose values are redacted: a name without a dot matches a key at any depth; a dotted path
    matches the end of a path; both may be globs: `token`, `args.api_key`, `*.password`. The place in a list may be left
    out, or given: `calls.token`, `calls.*.token`, `calls.0.token`. Their text is replaced wherever else it occurs,
    whatever its case, and so is a secret.

    `text` and `data` redact what quotes the inputs of a test, once `learn` has seen the inputs; `redacted` treats what
    comes from elsewhere.
    """

    def __init__(self, names: Iterable[str] = (), rules: RedactionRules = DEFAULT_RULES) -> None:
        self.names = [tuple(name.split(".")) for name in names]
        self.rules = rules
        self._secrets = rules.known.copy()
        self._fields = KnownValues()
        self._credentials = False

    def learn(self, data: Any) -> None:
        """Remember what is sensitive in `data`, so that messages and pieces of it can be redacted."""
        self.learn_fields(data)
        self.learn_secrets(data)

    @property
    def knows_secrets(self) -> bool:
        """True if anything in the inputs looks like a secret."""
        return bool(self._secrets or self._credentials)

    def learn_files(self, problems: Iterable[Problem]) -> None:
        """Remember the secrets of the files that problems are about: an excerpt may show a part of a line."""
        for path in {problem.path for problem in problems if problem.path and problem.excerpt}:
            try:
                text = read_data(path, sys.maxsize, a_test=True).decode("utf-8-sig", errors="replace")
            except FileError:
                continue
            self.learn_secrets(text)

    def learn_fields(self, data: Any) -> None:
        """Remember the texts under redacted fields."""
        if self.names:
            self._learn_fields(plain(data), ())

    def learn_secrets(self, data: Any) -> None:
        """Remember what looks like a secret or an address, and the values of keys such as `password`."""
        if self._suspects(data):
            self._learn_secrets(plain(data))

    def _suspects(self, data: Any) -> bool:
        if not self.rules.kinds:
            return False
        import orjson

        try:
            content = data.encode(errors="replace") if isinstance(data, str) else orjson.dumps(data)
        except TypeError:  # what is not JSON is read with more patience
            return True
        return self.rules.suspects(content)

    def _learn_fields(self, data: Any, path: DataPath) -> None:
        if path and self._named(path):
            for text in texts(data):
                self._fields.add(text, FIELD)
        elif isinstance(data, dict):
            for key, value in data.items():
                self._learn_fields(value, (*path, *str(key).split(".")))
        elif isinstance(data, list | tuple):
            for place, value in enumerate(data):
                self._learn_fields(value, (*path, place))
        elif isinstance(data, str) and (held := json_in(data)) is not None:
            self._learn_fields(held, path)

    def _learn_secrets(self, data: Any) -> None:
        before = ""
        for key, text in _strings(data):
            found = self.rules.found(text)
            if key in ("content", "text"):
                self._learn_over_two(before.rstrip()[-_MESSAGE:], text.lstrip()[:_MESSAGE])
                before = text
            if self._is_credential(key, text):
                self._credentials = True
                telling = is_secret(key, text) or (len(text) >= _LONG_NUMBER and text.isdigit())
                if telling and text not in self._fields.tokens and not found:
                    self._secrets.add(text, CREDENTIAL)
            for each in found:
                self._learn_found(text, each)

    def _learn_found(self, text: str, found: Found) -> None:
        value = text[found.start : found.end]
        meant = found.plain or value
        if found.kind == CREDENTIAL and meant in self._fields.tokens:
            return
        self._secrets.add(meant, found.kind, in_pieces=found.kind != EMAIL)
        if value != meant:
            self._secrets.add(value, found.kind, shown=self._token(meant, found.kind))

    def _learn_over_two(self, end: str, start: str) -> None:
        """Remember a secret of two messages: the parts of a key, or the answer to the question for a password."""
        text = f"{end}\n{start}"
        if SECRETS in self.rules.kinds and end and may_contain(text.encode(errors="replace")):
            for found in detect(text):
                # A secret that ends in the first message is found there already.
                if found.end > len(end):
                    self._learn_found(text, found)

    def _is_credential(self, key: str, text: str) -> bool:
        if SECRETS not in self.rules.kinds:
            return False
        return (names_secret(key) and is_value(text, key)) or (key.endswith("auth") and is_login(text))

    def text(self, text: str) -> str:
        """Redact in a text all that was learned."""
        return self._fields.mask(self._secrets.mask(text))

    def name(self, text: str) -> str:
        """Redact the secrets of an id, tag or path.

        A name distinguishes things, so words under redacted fields stay, and each part of a secret has its own token.
        """
        return self._secrets.mask(text, part=lambda piece: token(piece, "part"))

    def redacted(self, text: str) -> str:
        """Redact in a text all that was learned, and all that looks like a secret or an address."""
        if self.rules.suspects(text.encode(errors="replace")):
            text = self._without_found(text)
        return self.text(text)

    def _without_found(self, text: str) -> str:
        kept, start = [], 0
        for found in self.rules.found(text):
            meant = found.plain or text[found.start : found.end]
            kept += [text[start : found.start], self._token(meant, found.kind)]
            start = found.end
        return "".join((*kept, text[start:])) if kept else text

    def data(self, data: Any) -> Any:
        """Redact in data the named fields, and all that was learned."""
        if not (self.names or self._credentials or self._secrets):
            return data
        return self._walk(data, self._text)

    def redact_values(self, data: Any, key: str = "") -> Any:
        """Redact secrets, addresses and values of the run in plain data that nothing was learned from."""
        return self._walk(data, lambda text, _: self._secrets.mask(self._without_found(text)), key=key)

    def _walk(
        self, data: Any, shown: Callable[[str, DataPath], str], path: DataPath = (), key: str = ""
    ) -> Any:
        """Redact data: each text by `shown`, and every value that its place makes sensitive by a token."""
        if path and self._named(path):
            return self._token(
                data if isinstance(data, str) else json.dumps(data, sort_keys=True, default=str), FIELD
            )
        if isinstance(data, str):
            return self._token(data, CREDENTIAL) if self._is_credential(key, data) else shown(data, path)
        if isinstance(data, dict):
            return {
                shown(str(name), ()): self._walk(
                    value, shown, (*path, *str(name).split(".")), key_of(data, name, key)
                )
                for name, value in data.items()
            }
        if isinstance(data, list | tuple):
            named = enumerate(named_items(data, key))
            return [self._walk(value, shown, (*path, place), name) for place, (name, value) in named]
        return self._number(data, key)

    def _number(self, data: Any, key: str) -> Any:
        number = spelled(data)
        if number is not None and self._is_credential(key, number):
            return self._token(number, CREDENTIAL)
        # A short number would hide every count that happens to be equal.
        if number is not None and len(number) >= SHORTEST_TEXT:
            return self._secrets.tokens.get(number) or self._fields.tokens.get(number) or data
        return data

    def _text(self, text: str, path: DataPath) -> str:
        """A text; one that is JSON is written anew when a redacted field would keep something."""
        shown = self.text(text)
        if self.names and (held := json_in(text)) is not None:
            with suppress(RecursionError):  # nested too deeply for more than reading it
                hidden = self._walk(held, self._text, path)
                if hidden != held and hidden != json_in(shown):
                    return json.dumps(hidden, ensure_ascii=False)
        return shown

    def may_show_in(self, data: Any) -> bool:
        """Return whether bytes or data may hold something sensitive. If not, they can be written as they are."""
        if self._secrets or self._fields or self._credentials:
            return True
        return self.rules.suspects(data) if isinstance(data, bytes) else self._suspects(data)

    def leaks(self, data: Any, quoted: Any) -> list[str]:
        """The kinds of sensitive values that redacted data still shows, sorted; empty if redaction has worked.

        The values of redacted fields are looked for only in `quoted`, the part of `data` that quotes a test's inputs:
        elsewhere they may be words that every result has.
        """
        kinds = set()
        for key, text in _strings(data):
            if self._is_credential(key, text):
                kinds.add(CREDENTIAL)
            kinds.update(found.kind for found in self.rules.found(text))
            kinds.update(filter(None, [self._secrets.kind_in(text)]))
        if self._fields:
            kinds.update(filter(None, (self._fields.kind_in(text) for _, text in _strings(quoted))))
        return sorted(kinds)

    def _token(self, text: str, kind: str) -> str:
        """The token of a value, the same everywhere; a token stays as it is."""
        if is_token(text):
            return text
        return self._secrets.tokens.get(text) or self._fields.tokens.get(text) or token(text, kind)

    def _named(self, path: DataPath) -> bool:
        return any(_ends_in(path, name) for name in self.names)


def _ends_in(path: DataPath, name: tuple[str, ...]) -> bool:
    """Return whether a path ends in a name; a name may leave out list indices, and without a dot it is one key."""
    if len(name) == 1:
        return isinstance(path[-1], str) and _same(name[0], path[-1])
    left = {len(name)}  # how much of the name may be left to be found
    for step in reversed(path):
        found = {size - 1 for size in left if _same(name[size - 1], str(step))}
        if 0 in found:
            return True
        left = found | left if isinstance(step, int) else found
    return False


def _same(pattern: str, key: str) -> bool:
    return fnmatchcase(key, pattern) if is_glob(pattern) else pattern == key


def _strings(data: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in plain data, keys included, with the key that it stands under; and numbers under names of secrets."""
    if isinstance(data, str):
        yield key, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield "", str(name)
            yield from _strings(value, key_of(data, name, key))
    elif isinstance(data, list | tuple):
        for name, value in named_items(data, key):
            yield from _strings(value, name)
    elif (number := spelled(data)) is not None and names_secret(key):
        yield key, number


_redactor = Redactor()


def redact_with(redactor: Redactor) -> None:
    """From now on redact what is written with this redactor."""
    global _redactor  # noqa: PLW0603 - there is one process, and one stdout
    _redactor = redactor


def redactor_in_force() -> Redactor:
    """The redactor of all that is written."""
    return _redactor
