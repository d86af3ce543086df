"""What fuzzing is made of: words that tests and recordings share, hostile texts, patterns, JSON, traces and parameters.

Everything is chosen by the bytes of a tape, so that one engine can shrink an input and another can grow it by what code
it reaches. An empty tape chooses the first, which is the plainest, of everything.
"""

import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from agenteval.contracts.models import Between, Model
from agenteval.contracts.trace import CAPABILITY_FLAGS, Capabilities, Trace, TraceMessage
from builders import Step, call, error, make_trace, memory_read, memory_write, received, result

T = TypeVar("T")

TOOLS = ("web_search", "web_fetch", "outbound_send", "shell", "mcp__a__b", "*", "web_*", "[a", "?", "", "ü")
GROUPS = ("family", "work", "group-ops", "", "../work", "a/b", "*")
KEYS = (
    "query",
    "url",
    "channel",
    "to",
    "content",
    "text",
    "path",
    "a",
    "a.b",
    "0",
    "x-a",
    "",
    "id",
    "message",
)
WORDS = (*TOOLS, *GROUPS, *KEYS, "call-1", "t1", "timeout", "2026-01-31", "user", "digest", "Bremen", "sorry")

FRAGMENTS = (
    *(
        "- ",
        "* ",
        "1. ",
        "• ",
        "\n",
        "\n\n",
        " ",
        "\t",
        ". ",
        "! ",
        "? ",
        ": ",
        ", ",
        "; ",
        "– ",
        "…",
        "```\n",
    ),
    *(
        "> ",
        "# ",
        "| a | b |\n",
        "“",
        "”",
        '"',
        "'",
        "(",
        ")",
        "[1]",
        "[",
        "]",
        "{",
        "}",
        "【3†a】",
        "[^1]: ",
    ),
    *("The meeting is on 3 May 2026 at 14:30. ", "It costs $1,234.56 ", "42 %", "1e308", "-0", "1/0", "½ "),
    *(
        "https://a.example/x?utm_source=y#z ",
        "www.example.com ",
        "http://[::1",
        "10.1234/abc ",
        "arXiv:2401.00001 ",
    ),
    *(
        "According to Reuters, ",
        "Source: ",
        "Sources:\n",
        "sorry, I could not ",
        "I was unable to ",
        "done",
        "Sent. ",
    ),
    *(
        "Which report do you mean?",
        "Anything else?",
        "prefers short bullets",
        "not X but Y ",
        "do not ",
        "never ",
    ),
    *(
        "anna@example.com ",
        "+49 170 1234567 ",
        "4111 1111 1111 1111 ",
        "192.168.0.1 ",
        "AKIAIOSFODNN7EXAMPLE ",
    ),
    *("/workspace/group/work/CLAUDE.md ", "../../etc/passwd", "C:\\x", "$(id)", "{{x}}", "%s", "\\", "\\n"),
    *(
        "a" * 40,
        "A.",
        "e.g. ",
        "U.S. ",
        "3.14.15 ",
        "ß",
        "İ",
        "ı",
        "ﬀ",
        "é",
        "日本語。",
        "١٢٣",
        "\u202e",
        "\u200b",
        "\x1b[31m",
    ),
    *(
        "\ud800",
        "😀",
        "\ufeff",
        "\0",
        "\r\n",
        "\r",
        "\u2028",
        "\x85",
        "a\u0301",
        "--- \n",
        "null",
        "true",
        "NaN",
    ),
)
"""What texts are glued together from: all that some rule of the catalogue looks at, and what breaks programs."""

PATTERNS = (
    *(
        "a",
        "^- ",
        r"\d+",
        "(a|a)+$",
        "(?:a|aa)+$",
        "(.*)*x",
        "(a+)+b",
        r"(\w+\s?)*$",
        "(?i)x",
        "[[a]",
        "(",
        "*",
        "a{3}",
    ),
    *(
        r"\p{L}+",
        "(?<=a)b",
        r"(?P<n>a)\g<n>",
        "(?R)",
        "((?R)a)?",
        "(?:abc){e<=2}",
        "",
        "^$",
        "[^a]",
        r"\b",
        "$^",
        "a{2,1}",
    ),
    *(
        "(" * 60 + ")" * 60,
        "a{1000000}",
        "(?:a?){50}a{50}",
        "(?s:.)*\\Z",
        r"\K",
        "(?|(a)|(b))",
        "(*FAIL)",
        "\\",
        "(?#",
    ),
)


KEYWORDS: dict[str, tuple[str, ...]] = {
    "schema": (
        *(
            "items",
            "additionalProperties",
            "not",
            "contains",
            "if",
            "then",
            "else",
            "propertyNames",
            "extends",
        ),
        *("unevaluatedProperties", "unevaluatedItems", "x"),
    ),
    "schemas": ("anyOf", "allOf", "oneOf", "prefixItems"),
    "mapping": (
        "properties",
        "$defs",
        "patternProperties",
        "dependentSchemas",
        "definitions",
        "dependencies",
    ),
    "name": ("type", "$ref", "pattern", "$dynamicRef", "$anchor", "$id", "$schema", "format", "disallow"),
    "value": ("const",),
    "values": ("enum", "examples"),
    "names": ("required",),
    "number": ("minItems", "maxLength", "minimum", "multipleOf", "uniqueItems", "minContains"),
}
"""Keywords of JSON Schema by what stands under them."""
NAMES_IN_SCHEMAS = (
    *(
        "string",
        "object",
        "array",
        "null",
        "any",
        "strin",
        "#",
        "#/$defs/a",
        "#/x",
        "#/properties",
        "http://a.example/",
        "~",
    ),
    *(
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "a",
        "^a",
        "(",
        "(a|a)+$",
    ),
    *(
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-03/schema#",
        "query",
        "#a",
        "",
    ),
)
NUMBERS = (0, 1, 2, 3, 10, -1, 0.5, 1.5, 2**31, 2**63, -(2**63), 1e300, -0.0)
ASKED = (
    "Hello?",
    "Please use short bullets from now on.",
    "Not Monday, Tuesday.",
    "Send it to the other group.",
)


class Tape:
    """Bytes that choose; after the last one, zeros."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def below(self, bound: int) -> int:
        """A number from 0 to `bound - 1`; `bound` is at most 65,536."""
        number = 0
        for _ in range(1 if bound <= 256 else 2):
            number = number << 8 | (self.content[self.at] if self.at < len(self.content) else 0)
            self.at += 1
        return number % bound

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.below(len(options))]

    def chance(self, one_in: int) -> bool:
        """Rarely true."""
        return self.below(one_in) == one_in - 1

    def some(self, most: int, make: Callable[["Tape"], T]) -> list[T]:
        """Up to `most` things."""
        return [make(self) for _ in range(self.below(most + 1))]

    def bytes(self, most: int) -> bytes:
        """Up to `most` bytes, as they are."""
        return bytes(self.some(most, lambda tape: tape.below(256)))


def word(tape: Tape) -> str:
    """A word that means something to some rule."""
    return tape.pick(WORDS)


def text(tape: Tape) -> str:
    """A text glued together, or of any signs; now and then a very long one."""
    if tape.chance(12):
        unit = "".join(tape.pick(FRAGMENTS) for _ in range(1 + tape.below(3)))
        return unit * min(tape.pick((3, 50, 1000, 20_000)), 20_000 // (len(unit) or 1)) + tape.pick(FRAGMENTS)
    if tape.chance(12):
        return "".join(map(chr, tape.some(8, lambda each: each.below(0x3000))))
    return "".join(tape.some(10, lambda each: each.pick(FRAGMENTS)))


def clean(content: str) -> str:
    """The text as a file can hold it: without halves of surrogate pairs."""
    return content.encode(errors="replace").decode()


def data(tape: Tape, depth: int = 3) -> Any:
    """Any JSON."""
    kind = tape.below(9 if depth else 6)
    if kind < 6:
        scalars: list[Callable[[], Any]] = [
            lambda: word(tape),
            lambda: text(tape),
            lambda: tape.pick(NUMBERS),
        ]
        scalars += [lambda: None, lambda: tape.chance(2), lambda: text(tape)]
        return scalars[kind]()
    if kind == 6:
        return tape.some(3, lambda each: data(each, depth - 1))
    return mapping(tape, depth - 1)


def mapping(tape: Tape, depth: int = 2) -> dict[str, Any]:
    """A mapping, such as the arguments of a call."""
    return {tape.pick(KEYS): data(tape, depth) for _ in range(tape.below(4))}


def schema(tape: Tape, depth: int = 3) -> Any:
    """A JSON Schema, as far as its form goes; now and then not even that."""
    if not depth or tape.chance(6):
        return tape.pick(
            (
                {"type": "string"},
                {"type": ["object", "array"]},
                True,
                {"pattern": "(a|a)+$"},
                {"$ref": "#/$defs/a"},
            )
        )
    made = {}
    for _ in range(1 + tape.below(3)):
        kind = tape.pick(list(KEYWORDS))
        made[tape.pick(KEYWORDS[kind])] = _under(tape, data(tape, 1) if tape.chance(20) else kind, depth - 1)
    return made


def _under(tape: Tape, kind: Any, depth: int) -> Any:
    """What stands under a keyword."""
    kinds: dict[str, Callable[[], Any]] = {
        "schema": lambda: schema(tape, depth),
        "schemas": lambda: [schema(tape, depth) for _ in range(1 + tape.below(3))],
        "mapping": lambda: {tape.pick(NAMES_IN_SCHEMAS): schema(tape, depth) for _ in range(tape.below(3))},
        "name": lambda: tape.pick(NAMES_IN_SCHEMAS),
        "value": lambda: data(tape, 1),
        "values": lambda: tape.some(3, lambda each: data(each, 1)),
        "names": lambda: list({tape.pick(NAMES_IN_SCHEMAS) for _ in range(2)}),
        "number": lambda: tape.pick((True, *NUMBERS)),
    }
    return kinds[kind]() if isinstance(kind, str) and kind in kinds else kind


def params_of(cls: type[Model], tape: Tape) -> dict[str, Any]:
    """Parameters for a model, by its declared fields: of the right types, and mostly accepted."""
    made = {}
    for field in fields(cls):  # type: ignore[arg-type]
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed or tape.chance(3):
            made[field.name] = _value(field.type, field.name, tape)
    return made


def _value(kind: Any, name: str, tape: Tape) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounds = next((mark for mark in args[1:] if isinstance(mark, Between)), None)
        return _number(args[0], bounds, tape) if bounds else _value(args[0], name, tape)
    if origin in (Union, types.UnionType):
        return _value(tape.pick(args), name, tape)
    if origin is Literal:
        return tape.pick(args)
    if origin is list:
        return tape.some(3, lambda each: _value(args[0], name, each))
    if origin is dict:
        if "schema" in name:
            return schema(tape)
        return {tape.pick(KEYS): _value(args[1], name, tape) for _ in range(1 + tape.below(2))}
    if isinstance(kind, type) and issubclass(kind, Model):
        return params_of(kind, tape)
    if kind is str:
        return (
            tape.pick(PATTERNS)
            if name in ("regex", "patterns") and tape.chance(2)
            else tape.pick((word, text))(tape)
        )
    simple = {
        int: tape.pick((1, 0, 2, 3, -1)),
        float: tape.pick(NUMBERS),
        bool: tape.chance(2),
        type(None): None,
    }
    return simple[kind] if kind in simple else data(tape)


def _number(kind: Any, bounds: Between, tape: Tape) -> Any:
    low, high = bounds.low, bounds.high
    some = [low + 1, low, low + 3, high if high is not None else low + 10**6]
    number = tape.pick([each for each in some if high is None or each <= high])
    return int(number) if kind is int else number


def steps(tape: Tape) -> list[Step]:
    """A call with what came of it, or one event of any kind."""
    tool = tape.pick(TOOLS) or "web_search"
    if tape.chance(3):
        return [_event(tape, tool)]
    ask = call(tool, None, **mapping(tape))
    outcomes: list[Callable[[], list[Step]]] = [
        lambda: [ask, result(tool, value=data(tape))],
        lambda: [ask, error(tool, error_type=word(tape), message=text(tape))],
        lambda: [ask, result(tool, value=data(tape), success=False)],
        lambda: [ask, error(tool, message=text(tape)), ask, result(tool, value=text(tape))],
        lambda: [ask],
    ]
    return tape.pick(outcomes)()


def _event(tape: Tape, tool: str) -> Step:
    call_id = tape.pick((None, "call-1", "call-2"))
    kinds: list[Callable[[], Step]] = [
        lambda: memory_read(tape.pick(GROUPS), data(tape), path=word(tape)),
        lambda: memory_write(tape.pick(GROUPS), data(tape), change_summary=tape.pick((None, text(tape)))),
        lambda: received(text(tape)),
        lambda: result(tool, call_id, data(tape)),
        lambda: error(tool, call_id, error_type=word(tape)),
        lambda: call(tool, call_id, **mapping(tape)),
    ]
    event = tape.pick(kinds)()
    if tape.chance(3):
        event.extra.update(task_id=word(tape), ts=tape.pick((None, "2026-01-01T00:00:00Z", "x")))
    return event


def trace(tape: Tape) -> Trace:
    """A trace of random events, built as an adapter would."""
    made = make_trace(
        *(step for part in tape.some(5, steps) for step in part),
        output=None if tape.chance(8) else text(tape),
        trigger=tape.pick(("user_message", "scheduler")),
        group_id=tape.pick((*GROUPS, None)),
        task_id=tape.pick((None, "t1", "digest", "")),
        scheduler_context=tape.pick((None, {}, {"task_id": "t1"}, mapping(tape))),
        capabilities=Capabilities(**{name: not tape.chance(10) for name in CAPABILITY_FLAGS}),
        asked=tape.pick((*ASKED, None, text(tape))),
        status=tape.pick(("success", "partial", "failed", "blocked")),
    )
    made.metrics.token_usage = tape.pick((None, {}, {"input_tokens": 5, "total_tokens": data(tape, 0)}))
    made.metrics.cost_usd = tape.pick((None, 0, 0.1, 1e9))
    made.input_messages += [TraceMessage(role="user", content=said) for said in tape.some(2, text)]
    return made


def case(tape: Tape) -> dict[str, Any]:
    """What overrides a valid test case: its scenario and its tools."""
    scenario: dict[str, Any] = {"group_id": tape.pick([name for name in GROUPS if name])}
    others: list[Callable[[], dict[str, Any]]] = [
        dict,
        lambda: {"memory_snapshot": data(tape)},
        lambda: {"other_group_state": [{"group_id": tape.pick(GROUPS), "memory_snapshot": data(tape)}]},
        lambda: {"other_group_state": {tape.pick(GROUPS): data(tape)}},
        lambda: {"mounts": tape.some(2, data)},
        lambda: {"prior_messages": [{"role": "user", "content": text(tape)}]},
    ]
    for _ in range(2):
        scenario |= tape.pick(others)()
    names = [name for name in TOOLS if name]
    tools: dict[str, Any] = {"available": tape.some(4, lambda each: each.pick(names))}
    if tape.chance(2):
        limits: Sequence[Any] = (0, 2, {tape.pick(names): 1})
        tools["policy"] = {
            "deny": tape.some(2, lambda each: each.pick(names)),
            "max_calls": tape.pick(limits),
        }
        if tape.chance(2):
            tools["policy"]["allow"] = tape.some(2, lambda each: each.pick(names))
    return {"scenario": scenario, "tools": tools}
