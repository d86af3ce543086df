"""Mutation testing on the console: every mutant that no assertion noticed, with an assertion to add; then the scores."""

from agenteval.mutation.results import MutantResult, MutationReport, Score, TestMutation, percent
from agenteval.reporters.console import Console
from agenteval.reporters.terminal import Part
from agenteval.text.fitting import counted


def print_mutants_of(console: Console, test: TestMutation) -> None:
    """Print one test, once its mutants are judged: survivors in full; with `-v` the others on a line each."""
    if console.verbosity < 0:
        return
    if test.reason:
        console.emit(("SKIP", "yellow"), " ", (test.test_case_id, "bold"), "   ", (test.reason, "dim"))
        console.gap()
        return
    _, style = _look(test)
    facts = console.dotted(_counted(test.killed, test.survived, test.equivalent))
    console.columns(
        [(f"{percent(test.score):>5}", style), " ", (test.test_case_id, "bold")],
        (facts, "dim"),
        indent=6,
        gap="   ",
    )
    suggested: set[str] = set()
    for mutant in test.mutants:
        if mutant.status == "survived":
            _survivor(console, mutant, suggested)
        elif console.verbosity > 0:
            _noticed(console, mutant)
    for idle in test.idle_assertions:
        console.columns(
            [("  idle", "yellow"), f" {idle.id}"], f"{idle.type}: it noticed none of these mutants", indent=6
        )
    if test.survived or test.idle_assertions or console.verbosity > 0:
        console.gap()


def _survivor(console: Console, mutant: MutantResult, suggested: set[str]) -> None:
    _print_mutant(console, ("  survived", "red"), mutant, "")
    for line in mutant.difference:
        console.line(line, indent=6, style={"-": "red", "+": "green"}.get(line[:1], "dim"))
    if mutant.suggestion is None:
        console.emit("      no assertion type is known that would notice it")
        return
    if mutant.suggestion.yaml in suggested:
        console.line(f"{mutant.suggestion.id} above ({mutant.suggestion.type}) notices it", indent=4)
        return
    suggested.add(mutant.suggestion.yaml)
    console.emit("    add this, which was tried and notices it:")
    for line in mutant.suggestion.yaml.splitlines():
        console.emit(f"    {line}")


def _noticed(console: Console, mutant: MutantResult) -> None:
    if mutant.status == "killed":
        _print_mutant(console, ("  killed", "green"), mutant, f" ({', '.join(mutant.killed_by)})")
    else:
        _print_mutant(console, ("  equivalent", "dim"), mutant, f" ({mutant.rule})")


def _print_mutant(console: Console, word: Part, mutant: MutantResult, why: str) -> None:
    console.columns([word, f" {mutant.operator}:"], f"{mutant.what}{why}", indent=6, gap=" ")


def print_summary(console: Console, report: MutationReport) -> None:
    """Print the scores by operator and by category, and the totals on a line."""
    console.gap()
    for title, scores in (("operators", report.operators), ("categories", report.categories)):
        if scores:
            console.emit((title, "bold"))
            _table(console, scores)
            console.gap()
    total = report.killed + report.survived + report.equivalent
    facts = _counted(report.killed, report.survived, report.equivalent)
    console.emit(f"{counted(total, 'mutant')} of {counted(len(report.tests), 'test')}: {', '.join(facts)}")
    if report.idle_assertions:
        console.emit(f"{counted(len(report.idle_assertions), 'idle assertion')}, which noticed nothing")
    console.emit(f"score {percent(report.score)}, seed {report.seed}")


def _table(console: Console, scores: list[Score]) -> None:
    width = max(len(each.name) for each in scores)
    for each in scores:
        sign, style = _look(each)
        facts = console.dotted(_counted(each.killed, each.survived, each.equivalent))
        console.emit(
            "  ", (console.mark(sign), style), f" {each.name:<{width}}  {percent(each.score):>5}  {facts}"
        )


def _look(one: Score | TestMutation) -> tuple[str, str]:
    """Return sign and style of a score. Equivalent mutants alone prove nothing, and are not green."""
    if one.survived:
        return "warn", "yellow"
    return ("pass", "green") if one.killed else ("skip", "dim")


def _counted(killed: int, survived: int, equivalent: int) -> list[str]:
    pairs = ((killed, "killed"), (survived, "survived"), (equivalent, "equivalent"))
    return [f"{number} {word}" for number, word in pairs if number or word == "killed"]
