"""Drafts a test of a recorded run: its name, the assertions that the run passes, and its text."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from tempfile import NamedTemporaryFile, TemporaryDirectory
from textwrap import wrap
from typing import Any, NamedTuple

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.assertions.memory import MEMORY_EVENTS
from agenteval.contracts.adapters import REPLAY_FILE, RecordedRun, RecordedTest
from agenteval.contracts.errors import AdapterError, SpecError, UsageError
from agenteval.contracts.models import parse
from agenteval.contracts.results import AssertionResult
from agenteval.contracts.testcase import SCHEMA_VERSION, TestCase
from agenteval.contracts.trace import Trace
from agenteval.judging.runner import Outcome, RunOptions, run_test
from agenteval.judging.verdicts import JudgingRules
from agenteval.loading.discovery import TEST_FILE, is_entered
from agenteval.loading.testfile import LoadedTest, load_test
from agenteval.plugins.registry import Registry
from agenteval.reading.documents import refuse_link_out
from agenteval.recording.cleaning import Cleaner
from agenteval.recording.source import Source
from agenteval.recording.suggestions import Suggestion, slug, suggestions
from agenteval.redaction.redactor import EMAIL, SECRETS, RedactionRules
from agenteval.text.fitting import cut

WIDTH = 110
DECIDE = "decide"
"""The first word of a comment that asks a person for a decision."""


def document(
    spec: dict[str, Any],
    assertions: Sequence[Suggestion],
    *,
    header: str = "",
    heading: Sequence[str] = (),
    closing: Sequence[str] = (),
) -> str:
    """Write the text of the test file: `spec`, then the assertions, each under its reason.

    `header` is the line for editors; `heading` and `closing` are comments, a paragraph each.
    """
    lines = [*([header] if header else []), *(line for each in heading for line in comment(each))]
    for key, value in spec.items():
        if key == "expected":
            continue
        if key == "title":
            lines += comment(f"{DECIDE}: say in one line what this test is for")
        if key in ("scenario", "tools", "adapter_input"):
            lines.append("")
        lines += dumped({key: value})
    lines += ["", "assertions:"]
    for each in assertions:
        paragraphs = [each.why, *([f"{DECIDE}: {each.decide}"] if each.decide else [])]
        about = [line for paragraph in paragraphs for line in comment(paragraph, WIDTH - 2)]
        lines += [f"  {line}" for line in (*about, *dumped([each.as_data()]))]
    if "expected" in spec:
        lines += ["", *dumped({"expected": spec["expected"]})]
    lines += [*([""] if closing else []), *(line for each in closing for line in comment(each))]
    return "\n".join(lines) + "\n"


def comment(text: str, width: int = WIDTH) -> list[str]:
    """Format a text as comment lines. Characters that YAML forbids are escaped: a name in a recording may have them."""
    from yaml.reader import Reader

    flat = Reader.NON_PRINTABLE.sub(lambda sign: ascii(sign[0])[1:-1], " ".join(text.split()))
    return [f"# {line}" for line in wrap(flat, width - 2, break_long_words=False, break_on_hyphens=False)]


def dumped(data: Any) -> list[str]:
    """Format data as lines of YAML, in the given order, with texts of several lines as blocks."""
    import yaml

    from agenteval.reading.yamlsource import FOLDED

    class Dumper(yaml.SafeDumper):
        """Lists under a key are indented, and texts of several lines keep them."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - its name
            super().increase_indent(flow, indentless=False)

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - its name
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        # A text that begins with a digit may read as a number or a date without quotes.
        style = "|" if "\n" in value else '"' if value[:1].isdigit() else None
        if not FOLDED.isdisjoint(value):
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    written = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return written.rstrip("\n").split("\n")


def must_be_free(folder: Path, names: Mapping[str, bytes], *, force: bool) -> None:
    """Refuse to overwrite. Raises `UsageError` (`record.exists`)."""
    # `lexists`: a link that leads nowhere is in the way, too.
    there = [name for name in names if os.path.lexists(folder / name)]
    if there and not force:
        raise UsageError(
            f"{folder} already has {', '.join(there)}",
            reason_code="record.exists",
            next_step=f"give another --name, --force to overwrite, or --update {quote(str(folder))} to record it again",
        )


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write the files; each appears whole, by rename, and a link that is in the way is replaced, not followed.

    Raises `UsageError` (`usage.not_writable`), and `FileError` where a link in a path leads out of the project.
    """
    written = []
    for name in files:
        refuse_link_out((folder / name).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            # A temporary file in the same folder: a rename across file systems would not be atomic.
            with NamedTemporaryFile(dir=folder, prefix=".record-", delete=False) as file:
                file.write(content)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
            written.append(path)
    except OSError as error:
        raise UsageError(
            f"cannot write {folder}: {error.strerror or error}",
            reason_code="usage.not_writable",
            next_step="name a writable folder with --out",
        ) from error
    return written


FIXTURE = "fx."
_AREAS = {"memory_write": "memory", "memory_read": "memory", "error": "recovery", "tool_call": "tools"}


def test_name(run: RecordedRun, first_words: str) -> str:
    """Return the name of a run's test: its first words, cleaned by the caller, else its number.

    A name that the search for tests skips, for instance `artifacts`, is not used: nothing would find the test.
    """
    name = slug(re.sub(r"\[[^\]]*\]", " ", first_words))
    return name if name and is_entered(name) else f"run-{run.number}"


def test_id(adapter: str, trace: Trace, name: str) -> str:
    """Return the id of a test: `<adapter>.<area>.<behavior>.<expectation>` (SPEC 19)."""
    happened = trace.event_types()
    area = next((area for kind, area in _AREAS.items() if kind in happened), "chat")
    if trace.scenario.trigger == "scheduler":
        area = "scheduler"
    elif not trace.tool_counts().keys().isdisjoint(("web_search", "web_fetch")):
        area = "web"
    return f"{slug(adapter) or 'adapter'}.{area}.{name}.as-recorded"


def distinct_ids(test_id: str, run: RecordedRun) -> Iterator[str]:
    """List the id and its alternatives where other tests have it: with the time of the run, then with its number too."""
    before, _, after = test_id.rpartition(".")
    time = "-".join(re.findall(r"\d+", run.started_at)[:6])
    yield test_id
    yield f"{before}-{time}.{after}"
    yield f"{before}-{time}-{run.number}.{after}"


def id_in(text: str) -> str:
    """Return the id in the text of a test file; empty where no line begins with `id:`."""
    found = re.search(r"""^id:[ \t]*["']?([\w.-]+)""", text, re.MULTILINE)
    return found[1] if found else ""


def fixture_file(fixture_id: str, taken: set[str]) -> str:
    """Return the file name of a fixture, `fx.<tool>.<what>.json`, and add it to `taken`. Names differ by more than case."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", fixture_id).strip(".-") or "fixture"
    stem = stem if stem.startswith(FIXTURE) else FIXTURE + stem
    name, number = f"{stem[:80]}.json", 1
    # Some file systems ignore case, so `fx.A.json` and `fx.a.json` would be one file there.
    while name.lower() in taken:
        number += 1
        name = f"{stem[:80]}.{number}.json"
    taken.add(name.lower())
    return name


LEAST_MUTANTS = 20
MOST_JUDGED = 200_000_000
"""The bytes of all mutants of a run together. A long run has fewer mutants, but at least `LEAST_MUTANTS`."""
_VERDICTS = (None, "assertion.failed", "assertion.vacuous")
"""Reason codes of results about the run. Any other code means that the recording lacks something."""


class Finding(NamedTuple):
    """A suggested assertion that the run does not pass, with the message of its failure.

    `hidden` is true if redaction hides the failure, so that a test made of the run cannot show it.
    """

    suggestion: Suggestion
    message: str
    hidden: bool = False

    def __str__(self) -> str:
        """Describe the assertion and its failure."""
        return f"{self.suggestion.id} ({self.suggestion.type}): {self.message}"


@dataclass(slots=True)
class Trial:
    """A place to run a drafted test in: a folder that is gone afterwards."""

    folder: Path
    registry: Registry
    rules: RedactionRules

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files into the folder."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(content)

    def trace(self, spec: dict[str, Any]) -> tuple[TestCase, Trace]:
        """Replay the test without its assertions; return it and its trace. Raises `AdapterError`."""
        nothing = {"id": "nothing", "type": "max_tool_calls", "params": {"max_total": 10**6}}
        try:
            outcome = self.run({**spec, "assertions": [nothing]})
        except SpecError as error:
            raise _not_replayed(error.problems[0].message) from None
        if outcome.trace is None:
            failed = outcome.result.error
            raise _not_replayed(failed.message if failed else outcome.result.status)
        return outcome.test.case, outcome.trace

    def run(self, spec: dict[str, Any] | None = None) -> Outcome:
        """Run a test given as data, or the test file in the folder. A vacuous pass fails. Raises `SpecError`."""
        options = RunOptions(
            run_id="record",
            # An assertion with nothing to judge, or without the capability it needs, would make the draft look safer than it is.
            rules=JudgingRules(fail_on_vacuous=True, strict_capabilities=True),
            registry=self.registry,
            redaction=self.rules,
        )
        return run_test(self._loaded(spec), options)

    def _loaded(self, spec: dict[str, Any] | None) -> LoadedTest:
        if spec:
            # Written as YAML, like the final test. JSON would escape emoji in a way that YAML does not know.
            self.write({TEST_FILE: "\n".join(dumped(spec)).encode()})
        return load_test(self.folder / TEST_FILE, registry=self.registry)

    def judge(
        self, spec: dict[str, Any], suggested: Sequence[Suggestion]
    ) -> tuple[list[Suggestion], list[Finding], list[Finding]]:
        """Sort suggestions: those that the run passes, telling ones that it fails, and those without a verdict."""
        results = self._results(
            spec, [way for each in suggested for way in (each, *each.instead, each.excepting) if way]
        )

        def passes(way: Suggestion) -> bool:
            result = results.get(id(way))
            return result is not None and result.status == "pass" and result.exercised

        kept, findings, unjudged = [], [], []
        for each in suggested:
            ways = [each, *each.instead]
            judged = [results[id(way)] for way in ways if id(way) in results]
            failed = [result for result in judged if result.reason_code == "assertion.failed"]
            if passing := next(filter(passes, ways), None):
                kept.append(passing)
            elif each.telling and len(failed) == len(ways):
                findings.append(Finding(ways[-1], failed[-1].message))
                if each.excepting and passes(each.excepting):
                    kept.append(each.excepting)
            elif id(ways[-1]) in results and judged[-1].reason_code not in _VERDICTS:
                unjudged.append(Finding(ways[-1], judged[-1].message))
        return kept, findings, unjudged

    def worthwhile(
        self, spec: dict[str, Any], suggested: Sequence[Suggestion], trace: Trace
    ) -> list[Suggestion]:
        """List the suggestions that notice a regression which no earlier one notices, the most telling first.

        Regressions are the mutants of the run (`agenteval mutate`), of which a sample is taken when there are many, and
        a smaller one when the run is long.
        """
        from agenteval.mutation.engine import MutationOptions, worthwhile
        from agenteval.operators.base import MOST_MUTANTS

        # Earlier assertions win: where a telling one and another notice the same regressions, the telling one is kept.
        ranked = sorted(suggested, key=lambda each: not each.telling)
        if not ranked:
            return []
        test = self._loaded({**spec, "assertions": [each.as_data() for each in ranked]})
        size = sum(each.stat().st_size for each in self.folder.iterdir())
        most = max(LEAST_MUTANTS, min(MOST_MUTANTS, MOST_JUDGED // size))
        options = MutationOptions(operators=self.registry.operators(), most=most)
        worth = {bound.spec.id for bound in worthwhile(test.checks, trace, test.case, options)}
        return [each for each in ranked if each.id in worth]

    def _results(self, spec: dict[str, Any], tried: list[Suggestion]) -> dict[int, AssertionResult]:
        while tried:
            entries = [{**each.as_data(), "id": f"tried-{number}"} for number, each in enumerate(tried)]
            try:
                judged = self.run({**spec, "assertions": entries}).result.assertions
            except SpecError as error:
                refused = _refused_entries(error)
                if not refused:
                    raise
                # One invalid suggestion must not spoil the others: try again without it.
                tried = [each for number, each in enumerate(tried) if number not in refused]
                continue
            return {id(each): result for each, result in zip(tried, judged, strict=True)}
        return {}


def _refused_entries(error: SpecError) -> set[int]:
    """Return the numbers of the assertions that a validation refused."""
    pointers = [re.match(r"/assertions/(\d+)", each.pointer) for each in error.problems]
    return {int(found[1]) for found in pointers if found}


def _not_replayed(why: str) -> AdapterError:
    return AdapterError(
        f"the drafted test cannot be replayed: {why}",
        reason_code="record.not_replayed",
        next_step="this is a bug in the adapter that turned the recording into a test: report it with the recording",
    )


@contextmanager
def trial(registry: Registry, rules: RedactionRules) -> Iterator[Trial]:
    """Make a temporary folder to try a test in."""
    with TemporaryDirectory(prefix="agenteval-record-") as folder:
        yield Trial(Path(folder).resolve(), registry, rules)


LONGEST_REASON = 120


@dataclass(slots=True, kw_only=True)
class Draft:
    """A test that is not written yet: its files by name, and the assertions that were tried.

    `status` is the status of the run. The run fails `findings`. It cannot be judged by `unjudged`, since the recording
    lacks something. It passes `left_out`, but they notice no regression that `kept` does not notice.
    """

    name: str
    kept: list[Suggestion]
    findings: list[Finding]
    unjudged: list[Finding]
    left_out: list[Suggestion]
    test_id: str = ""
    status: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


class Parts(NamedTuple):
    """The cleaned parts of a run, with the fixtures in files of their own."""

    scenario: dict[str, Any]
    tools: dict[str, Any]
    files: dict[str, bytes]


@dataclass(slots=True, kw_only=True)
class Drafting:
    """Drafts the tests of one command. `seal` makes the bytes of a JSON file, and refuses sensitive content.

    With `expect_failures`, telling suggestions that the run fails become expected failures. `neighbours` are the texts of
    the existing test files, by path: a draft takes none of their ids.
    """

    source: Source
    registry: Registry
    rules: RedactionRules
    seal: Callable[[Any], bytes]
    expect_failures: bool = False
    judging: JudgingRules = field(default_factory=JudgingRules)
    """The project's rules for judging a test that is recorded again."""
    neighbours: Mapping[Path, str] = field(default_factory=dict)

    def draft(
        self,
        run: RecordedRun,
        *,
        name: str = "",
        header: str = "",
        taken: Sequence[str] = (),
        out: Path | None = None,
    ) -> Draft:
        """Draft the test of one run, for a folder in `out`.

        `header` is the line for editors; `taken` are the names of tests that are drafted beside it.
        Raises `AdapterError`: the recorder's own, `record.not_replayed`, or `record.nothing_to_assert`.
        """
        cleaner = Cleaner(self.rules)
        recorded = self.convert(run)
        parts = self.parts(recorded, cleaner)
        name = name or test_name(run, cleaner.text(run.first_words))
        name = f"{name}-{run.number}" if name in taken else name
        with trial(self.registry, self.rules) as place:
            place.write(parts.files)
            spec = self._spec(run, parts, cleaner, name)
            case, trace = place.trace(spec)
            spec["id"] = test_id(self.source.adapter.name, trace, name)
            draft = self._chosen(name, place, spec, trace, case, recorded)
            shown = [each for each in draft.findings if not each.hidden]
            expected = shown if self.expect_failures else []
            draft.kept += [each.suggestion for each in expected]
            if not draft.kept:
                raise _nothing_to_assert(run, recorded.trace, draft)
            if expected:
                why = f"{DECIDE}: say what the bug is. {cut(expected[0].message, LONGEST_REASON)}"
                names = [each.suggestion.id for each in expected]
                spec["expected"] = {"status": "fail", "assertions": names, "reason": why}
            closing = list(_closing(draft, [] if expected else shown))
            heading = self._heading(run, recorded.trace, cleaner)
            others = self._others(out / name / TEST_FILE if out else None)
            for each in distinct_ids(spec["id"], run):
                spec["id"] = each
                text = document(spec, draft.kept, header=header, heading=heading, closing=closing)
                # An id is taken by another test only: drafting the same run again must give the same id.
                if others.get(each, text) == text:
                    break
            draft.files = {TEST_FILE: text.encode(), **parts.files}
            place.write(draft.files)
            _must_pass(place)
        draft.test_id, draft.status = spec["id"], trace.status
        return draft

    def convert(self, run: RecordedRun) -> RecordedTest:
        """Turn one run into the files of a test. Raises `AdapterError`: also `record.nothing_to_assert` for an empty run."""
        recorded = self.source.convert(run)
        if not recorded.trace.events:  # no adapter can replay nothing
            raise _nothing_to_assert(run, recorded.trace)
        return recorded

    def _others(self, own: Path | None) -> dict[str, str]:
        """Return the texts of the tests in the project, by id, without the test at `own`, which the draft replaces."""
        return {id_in(text): text for path, text in self.neighbours.items() if path != own}

    def _chosen(
        self,
        name: str,
        place: Trial,
        spec: dict[str, Any],
        trace: Trace,
        case: TestCase,
        recorded: RecordedTest,
    ) -> Draft:
        """Choose the assertions of the test from all suggestions."""
        passed, findings, unjudged = place.judge(spec, list(suggestions(trace, case)))
        honest = []
        for each in passed:
            verdict = _verdict_before_redaction(each, recorded.trace, case)
            if verdict is None or verdict.passed:
                honest.append(each)
            else:
                findings.append(Finding(each, verdict.message, hidden=True))
        if self.expect_failures and not all(each.hidden for each in findings):
            # The calls and answers of a run with a bug are no example. Telling suggestions hold for any run.
            honest = [each for each in honest if each.telling]
        worth = place.worthwhile(spec, honest, trace)
        left_out = [each for each in honest if each not in worth]
        return Draft(name=name, kept=worth, findings=findings, unjudged=unjudged, left_out=left_out)

    def parts(self, recorded: RecordedTest, cleaner: Cleaner) -> Parts:
        """Clean the run, and put its fixtures into files."""
        clean = cleaner.clean(recorded)
        files = {REPLAY_FILE: self.seal(clean.replay)}
        taken: set[str] = set()
        fixtures = [dict(fixture) for fixture in clean.fixtures]
        for entry in fixtures:
            if entry.get("response") is not None:
                entry["file"] = fixture_file(str(entry["id"]), taken)
                files[entry["file"]] = self.seal(entry.pop("response"))
        used = list(clean.tools) or [cleaner.text(tool) for tool in recorded.trace.tool_counts()]
        tools = {"available": used, **({"fixtures": fixtures} if fixtures else {})}
        return Parts(scenario=clean.scenario, tools=tools, files=files)

    def _spec(self, run: RecordedRun, parts: Parts, cleaner: Cleaner, name: str) -> dict[str, Any]:
        """Return the test without assertions. Its id is provisional until the trace is known."""
        said = cut(cleaner.text(run.first_words), 60)
        return {
            "schema_version": SCHEMA_VERSION,
            "id": f"{self.source.adapter.name}.chat.{name}.as-recorded",
            "title": f'As recorded: "{said}"' if said else f"As recorded: run {run.number}",
            "tags": ["recorded"],
            "adapter": self.source.adapter.name,
            "mode": "replay",
            "scenario": parts.scenario,
            "tools": parts.tools,
            "adapter_input": {"replay_file": REPLAY_FILE},
        }

    def _heading(self, run: RecordedRun, trace: Trace, cleaner: Cleaner) -> list[str]:
        recording = self.source.recording
        named = {SECRETS: "secrets", EMAIL: "e-mail addresses"}
        redacted = [*(name for kind, name in named.items() if kind in self.rules.kinds), "home folders"]
        return [
            f"Recorded by agenteval record from {cleaner.text(recording.kind)}: the run of {run.started_at}.",
            f"Redacted: {', '.join(redacted)}. Names, phone numbers and the like are not.",
            f"Lines that begin with `{DECIDE}:` need your decision.",
            *(f"Not in the recording: {cleaner.text(lack)}" for lack in (*recording.lacks, *trace.unseen)),
        ]


def _verdict_before_redaction(each: Suggestion, trace: Trace, case: TestCase) -> Verdict | None:
    """Judge the unredacted trace for sensitive data; None for other assertions.

    Redaction removes sensitive data, so this check would pass on any draft.
    """
    cls = assertion_class(each.type) if each.type == "no_sensitive_data" else None
    return parse(cls, each.params).judge(trace, case) if cls else None


def _nothing_to_assert(run: RecordedRun, trace: Trace, draft: Draft | None = None) -> AdapterError:
    """Explain why a run gives no assertion: it shows nothing, or its suggestions cannot be judged, or all fail."""
    next_step = "choose another run, or record again with messages and tool calls captured; "
    next_step += "agenteval record --inspect shows what a recording lacks"
    if draft and draft.unjudged:
        lacking = [f"\n  {line}" for line in (*_by_reason(draft.unjudged), *(trace.unseen or trace.notes))]
        why = f"gives no assertion, since the recording lacks what each would need:{''.join(lacking)}"
    elif draft and draft.findings:
        why = f"passes nothing that a test could ask for: {draft.findings[0]}"
        next_step = "if that is the bug, record it with --xfail"
    elif draft and draft.left_out:
        names = ", ".join(each.type for each in draft.left_out)
        why = f"gives no assertion that would notice a regression; it passes only {names}"
    else:
        why = f"shows nothing that a test could check: {', '.join(_lacks(trace))}"
    return AdapterError(
        f"run {run.number} {why}", reason_code="record.nothing_to_assert", next_step=next_step
    )


def _lacks(trace: Trace) -> list[str]:
    tools = ", ".join(trace.tool_counts())
    lacks = [f"no tool call but {tools}" if tools else "no tool call"]
    lacks += ["no answer"] if not trace.output else []
    return lacks + (["no memory"] if not trace.of_type(*MEMORY_EVENTS) else [])


def _by_reason(unjudged: Sequence[Finding]) -> list[str]:
    types: dict[str, list[str]] = {}
    for each in unjudged:
        types.setdefault(each.message, []).append(each.suggestion.type)
    return [f"{', '.join(dict.fromkeys(names))}: {message}" for message, names in types.items()]


def _closing(draft: Draft, failed: Sequence[Finding]) -> Iterator[str]:
    """List the closing comments: the assertions that the test does not have, with reasons. The run fails `failed`."""
    if failed:
        yield f"{DECIDE}: the run does not pass the following, so it was left out. If that is the bug, record with --xfail."
        yield from map(str, failed)
    for each in draft.findings:
        if each.hidden:
            yield (
                f"{DECIDE}: the run does not pass {each.suggestion.type}, which this test cannot show, since sensitive "
                f"values are redacted: {each.message}"
            )
    for line in _by_reason(draft.unjudged):
        yield f"Not asked for, since the recording does not show it: {line}"
    if draft.left_out:
        names = ", ".join(each.type for each in draft.left_out)
        yield f"Left out, since the assertions above already catch what these would: {names}."


def _must_pass(place: Trial) -> None:
    """Check that the final test passes, and that each assertion has something to judge. Raises `AdapterError`."""
    result = place.run().result
    if result.status != "pass":
        wrong = [f"{each.id}: {each.message}" for each in result.assertions if each.status != "pass"]
        raise AdapterError(
            f"the drafted test does not pass: {result.error.message if result.error else '; '.join(wrong)}",
            reason_code="record.not_replayed",
            next_step="this is a bug: report it with the recording",
        )


def editor_header(folder: Path, root: Path) -> str:
    """Return the line with the schema for editors, for a test in that folder; empty where the project has no schema."""
    for name in (".agenteval/test-case.schema.json", "schemas/test-case.schema.json"):
        if (root / name).is_file():
            return f"# yaml-language-server: $schema={Path(os.path.relpath(root / name, folder)).as_posix()}"
    return ""
