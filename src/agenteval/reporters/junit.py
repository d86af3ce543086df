"""A run as JUnit XML, in the form that Jenkins' xUnit plugin publishes a schema of (junit-10.xsd).

A test case of that schema has neither `file` nor properties, a test suite has both: each test file is a suite with
one test case. CI servers show the same list either way.
"""

import re
from xml.etree import ElementTree as ET

from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.redaction.sealing import sealed_text
from agenteval.reporters.entries import Entry, entries
from agenteval.text.fitting import printable

_OUTCOMES = {"fail": "failure", "error": "error", "skip": "skipped", "xfail": "skipped", "known": "skipped"}
_TYPES = {"xfail": "xfail", "known": "known_failure"}
_SUFFIX = re.compile(r"(?:(?:^|/)test|\.test)?\.ya?ml$")


def render(run: StoredRun, redactor: Redactor) -> bytes:
    """Render the report.

    An expected or known failure is `skipped`, with the type `xfail` or `known_failure`; a file that could not be loaded
    is an error.
    """
    listed = list(entries(run))
    root = ET.Element("testsuites", name="agenteval", time=_seconds(run.summary.duration_ms))
    _count(root, listed)
    for entry in listed:
        root.append(_suite(entry, run))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return sealed_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', redactor)


def _count(element: ET.Element, listed: list[Entry], *, skipped: bool = False) -> None:
    element.set("tests", str(len(listed)))
    for attribute, kind in (("failures", "fail"), ("errors", "error")):
        element.set(attribute, str(sum(entry.kind == kind for entry in listed)))
    if skipped:
        element.set("skipped", str(sum(_OUTCOMES.get(entry.kind) == "skipped" for entry in listed)))


def _suite(entry: Entry, run: StoredRun) -> ET.Element:
    suite = ET.Element("testsuite", name=_shown(entry.path or entry.name))
    _count(suite, [entry], skipped=True)
    suite.set("time", _seconds(entry.result.duration_ms if entry.result else 0))
    suite.set("timestamp", entry.result.started_at if entry.result else run.summary.started_at)
    if entry.path:
        suite.set("file", _shown(entry.path))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(entry, run).items():
        ET.SubElement(properties, "property", name=name, value=_shown(value))
    case = ET.SubElement(suite, "testcase", name=_shown(entry.name), classname=_classname(entry))
    case.set("time", suite.get("time", ""))
    if entry.kind in _OUTCOMES:
        kind = _TYPES.get(entry.kind, entry.reason_code)
        outcome = ET.SubElement(case, _OUTCOMES[entry.kind], type=kind, message=_shown(entry.message))
        outcome.text = _shown(entry.text)
    elif entry.text:
        ET.SubElement(case, "system-out").text = _shown(entry.text)
    return suite


def _properties(entry: Entry, run: StoredRun) -> dict[str, str]:
    """Return the properties of a suite. `line` is the line of the deciding assertion, or of the mistake in the test file."""
    found = {"test_run_id": run.summary.test_run_id, "agenteval_version": run.summary.agenteval_version}
    # The schema has no attribute for a line, so it becomes a property.
    if entry.line is not None:
        found["line"] = str(entry.line)
    if entry.reason_code:
        found["reason_code"] = entry.reason_code
    if result := entry.result:
        found["title"] = result.title
        found["adapter"] = f"{result.adapter.name} {result.adapter.version}"
        found["mode"] = result.mode
        if result.tags:
            found["tags"] = ", ".join(result.tags)
        counts = result.summary
        skipped = f", {counts.assertions_skipped} skipped" if counts.assertions_skipped else ""
        passed = f"{counts.assertions_passed} of {counts.assertions_total} passed"
        found["assertions"] = f"{passed}, {counts.vacuous} of them vacuous{skipped}"
        if result.live:
            found["live"] = ", ".join(result.live.words())
        if trials := result.trials:
            found["trials"] = trials.words()
            found |= {
                f"trials: {each.id}": f"{each.passed} of {each.judged}"
                + f", {each.vacuous} of them vacuous" * bool(each.vacuous)
                + f", {each.skipped} skipped" * bool(each.skipped)
                for each in trials.assertions
            }
        if measured := entry.measurement:
            rates = zip(("before", "now"), (measured.before, measured.after), strict=True)
            found["verdict"] = measured.verdict
            found |= {name: f"{side.passed} of {side.judged} trials passed" for name, side in rates}
        if result.failure_categories:
            found["failure_categories"] = ", ".join(result.failure_categories)
    return found


def _classname(entry: Entry) -> str:
    """Return the path with dots, by which CI servers group: `evals/news/test.yaml` is `evals.news`."""
    parts = _SUFFIX.sub("", entry.path).split("/")
    return _shown(".".join(part for part in parts if part not in ("", ".", ".."))) or "agenteval"


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _shown(text: str) -> str:
    """Escape characters that XML cannot hold, or that a terminal or a page would obey."""
    return "\n".join(map(printable, text.split("\n")))
