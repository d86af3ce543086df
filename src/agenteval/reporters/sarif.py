"""A run as SARIF 2.1.0 (OASIS): a result for each assertion that failed or warned, at its line in the test file."""

from collections.abc import Iterator
from posixpath import isabs, normpath
from typing import Any
from urllib.parse import quote

from agenteval.contracts.results import AssertionResult, InvalidSpec, TestResult
from agenteval.judging.stored import StoredRun
from agenteval.loading.config import SETTINGS_FILE
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed
from agenteval.reporters.entries import RUN, Entry, conditions_of, entries, evidence_of, problem_text
from agenteval.text.fitting import visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""The placeholder for the directory that the paths of a run are relative to."""

Json = dict[str, Any]


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """Render the report. A rule is a type of assertion, or the reason code of an error.

    An expected or known failure is a suppressed result, with its reason.
    """
    results = [result for entry in entries(run) for result in _of_entry(entry)]
    results += map(_of_problem, run.summary.problems)
    rules = sorted({result["ruleId"] for result in results})
    numbers = {rule: number for number, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = numbers[result["ruleId"]]
    summary = run.summary
    made = {
        "tool": {
            "driver": {
                "name": "agenteval",
                "semanticVersion": summary.agenteval_version,
                "rules": list(map(_rule, rules)),
            }
        },
        "automationDetails": {"id": f"agenteval/{summary.test_run_id}"},
        "invocations": [
            {
                "executionSuccessful": summary.exit_code < 2,
                "exitCode": summary.exit_code,
                "exitCodeDescription": summary.exit_reason,
                "startTimeUtc": summary.started_at,
                "endTimeUtc": summary.finished_at,
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return sealed(_shown({"$schema": SCHEMA, "version": "2.1.0", "runs": [made]}), redactor)


def _shown(data: Any) -> Any:
    """Escape invisible characters in all texts: readers of SARIF print them as they are, or put them into XML."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, dict):
        return {_shown(key): _shown(value) for key, value in data.items()}
    return [_shown(each) for each in data] if isinstance(data, list) else data


def _rule(name: str) -> Json:
    """Describe a rule, a type of assertion or a reason code, with all the fields that GitHub requires."""
    from inspect import cleandoc

    from agenteval.assertions import assertion_class
    from agenteval.reference.explanation import first_sentence

    short, full = name, f"{name}: the result's message says what it is about."
    aid = "The troubleshooting page in the documentation of agenteval says what to do."
    if cls := assertion_class(name):
        full = cleandoc(cls.__doc__ or "")
        short = first_sentence(full)
        aid = f"`agenteval explain {name}` shows its parameters, its rules and an example."
    return {
        "id": name,
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": aid},
    }


def _of_entry(entry: Entry) -> Iterator[Json]:
    """Yield the results of a test, or of the run; those of files that could not be loaded come from problems."""
    # A test that failed for its assertions has a result for each; its own entry would repeat them.
    if result := entry.result:
        failing = [each for each in result.assertions if each.status in ("fail", "warn")]
        yield from (_suppressed(_of_assertion(result, each), entry) for each in failing)
        explained = entry.kind in ("fail", "known") and not all(each.xfail for each in failing)
        if explained or entry.kind not in ("fail", "known", "error"):
            return
    elif entry.name != RUN or entry.path:
        return
    place = _place(entry.path, entry.line, entry.column)
    yield _suppressed(_result(entry.reason_code, "error", entry.text, place, test=entry.name), entry)


def _suppressed(made: Json, entry: Entry) -> Json:
    """Add to the result of a known failure the reason why it is accepted, which is not in the test file."""
    if entry.kind == "known":
        made.setdefault("suppressions", []).append({"kind": "external", "justification": entry.message})
    return made


def _of_assertion(result: TestResult, each: AssertionResult) -> Json:
    level = "error" if each.status == "fail" else "warning"
    text = "\n".join((f"{each.id}: {each.message}", *evidence_of(each), *conditions_of(result)))
    place = _place(result.path, each.line, each.column)
    made = _result(each.type, level, text, place, test=result.test_case_id)
    made["properties"] |= {"assertion": each.id, "category": each.category, "severity": each.severity}
    # By this, code scanning recognises a finding although its line has moved.
    made["partialFingerprints"] = {"agenteval/v1": f"{result.test_case_id}::{each.id}"}
    if each.xfail:
        reason = result.xfail_reason or "the test expects this failure"
        made["suppressions"] = [{"kind": "inSource", "justification": reason}]
    return made


def _of_problem(problem: InvalidSpec) -> Json:
    place = _place(problem.path, problem.line, problem.column)
    return _result(problem.reason_code, problem.severity, problem_text(problem), place)


def _result(rule: str, level: str, text: str, place: Json, *, test: str = "") -> Json:
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "properties": {"test": test} if test else {},
    }


def _place(path: str, line: int | None, column: int | None) -> Json:
    region = {"startLine": line or 1} | ({"startColumn": column} if column else {})
    file = path or SETTINGS_FILE  # code scanning refuses a report in which a result has no place
    return {"artifactLocation": _artifact(file), "region": region}


def _artifact(path: str) -> Json:
    uri = quote(normpath(path.replace("\\", "/")), errors="backslashreplace")
    return {"uri": f"file://{uri}"} if isabs(uri) else {"uri": uri, "uriBaseId": ROOT}
