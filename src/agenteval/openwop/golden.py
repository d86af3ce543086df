"""Golden tasks: the output compared with a value, by one of three strategies (RFC 0081, section D).

The text of any other value is what ECMAScript's JSON.stringify makes of it: compact, keys in their order, characters
unescaped, and numbers spelled as doubles (`1.0` is `1`, `1e21` is `1e+21`).
"""

import json
from typing import Any, ClassVar, NoReturn

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, vacuous
from agenteval.differences import around_difference, brief, differences, first_difference
from agenteval.json_values import equal
from agenteval.openwop.models import Strategy
from agenteval.spec import TestCase
from agenteval.strict import model
from agenteval.trace import Trace

_LONGEST = 200


@model
class GoldenMatch(Assertion):
    """The final output is as the suite expects.

    `exact`: it is the value, character for character. `contains`: the value is in it, in the case it has. `json-match`:
    it is JSON, and equal to the value; the order of keys and white space do not matter, that of lists does; `true` is
    not `1`, `1.0` is `1`, and null is not the same as absent.
    """

    type: ClassVar[str] = "golden"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "other than the golden output"
    proves: ClassVar[tuple[Proof, ...]] = ("pass", "fail")
    example: ClassVar[str] = "strategy: contains\nvalue: 30 days\n"

    strategy: Strategy
    """How the output is compared."""
    value: Any
    """The value it is compared with."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace tells all
        """Judge one trace."""
        events = trace.of_type("final_output")[-1:]
        if trace.final_output is None:
            return failed(f"expected {self._wanted()}, got no final output", output=None)
        output = trace.output
        if self.strategy == "contains" and text_of(self.value) == "":
            return vacuous("every output contains the empty text")
        if difference := self.difference(output):
            return failed(f"expected {self._wanted()}, got {difference}", events=events, output=output)
        return passed(f"the output is {self._wanted(short=True)}", events=events, output=output)

    def difference(self, output: str) -> str:
        """How the output differs, in words; empty when it is as expected."""
        if self.strategy == "json-match":
            return _json_difference(output, self.value)
        text = text_of(self.value)
        if self.strategy == "contains":
            return "" if text in output else _shown(output)
        if output == text:
            return ""
        place = first_difference(output, text) + 1
        told = f"{_shown(output)}, which differs from character {place} onwards"
        if place < _LONGEST // 2:
            return told
        one, other = map(brief, around_difference(text, output))
        return f"{told}: expected {one}, got {other}"

    def _wanted(self, *, short: bool = False) -> str:
        if self.strategy == "json-match":
            return "JSON equal to the golden value" if short else f"JSON equal to {_shown(self.value)}"
        what = "exactly" if self.strategy == "exact" else "an output that contains"
        what = "a text that contains" if short and self.strategy == "contains" else what
        return f"{what} {_shown(text_of(self.value))}"


def text_of(value: Any) -> str:
    """The text of a value: a text as it is, all else as compact JSON."""
    return value if isinstance(value, str) else _spelled(value)


def parsed(output: str) -> Any:
    """An output as JSON, read as ECMAScript's JSON.parse does. Raises ValueError when it is not JSON."""
    try:
        return json.loads(output, parse_constant=_no_json)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _json_difference(output: str, value: Any) -> str:
    try:
        data = parsed(output)
    except ValueError as error:
        from agenteval.reading.jsonplaces import in_words

        return f"{_shown(output)}, which is not JSON: {in_words(error, 'the output')}"
    if equal(data, value):
        return ""
    found = differences(value, data, names=("the golden value", "the output"), whole="the whole")
    return "a difference:\n" + "\n".join(f"  {line}" for line in found)


def _spelled(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = (f"{json.dumps(key, ensure_ascii=False)}:{_spelled(item)}" for key, item in value.items())
        return f"{{{','.join(items)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    return _number(float(value))


def _number(value: float) -> str:
    """A number as ECMAScript spells it (ECMA-262, Number::toString)."""
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _shown(value: Any) -> str:
    return brief(value, _LONGEST)
