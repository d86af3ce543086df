"""Golden matching: the three strategies, and the text of values, against a model of the rules."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.openwop.tasks import GoldenMatch, parsed, text_of
from builders import make_case, make_trace


def matches(strategy: Any, value: Any, output: str | None) -> bool:
    """Whether an output is as a golden task expects."""
    return message(strategy, value, output)[0]


def message(strategy: Any, value: Any, output: str | None) -> tuple[bool, str]:
    """The verdict on an output, and what it says."""
    trace = make_trace(output=output, status="success" if output is not None else "failed")
    verdict = GoldenMatch(strategy=strategy, value=value).check(trace, make_case())
    return verdict.passed, verdict.message


@pytest.mark.parametrize(
    ("strategy", "value", "output", "expected"),
    [
        ("exact", "READY", "READY", True),
        ("exact", "READY", "READY\n", False),
        ("exact", "READY", " READY", False),
        ("exact", "READY", "ready", False),
        ("exact", "é", "e\u0301", False),
        ("exact", "", "", True),
        ("exact", 1.0, "1", True),
        ("exact", 1, "1.0", False),
        ("exact", True, "true", True),
        ("exact", None, "null", True),
        ("exact", None, "", False),
        ("exact", {"b": 1.0, "a": ["ü", None]}, '{"b":1,"a":["ü",null]}', True),
        ("exact", {"b": 1, "a": 2}, '{"a":2,"b":1}', False),
        ("exact", {"a": 1}, '{"a": 1}', False),
        ("contains", "30 days", "within 30 days.", True),
        ("contains", "30 Days", "within 30 days.", False),
        ("contains", "30 days ", "within 30 days", False),
        ("contains", 30.0, "within 30 days", True),
        ("contains", [1, 2], "got [1,2] back", True),
        ("contains", [1, 2], "got [1, 2] back", False),
        ("json-match", {"a": 1, "b": [1, 2]}, ' {"b": [1,\n2], "a": 1.0} ', True),
        ("json-match", {"b": [1, 2]}, '{"b": [2, 1]}', False),
        ("json-match", True, "1", False),
        ("json-match", 1, "true", False),
        ("json-match", 0, "false", False),
        ("json-match", [True], "[1]", False),
        ("json-match", 1, "1.0", True),
        ("json-match", {"a": None}, "{}", False),
        ("json-match", {}, '{"a": null}', False),
        ("json-match", None, "null", True),
        ("json-match", None, "", False),
        ("json-match", "READY", "READY", False),
        ("json-match", "READY", '"READY"', True),
        ("json-match", {"a": 1}, '"{\\"a\\": 1}"', False),
        ("json-match", {"a": 1}, '```json\n{"a": 1}\n```', False),
        ("json-match", 9007199254740993, "9007199254740992", False),
    ],
)
def test_matching(strategy: str, value: Any, output: str, expected: bool) -> None:
    """The traps: blanks, case, kinds of values, order, null and absent, text that is not JSON."""
    assert matches(strategy, value, output) is expected


@pytest.mark.parametrize("strategy", ["exact", "contains", "json-match"])
@pytest.mark.parametrize("value", ["", None, "x"])
def test_no_output_matches_nothing(strategy: str, value: Any) -> None:
    """A run without a final output is no empty text and no null."""
    assert not matches(strategy, value, None)


def test_an_empty_text_is_contained_vacuously() -> None:
    """Every output contains the empty text: that is no proof of anything. Not every output is empty."""
    verdict = GoldenMatch(strategy="contains", value="").check(make_trace(), make_case())
    assert (verdict.passed, verdict.exercised, verdict.reason) == (
        True,
        False,
        "every output contains the empty text",
    )
    assert GoldenMatch(strategy="exact", value="").check(make_trace(output=""), make_case()).exercised


@pytest.mark.parametrize(
    ("strategy", "value", "output", "told"),
    [
        (
            "exact",
            "READY",
            "READy!",
            'expected exactly "READY", got "READy!", which differs from character 5 onwards',
        ),
        (
            "exact",
            "READY",
            "READY!",
            'expected exactly "READY", got "READY!", which differs from character 6 onwards',
        ),
        (
            "exact",
            "- one\n" * 50 + "two",
            "- one\n" * 50 + "too",
            (
                r'expected exactly "…\n- one\n- one\n- one\ntwo", got "…\n- one\n- one\n- one\ntoo", '
                "which differs from character 302 onwards"
            ),
        ),
        ("exact", "x", None, 'expected exactly "x", got no final output'),
        ("contains", "x", "yes", 'expected a text that contains "x", got "yes"'),
        (
            "json-match",
            {"a": {"b": 1}, "c": 2},
            '{"a": {"b": 2}, "d": 3}',
            """expected JSON equal to {"a": {"b": 1}, "c": 2}, got a difference:
  a.b: the golden value has 1, the output 2
  c: only the golden value has it, 2
  d: only the output has it, 3""",
        ),
        (
            "json-match",
            1,
            "2",
            "expected JSON equal to 1, got a difference:\n  the whole: the golden value has 1, the output 2",
        ),
        (
            "json-match",
            1,
            "one",
            (
                'expected JSON equal to 1, got "one", which is not JSON: '
                "expected a value, got 'one' at line 1, column 1"
            ),
        ),
        ("json-match", 1, "NaN", 'expected JSON equal to 1, got "NaN", which is not JSON: NaN is not JSON'),
    ],
)
def test_what_a_failure_says(strategy: str, value: Any, output: str | None, told: str) -> None:
    """What was expected, what came instead, and where they part."""
    assert message(strategy, value, output) == (False, told)


@pytest.mark.parametrize(
    ("strategy", "value", "output", "told"),
    [
        ("exact", "a", "a", 'the output is exactly "a"'),
        ("contains", "a", "ba", 'the output is a text that contains "a"'),
        ("json-match", [1], "[1]", "the output is JSON equal to [1]"),
    ],
)
def test_what_a_pass_says(strategy: str, value: Any, output: str, told: str) -> None:
    """A pass says what was found."""
    assert message(strategy, value, output) == (True, told)


@pytest.mark.parametrize("output", ["a", "b", None])
def test_the_output_is_the_evidence(output: str | None) -> None:
    """Of a pass and of a failure; where there is none, that is said."""
    trace = make_trace(output=output, status="success" if output is not None else "failed")
    verdict = GoldenMatch(strategy="exact", value="a").check(trace, make_case())
    assert verdict.observed == {"output": output}
    assert [event.type for event in verdict.events] == ["final_output"] * (output is not None)


def test_deep_nesting_is_no_json() -> None:
    """An output that nests without end fails, and breaks nothing."""
    passed, told = message("json-match", None, "[" * 200_000)
    assert not passed
    assert told.endswith(", which is not JSON: it is nested too deeply")
    with pytest.raises(ValueError, match="digits"):
        parsed("9" * 5000)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-1.0, "-1"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1.5e300, "1.5e+300"),
        (1e16, "10000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (12345678901234567890, "12345678901234567000"),
        (1e21, "1e+21"),
        (1.25e21, "1.25e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (123.456, "123.456"),
        (5e-324, "5e-324"),
        (9007199254740991, "9007199254740991"),
    ],
)
def test_numbers_are_spelled_as_ecmascript_does(number: float, text: str) -> None:
    """The figures of ECMA-262's Number::toString."""
    assert text_of(number) == text


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def canonical(value: Any) -> Any:
    """A value such that two are JSON-equal exactly when these are equal: the model of the rules."""
    if value is None or isinstance(value, bool):
        return ("word", value)
    if isinstance(value, int | float):
        return ("number", Decimal(value))
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, list):
        return ("list", tuple(map(canonical, value)))
    return ("object", frozenset((key, canonical(item)) for key, item in value.items()))


@given(value=JSON, other=JSON, indent=st.none() | st.integers(0, 2), ascii_only=st.booleans())
def test_json_match_is_equality_of_json(value: Any, other: Any, indent: int | None, ascii_only: bool) -> None:
    """By a model of the rules, whatever the white space, the escapes and the order of keys."""
    output = json.dumps(other, indent=indent, ensure_ascii=ascii_only, sort_keys=True)
    assert matches("json-match", value, output) == (canonical(value) == canonical(other))
    assert matches("json-match", other, output)


@given(value=JSON, data=st.data())
def test_json_match_does_not_see_the_spelling(value: Any, data: st.DataObject) -> None:
    """Other blanks, other orders of keys, escapes, and `1` as `1.0`, `1e0` or `10e-1`: it is the same value."""
    assert matches("json-match", value, respelled(value, data.draw))


def respelled(value: Any, draw: Any) -> str:
    """JSON of the value, spelled in one of its many ways."""
    blank = draw(st.sampled_from(["", " ", "\n", "\t \r"]))
    if isinstance(value, dict):
        items = draw(st.permutations(list(value.items())))
        pairs = (f"{respelled(key, draw)}:{blank}{respelled(item, draw)}" for key, item in items)
        return f"{blank}{{{f',{blank}'.join(pairs)}}}{blank}"
    if isinstance(value, list):
        return f"[{blank}{f'{blank},'.join(respelled(item, draw) for item in value)}]"
    if isinstance(value, str):
        utf16 = value.encode("utf-16-be")
        escaped = "".join(f"\\u{utf16[at]:02X}{utf16[at + 1]:02x}" for at in range(0, len(utf16), 2))
        return f'"{escaped}"' if draw(st.booleans()) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool) or not isinstance(value, int):
        return json.dumps(value)
    return f"{blank}{draw(st.sampled_from([f'{value}', f'{value}.0', f'{value}e0', f'{value * 10}E-1']))}"


@given(value=JSON, before=st.text(max_size=3), after=st.text(max_size=3))
def test_exact_and_contains_are_about_the_text(value: Any, before: str, after: str) -> None:
    """`exact` is equality of texts, `contains` that one is in the other; nothing is trimmed or folded."""
    text = as_ecmascript(value)
    output = before + text + after
    assert matches("exact", value, output) == (output == text)
    assert matches("contains", value, output)
    assert matches("contains", value, before + after) == (text in before + after)


def as_ecmascript(value: Any) -> str:
    """The text of a value: a text itself, all else as JSON.stringify has it. The model of the rules."""
    return value if isinstance(value, str) else stringified(value)


def stringified(value: Any) -> str:
    """A value as JSON.stringify has it (ECMA-262, SerializeJSONProperty)."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + "".join(map(quoted, value)) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(stringified, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{stringified(key)}:{stringified(value[key])}" for key in value) + "}"
    return spelled(float(value))


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(character: str) -> str:
    """A character as JSON.stringify has it (ECMA-262, QuoteJSONString)."""
    return SHORT.get(character) or (f"\\u{ord(character):04x}" if character < " " else character)


def spelled(number: float) -> str:
    """A number by the steps of ECMA-262's Number::toString: digits d of length k, and n, where it is d times 10^(n-k)."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + spelled(-number)
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    d, k = "".join(map(str, digits)), len(digits)
    n = exponent + k
    if k <= n <= 21:
        return d + "0" * (n - k)
    if 0 < n <= 21:
        return d[:n] + "." + d[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + d
    power = ("+" if n > 0 else "-") + str(abs(n - 1))
    return f"{d}e{power}" if k == 1 else f"{d[0]}.{d[1:]}e{power}"


@given(
    st.recursive(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**63), 2**63 - 1)
        | st.text()
        | SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
        max_leaves=5,
    )
)
def test_texts_are_those_of_ecmascript(value: Any) -> None:
    """Numbers of any size, characters of any kind, keys as they come: as the model has them."""
    assert text_of(value) == as_ecmascript(value)
