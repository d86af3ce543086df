"""The last look at what is written: all of a result is looked at, and what shows something is refused."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

from agenteval.contracts.results import AssertionResult, ErrorInfo, Excerpt, TestResult, ToolCount
from agenteval.redaction.occurrences import token
from agenteval.redaction.redactor import RedactionRules, Redactor
from agenteval.redaction.sealing import LeakError, sealed, sealed_result, sealed_text
from planted import AWS, EMAIL, PLANTED
from run_builders import judged, make_result

OURS = {
    TestResult: {"schema_version", "mode", "status", "started_at", "finished_at", "result_id"},
    AssertionResult: {"severity", "status"},
}
"""Fields whose words are not those of an author, an adapter or a recording; `result_id` is made of two others."""


def test_json_without_anything_sensitive_is_only_encoded() -> None:
    """Byte for byte, and without a copy."""
    assert sealed({"a": [1, "é"]}, Redactor()) == '{\n  "a": [\n    1,\n    "é"\n  ]\n}\n'.encode()


def test_what_nobody_learned_is_redacted_on_the_way_out() -> None:
    """Values, keys, and what stands beside the name of a secret."""
    data = {"note": f"key {AWS}", EMAIL: [EMAIL], "api_key": "no matter what"}
    address = token(EMAIL, "email")
    assert json.loads(sealed(data, Redactor())) == {
        "note": f"key {token(AWS, 'aws-access-key')}",
        address: [address],
        "api_key": token("no matter what", "credential"),
    }


def test_json_on_one_line_is_redacted_too() -> None:
    """A line of a stream of events holds no break, and no secret."""
    assert sealed({"a": [f"x\n{EMAIL}"]}, Redactor(), one_line=True) == (
        f'{{"a":["x\\n{token(EMAIL, "email")}"]}}\n'.encode()
    )


def test_a_text_without_anything_sensitive_is_only_encoded() -> None:
    """Half of a surrogate pair, which has no encoding, is spelled out."""
    assert sealed_text("é\ud800\n", Redactor()) == "é\\ud800\n".encode()


def test_a_text_is_redacted_on_the_way_out() -> None:
    """What looks like a secret or an address, and the values of the run."""
    rules = RedactionRules(values=["hunter2 hunter2"])
    assert sealed_text(f"<a>{AWS}</a> {EMAIL} hunter2 hunter2", Redactor((), rules)).decode() == (
        f"<a>{token(AWS, 'aws-access-key')}</a> {token(EMAIL, 'email')} {token('hunter2 hunter2', 'env')}"
    )


def test_a_text_that_still_shows_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were redaction to fail, there would be no report."""
    monkeypatch.setattr(Redactor, "redacted", lambda _, text: text)
    with pytest.raises(LeakError) as error:
        sealed_text(f"<a>{AWS}</a>", Redactor())
    assert error.value.kinds == ["aws-access-key"]


def texts_of(cls: type[Any]) -> list[str]:
    """The fields of a model that may hold texts."""
    hints = get_type_hints(cls)
    names = [each.name for each in dataclasses.fields(cls)]
    return [name for name in names if str in (hints[name], *get_args(hints[name])) and name not in OURS[cls]]


@pytest.mark.parametrize("name", texts_of(TestResult))
def test_every_text_of_a_result_is_looked_at(name: str) -> None:
    """A field that is added is looked at, or is one of our own words."""
    many = isinstance(getattr(make_result(), name), list)
    planted: dict[str, Any] = {name: [f"x {AWS}"] if many else f"x {AWS}"}
    result = make_result(**planted)
    assert AWS not in sealed_result(result, Redactor()).decode()


@pytest.mark.parametrize("name", texts_of(AssertionResult))
def test_every_text_of_an_assertion_is_looked_at(name: str) -> None:
    """The same for the results of assertions."""
    planted: dict[str, Any] = {"kind" if name == "type" else "name" if name == "id" else name: f"x {AWS}"}
    assertion = judged(**planted)
    assert AWS not in sealed_result(make_result("pass", assertion), Redactor()).decode()


@pytest.mark.parametrize(
    "plant",
    [
        lambda result: setattr(result.assertions[0], "params", {"a": [AWS]}),
        lambda result: setattr(result.assertions[0], "observed", {AWS: 1}),
        lambda result: result.assertions[0].evidence.excerpts.append(Excerpt(event_id="evt-1", text=AWS)),
        lambda result: result.assertions[0].evidence.excerpts.append(
            Excerpt(event_id="evt-1", text="", note=AWS)
        ),
        lambda result: setattr(result, "error", ErrorInfo(reason_code="x", message=AWS)),
        lambda result: setattr(result, "error", ErrorInfo(reason_code="x", message="", details=AWS)),
        lambda result: result.trace_summary.notes.append(AWS),
        lambda result: setattr(result.trace_summary, "trace_id", AWS),
        lambda result: result.trace_summary.tool_calls.append(ToolCount(tool=AWS, count=1)),
    ],
    ids=["params", "observed", "excerpt", "note", "error", "details", "notes", "trace id", "tools"],
)
def test_data_and_evidence_of_a_result_are_looked_at(plant: Callable[[Any], object]) -> None:
    """Each on its own is reason enough to redact the result."""
    result = make_result("pass", judged())
    plant(result)
    assert AWS not in sealed_result(result, Redactor()).decode()


@pytest.mark.parametrize("kind", sorted(PLANTED))
def test_a_redactor_that_does_nothing_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is still to be seen in the bytes is told by its kind; the value is not in the message."""
    value = PLANTED[kind]
    monkeypatch.setattr(Redactor, "redact_values", lambda _, data: data)
    monkeypatch.setattr(Redactor, "data", lambda _, data: data)
    with pytest.raises(LeakError) as caught:
        sealed({"password": value} if kind == "credential" else {"note": f"it is {value}"}, Redactor())
    assert caught.value.kinds == [kind]
    assert str(caught.value) == f"redaction failed: a value of kind {kind} would show"
    assert (caught.value.reason_code, caught.value.exit_code) == ("redaction.leak", 2)


def test_a_value_of_the_run_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in another case, and as JSON escapes it."""
    monkeypatch.setattr(Redactor, "redact_values", lambda _, data: data)
    monkeypatch.setattr(Redactor, "data", lambda _, data: data)
    redactor = Redactor(rules=RedactionRules(values=['so "ordinary"\nwords']))
    with pytest.raises(LeakError):
        sealed({"note": 'SO "ordinary"\nwords'}, redactor)
    with pytest.raises(LeakError):
        sealed({"note": json.dumps('so "ordinary"\nwords')}, redactor)
