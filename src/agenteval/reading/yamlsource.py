"""YAML that people write, as plain data with the place of everything: what a scalar means, and what is refused.

The same as in PyYAML's safe loader, except that dates and base-60 numbers (12:30) stay text, and that numbers which
JSON cannot hold are refused.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NoReturn

from agenteval.contracts.errors import FileError
from agenteval.contracts.models import DataPath, describe
from agenteval.reading.documents import INTEGERS, MAX_DEPTH, MAX_YAML_NODES
from agenteval.reading.places import Fault, Place, place_at, problem_at
from agenteval.text.lazy_regexes import patterns_at_first_use

with patterns_at_first_use():
    import yaml
    from yaml.events import (
        AliasEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        SequenceStartEvent,
        StreamEndEvent,
    )
    from yaml.resolver import Resolver

WORDS: dict[str, Any] = {
    **{form: True for word in ("yes", "true", "on") for form in (word, word.title(), word.upper())},
    **{form: False for word in ("no", "false", "off") for form in (word, word.title(), word.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
"""Words that do not mean themselves, with what they mean."""
NUMBER_SIGNS = frozenset("+-.0123456789")
"""The signs that a number can begin with: a scalar that is no word and begins otherwise is text."""
FOLDED = frozenset("\x85\u2028\u2029")
"""Signs that YAML takes for the ends of lines, and changes, unless they are escaped."""
MERGE = "<<"
"""The key that merges mappings into its own."""
KEY_WORDS = frozenset((*WORDS, MERGE))


class NoNumber:
    """A number that cannot be held, and why."""

    def __init__(self, why: str) -> None:
        self.why = why


def meaning(text: str) -> Any:
    """Return the value of a plain scalar: str, int, float, bool, None, or a `NoNumber`."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in NUMBER_SIGNS:
        return text
    return _number(text) if len(text) < 50 else _number.__wrapped__(text)  # no long texts in the cache


@lru_cache(maxsize=1024)
def _number(text: str) -> int | float | str | NoNumber:
    """The number that a plain scalar means; the text itself when it means none."""
    if len(text) <= 18 and text.isdecimal() and text.isascii() and text[0] != "0":
        return int(text)
    for tag, pattern in Resolver.yaml_implicit_resolvers[text[0]]:
        kind = tag.rpartition(":")[2]
        if kind in ("int", "float") and pattern.match(text):
            if ":" in text:
                return text
            return _integer(text) if kind == "int" else _float(text)
    return text


def _integer(text: str) -> int | str | NoNumber:
    digits = text.replace("_", "")
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-")
    base = {"0b": 2, "0x": 16}.get(digits[:2]) or (8 if digits[0] == "0" else 10)
    digits = digits[2:] if base in (2, 16) else digits
    if not digits:  # as in 0x_
        return text
    value = sign * int(digits, base) if len(digits) <= 100 else 2**100
    return value if value in INTEGERS else NoNumber("the integer does not fit into 64 bits")


def _float(text: str) -> float | NoNumber:
    digits = text.replace("_", "").lower()
    if digits.lstrip("+-") in (".inf", ".nan"):
        return NoNumber(f"{text} is not a number that JSON can hold")
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        return NoNumber("the number is too large")
    return value


NextEvent = Callable[[], Any]

_TAGS = {
    f"tag:yaml.org,2002:{name}": kind
    for name, kind in {"int": int, "float": float, "bool": bool, "null": type(None), "str": str}.items()
}
_VALUES = frozenset((AliasEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent))
"""The events that begin a value or a key."""
_COLLECTION_TAGS = {"tag:yaml.org,2002:map": MappingStartEvent, "tag:yaml.org,2002:seq": SequenceStartEvent}


class _Refused(Exception):  # noqa: N818 - it becomes a FileError as soon as the text is at hand
    """Something that the file may not say, at the place of an event or at an offset."""

    def __init__(self, code: str, message: str, at: Any, *, next_step: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.next_step = next_step
        self.offset, self.span = (at, 1) if isinstance(at, int) else _stretch(at)


def _stretch(event: Any) -> tuple[int, int]:
    """Offset and length of an event; of a mapping or list, only its beginning counts."""
    start: int = event.start_mark.index
    return start, event.end_mark.index - start if type(event) in (ScalarEvent, AliasEvent) else 1


Starts = dict[int, list[int]]
"""The offsets at which items of a list begin, except plain scalars, by the `id` of the list."""


def load_yaml(text: str, path: Path, *, max_nodes: int = MAX_YAML_NODES, starts: Starts | None = None) -> Any:
    """The data of one YAML document: dict, list, str, int, float, bool and None. An alias shares its value.

    `starts` is filled for all lists of the data, and holds as long as the data is kept.

    Raises `FileError`, located: `yaml.syntax`, `yaml.duplicate_key`, `yaml.tag`, `yaml.too_deep`,
    `yaml.too_many_nodes`, `yaml.recursive_alias`, `yaml.key_not_string`, `yaml.number`,
    `yaml.multiple_documents` or `yaml.empty`. `path` is only named in it.
    """
    try:
        return _Reader(text, max_nodes, {} if starts is None else starts).document()
    except _Refused as refused:
        refusal = refused
    except yaml.YAMLError as error:
        if _TOO_DEEP in str(error) and (mark := getattr(error, "problem_mark", None)):
            # The text before is too deep for this reader as well, and this reader finds the place.
            load_yaml(text[: mark.index], path, max_nodes=max_nodes)
        refusal = _syntax(text, error)
    except UnicodeEncodeError as error:
        refusal = _bad_character(text, error.start)
    fault = Fault(refusal.code, refusal.message, next_step=refusal.next_step)
    raise FileError([problem_at(place_at(text, refusal.offset, refusal.span), fault, path)])


_TOO_DEEP = "maximum nesting depth"
"""A part of libyaml's error, from version 0.2.6 on, for more than a thousand levels before its first event."""


def events(text: str) -> NextEvent:
    """A function that returns the parser's next event."""
    next_event: NextEvent = _parser()(text).get_event
    return next_event


def loader_of_texts() -> Any:
    """PyYAML's loader that makes texts of all scalars, by the same parser: what `load_yaml` reads, it reads too."""
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@cache
def _parser() -> Any:
    try:
        from yaml._yaml import CParser
    except ImportError:
        return _PythonParser
    return CParser


class _PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's own parser, where there is no libyaml."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


def _counted(next_event: NextEvent, max_nodes: int) -> NextEvent:
    """The events, up to too many nodes: stops a large file early. (A small one has too many only by aliases.)"""
    count = 0

    def next_counted() -> Any:
        nonlocal count
        event = next_event()
        if type(event) in _VALUES:
            count += 1
            if count > max_nodes:
                _refuse_size(event, max_nodes)
        return event

    return next_counted


def _refuse_size(event: Any, max_nodes: int) -> NoReturn:
    raise _Refused(
        "yaml.too_many_nodes",
        f"the file holds more than {max_nodes:,} values (each use of an alias counts in full)",
        event,
        next_step="move large data into a JSON file of its own, or raise limits.max_yaml_nodes in agenteval.yaml",
    )


_OPEN = (None, -1)
"""The entry of an anchor while its value is being read."""


class _Reader:
    """Builds the data of one text."""

    def __init__(self, text: str, max_nodes: int, starts: Starts) -> None:
        self.starts = starts
        next_event = events(text)
        self.next_event = next_event if len(text) < max_nodes else _counted(next_event, max_nodes)
        self.max_nodes = max_nodes
        self.anchors: dict[str, tuple[Any, int]] = {}  # the value, and its size in nodes
        self.nodes = 1

    def document(self) -> Any:
        """The data of the only document."""
        self.next_event()
        if type(self.next_event()) is StreamEndEvent:
            raise _Refused("yaml.empty", "the file is empty: it holds no data", 0)
        root = self.next_event()
        data = self.node(root, 1)
        self.next_event()
        event = self.next_event()
        if type(event) is not StreamEndEvent:
            raise _Refused(
                "yaml.multiple_documents", "a second document begins here; a file holds only one", event
            )
        if data is None and not root.value:
            raise _Refused("yaml.empty", "the file is empty: it holds no data", root)
        return data

    def mapping(self, depth: int) -> dict[str, Any]:
        """The mapping that has just begun."""
        next_event = self.next_event
        made: dict[str, Any] = {}
        merged: list[dict[str, Any]] | None = None
        while True:
            event = next_event()
            if type(event) is ScalarEvent and event.anchor is None and event.tag is None:
                key = event.value
                if event.implicit[0] and (key in KEY_WORDS or key[0] in NUMBER_SIGNS):
                    if key == MERGE:
                        if merged is not None:
                            _refuse_twice(event, key)
                        merged = self.merged(next_event(), depth)
                        continue
                    _check_key(event, _resolved(event))
            elif type(event) is MappingEndEvent:
                break
            else:
                key = self.unusual_key(event, depth)
            if key in made:
                _refuse_twice(event, key)
            event = next_event()
            if type(event) is ScalarEvent and event.anchor is None and event.tag is None:
                value = event.value
                if event.implicit[0] and (value in WORDS or value[0] in NUMBER_SIGNS):
                    value = _resolved(event)
                made[key] = value
            else:
                made[key] = self.node(event, depth)
        # The keys of the mapping itself win over merged ones, and earlier merged mappings over later ones.
        for other in merged or ():
            made = {**other, **made}
        self.count(2 * len(made), event)
        return made

    def sequence(self, depth: int) -> list[Any]:
        """The sequence that has just begun."""
        next_event = self.next_event
        made: list[Any] = []
        starts = self.starts[id(made)] = []
        while True:
            event = next_event()
            if type(event) is ScalarEvent and event.anchor is None and event.tag is None:
                value = event.value
                if event.implicit[0] and (value in WORDS or value[0] in NUMBER_SIGNS):
                    value = _resolved(event)
                made.append(value)
            elif type(event) is SequenceEndEvent:
                self.count(len(made), event)
                return made
            else:
                starts.append(event.start_mark.index)
                made.append(self.node(event, depth))

    def node(self, event: Any, depth: int) -> Any:
        """The value that begins with this event, inside `depth - 1` mappings and lists."""
        if type(event) is AliasEvent:
            return self.alias(event)
        if depth > MAX_DEPTH and type(event) is not ScalarEvent:
            message = f"mappings and lists are nested more than {MAX_DEPTH} levels deep"
            raise _Refused("yaml.too_deep", message, event)
        before = self.nodes
        # Until its value is whole an anchor is open: an alias inside of it would never end.
        if event.anchor is not None:
            self.anchors[event.anchor] = _OPEN
        value: Any
        if type(event) is ScalarEvent:
            value = _tagged(event) if event.tag else _resolved(event) if event.implicit[0] else event.value
        else:
            if event.tag and _COLLECTION_TAGS.get(event.tag) is not type(event):
                _refuse_tag(event)
            is_mapping = type(event) is MappingStartEvent
            value = self.mapping(depth + 1) if is_mapping else self.sequence(depth + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.nodes - before)
        return value

    def alias(self, event: Any) -> Any:
        """Return the value that an alias stands for."""
        name = event.anchor
        if name not in self.anchors:
            raise _Refused(
                "yaml.syntax",
                f"no anchor &{name} comes before the alias *{name}",
                event,
                next_step="put a text that begins with '*' in quotes",
            )
        value, size = found = self.anchors[name]
        if found is _OPEN:
            raise _Refused("yaml.recursive_alias", f"the alias *{name} stands inside its own anchor", event)
        self.count(size, event)
        return value

    def count(self, nodes: int, event: Any) -> None:
        """Count nodes towards the limit."""
        self.nodes += nodes
        if self.nodes > self.max_nodes:
            _refuse_size(event, self.max_nodes)

    def merged(self, event: Any, depth: int) -> list[dict[str, Any]]:
        """The mappings that `<<` names, those that win first."""
        value = self.node(event, depth)
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise _Refused("yaml.syntax", "<< merges mappings, and this is not one", event)
        return mappings

    def unusual_key(self, event: Any, depth: int) -> str:
        """A key that is anchored, tagged, an alias, or not a scalar at all."""
        return _check_key(event, self.node(event, depth))


def _refuse_twice(event: Any, key: str) -> NoReturn:
    raise _Refused(
        "yaml.duplicate_key", f"the key {key!r} is given twice", event, next_step="remove one of the two"
    )


def _check_key(event: Any, key: Any) -> str:
    if isinstance(key, str):
        return key
    raise _Refused(
        "yaml.key_not_string",
        f"a key must be a string, this one is {describe(key)}",
        event,
        next_step="put the key in quotes",
    )


def _refuse_tag(event: Any) -> NoReturn:
    name = event.tag.replace("tag:yaml.org,2002:", "!!")
    raise _Refused("yaml.tag", f"the tag {name} has no meaning here", event, next_step="remove the tag")


def _tagged(event: Any) -> Any:
    kind = _TAGS.get(event.tag)
    if kind is None:
        _refuse_tag(event)
    if kind is str:
        return event.value
    value = _resolved(event)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        name = event.tag.rpartition(":")[2]
        raise _Refused(
            "yaml.tag", f"!!{name} does not fit {event.value!r}", event, next_step="remove the tag"
        )
    return value


def _resolved(event: Any) -> Any:
    value = meaning(event.value)
    if type(value) is NoNumber:
        raise _Refused("yaml.number", value.why, event, next_step="put it in quotes if it is meant as text")
    return value


def _syntax(text: str, error: yaml.YAMLError) -> _Refused:
    from agenteval.reading.yamlsyntax import trouble

    found = trouble(text, error)
    if found is None:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        return _bad_character(text, bad.start() if bad else 0)
    return _Refused("yaml.syntax", found.message, found.offset, next_step=found.next_step)


def _bad_character(text: str, offset: int) -> _Refused:
    message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML"
    return _Refused("yaml.syntax", message, offset, next_step="remove it, or write it as an escape in quotes")


def place(text: str, path: DataPath) -> Place:
    """Find the value at `path` in a YAML text, or else the nearest above it."""
    return places(text, [(path, False)])[0]


def places(text: str, wanted: Sequence[tuple[DataPath, bool]]) -> list[Place]:
    """Find values, or with `at_key` their keys, by (path, at_key), in one reading of the text."""
    from agenteval.reading.yamlsyntax import find_places

    return find_places(text, wanted)
