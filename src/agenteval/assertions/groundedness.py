"""Support of the output by the results of tools (SPEC 14, groundedness and hallucination)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import (
    Assertion,
    Category,
    Proof,
    Verdict,
    failed,
    failed_calls,
    has_output,
    nothing_said,
    output_events,
    passed,
    vacuous,
)
from agenteval.contracts.models import Between, NotEmpty, WrongPart, model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Event, Trace
from agenteval.grounding.citations import Known, citations
from agenteval.grounding.claims import claims
from agenteval.grounding.facts import references
from agenteval.grounding.links import Link, links
from agenteval.grounding.marking import marked
from agenteval.grounding.outcomes import admits, outcomes
from agenteval.grounding.sources import (
    call_sources,
    input_sources,
    memory_sources,
    result_sources,
    successful_results,
    texts_of,
    tool_results,
)
from agenteval.grounding.support import Basis, Check, Support, corpus_of, score, supports
from agenteval.matching.selectors import is_any_of
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import counted, cut, plural
from agenteval.text.lazy_regexes import lazy

MOST_MARKED = 40
"""The most parts of a claim that are marked."""
ALL_CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "contradictions", "wording")
UNASKED: tuple[Check, ...] = ALL_CHECKS[:-1]
"""The checks of a test that does not choose: all but the wording."""
MIN_SUPPORT = 0.66
"""The share of its wording that a claim must have from its sources, if a test asks for wording and sets no share."""


@model
class ClaimsSupportedByFixtures(Assertion):
    """Everything the final output claims is supported by what the tools returned.

    A claim is a bullet, a numbered item, a table row or else a sentence. Its numbers, dates, URLs, names and quotes must occur in
    the sources, near its words and in the object that it names, and the nearest passage must not contradict it.
    docs/groundedness.md explains the rules and their limits.

    Fails if there is no successful result of an allowed source. Vacuous if the output makes no claim of the kinds in `check`.
    """

    type: ClassVar[str] = "claims_supported_by_fixtures"
    category: ClassVar[Category] = "groundedness"
    failure_category: ClassVar[str] = "unsupported claims"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass",)
    example: ClassVar[str] = """\
allowed_sources: [web_search, web_fetch]
allow: [Acme Support, "24 hours"]
"""

    allowed_sources: list[str] = field(default_factory=list)
    """Tools (names or globs) that support claims by their successful results; all tools if empty. If tools are named, a statement that shares no word with their results fails, too."""
    include_memory: bool = False
    """True if memory that was read, and `memory_snapshot`, support claims."""
    include_input: bool = True
    """True if the messages of the user support claims."""
    min_support: Annotated[float, Between(0, 1)] | None = None
    """The share of each claim's wording that must occur in its sources, in order. It suits summaries; 0.66 is a good start."""
    check: Annotated[list[Check], NotEmpty()] = field(  # type: ignore[assignment]
        default_factory=lambda: list(UNASKED)
    )
    """The parts of claims that are judged."""
    allow: list[str] = field(default_factory=list)
    """Names, numbers, dates and links that need no source."""

    @property
    def _checks(self) -> list[Check]:
        """The checks that are made. A test that sets only `min_support` asks for wording, too."""
        is_asked = self.min_support is not None and tuple(self.check) == UNASKED
        return [*self.check, "wording"] if is_asked else self.check

    @property
    def _least(self) -> float:
        return MIN_SUPPORT if self.min_support is None else self.min_support

    def judge(self, trace: Trace, case: TestCase) -> Verdict:
        if not has_output(trace):
            return nothing_said(trace)
        claimed = claims(trace.output)
        if not claimed:
            return vacuous("the output claims nothing")
        results = successful_results(trace, self.allowed_sources)
        if not results:
            return _no_results("support its claims", self.allowed_sources, trace, claims=len(claimed))
        basis = Basis(
            sources=[*result_sources(results), *(memory_sources(trace, case) if self.include_memory else ())],
            said=input_sources(trace) if self.include_input else (),
            called=list(call_sources(results, trace)),
            counted=outcomes(tool_results(trace, self.allowed_sources), trace),
        )
        judged = supports(trace.output, basis, self._checks, self.allow)
        # The last result counts failures ("7 failed"), and the output does not admit them. If the output also states nothing that
        # could be checked ("I cleaned up."), a pass would prove nothing.
        failing = [each for each in basis.counted[-1:] if each.failing and not admits(trace.output)]
        if failing and all(self._holds(each) and not each.is_stated for each in judged):
            observed = [self._observed(each) for each in judged]
            return vacuous(
                f'no claim states anything to hold against "{failing[0].failing}" ({failing[0].event_id})',
                claims=observed,
            )
        if any(each.judged or not self._holds(each) for each in judged):
            return self._verdict(judged, trace)
        checks, observed = ", ".join(self._checks), [self._observed(each) for each in judged]
        return vacuous(f"the output makes no claim that can be checked by {checks}", claims=observed)

    def _verdict(self, judged: Sequence[Support], trace: Trace) -> Verdict:
        unsupported = [each for each in judged if not self._holds(each)]
        unchecked = sum(not each.is_stated and self._holds(each) for each in judged)
        by_id = {event.event_id: event for event in trace.events}
        observed: dict[str, Any] = {
            "claims": [self._observed(each) for each in judged],
            "supported": len(judged) - len(unsupported) - unchecked,
            "unchecked": unchecked,
            "min_support": self._least if "wording" in self._checks else None,
            "score": round(score(judged), 3),
        }
        holders = dict.fromkeys(each.span.event_id for each in judged if each.span and self._holds(each))
        events = [*output_events(trace), *(by_id[event_id] for event_id in holders if event_id in by_id)]
        count = counted(len(judged) - unchecked, "claim")
        if not unsupported:
            return passed(_all_supported(len(judged) - unchecked, unchecked), events=events, **observed)
        shown = [(each, self._marked(each, 120)) for each in unsupported]
        reasons = [f'"{text}" ({"; ".join(self._reasons(each))})' for each, text in shown]
        closest = list(_nearest_passages(shown, by_id))
        message = (
            f"expected {_sources_named(self.allowed_sources)} to support every claim,"
            f" got {len(unsupported)} of {count} unsupported:{_one_a_line(reasons)}"
        )
        return failed(message, events=events, closest=closest, **observed)

    def _holds(self, each: Support) -> bool:
        """Return whether the sources support a claim. Sources that a test names must share a word with it, too."""
        return each.holds(self._least) and not (self.allowed_sources and each.is_unheard)

    def _reasons(self, each: Support) -> list[str]:
        """List the reasons why a claim is not supported."""
        found = ["no source has any of its words"] if self.allowed_sources and each.is_unheard else []
        if unknown := [fact for fact in each.unsupported if fact not in each.elsewhere]:
            found.append(f"no source has {', '.join(unknown)}")
        if each.elsewhere:
            found.append(f"no source says this about {', '.join(each.elsewhere)}")
        found += [f'the source contradicts "{cut(part, 80)}"' for part in each.contradicted]
        if each.score < self._least:
            found.append(f"wording supported {each.score:g}, needed {self._least:g}")
        return found

    def _marked(self, each: Support, limit: int) -> str:
        """Return the text of a claim with its unsupported parts marked."""
        missing = each.missing if each.score < self._least else ()
        parts = [*each.unsupported, *each.contradicted, *missing]
        return marked(each.claim.text, parts[:MOST_MARKED], limit)

    def _observed(self, each: Support) -> dict[str, Any]:
        span = each.span
        found = {
            "text": each.claim.text,
            "support": each.score,
            "event_id": span.event_id if span else None,
            "pointer": span.pointer if span else None,
            "span": cut(span.text) if span else None,
            "unsupported": list(each.unsupported),
        }
        if not self._holds(each):
            found |= {"marked": self._marked(each, 200), "reasons": self._reasons(each)}
        return found


def _all_supported(supported: int, unchecked: int) -> str:
    """Return the message of a pass. `unchecked` claims hold nothing that sources could support or contradict."""
    without = f"{plural(unchecked, 'states', 'state')} no fact to check (min_support judges wording)"
    if not supported:
        return f"no source contradicts what {without}"
    beside = f"; {unchecked} more {without}" if unchecked else ""
    return f"the sources support all of {counted(supported, 'claim')}{beside}"


def _nearest_passages(
    shown: Sequence[tuple[Support, str]], by_id: Mapping[str, Event]
) -> Iterator[tuple[Event, str]]:
    """Yield the passages nearest to claims, best first: the evidence shows an event with its first note alone."""
    for each, text in sorted(shown, key=lambda pair: -pair[0].score):
        span = each.span
        if span and span.event_id in by_id:
            place = f" at {span.pointer}" if span.pointer else ""
            yield by_id[span.event_id], f'closest to "{text}"{place}: "{cut(span.text, 200)}"'


def _one_a_line(reasons: Sequence[str]) -> str:
    """Join reasons for a message: a single one on the same line, several on a line each."""
    return f" {reasons[0]}" if len(reasons) == 1 else "".join(f"\n  {each}" for each in reasons)


def _sources_named(allowed: Sequence[str]) -> str:
    return f"the results of {', '.join(allowed)}" if allowed else "the tool results"


def _no_results(purpose: str, allowed: Sequence[str], trace: Trace, **observed: Any) -> Verdict:
    """Return the failure of a check that has no result to compare the output with."""
    wanted = f"of {', '.join(allowed)}" if allowed else "of a tool"
    others = dict.fromkeys(str(event.data.get("tool")) for event in successful_results(trace, ()))
    got = f"only of {', '.join(others)}" if others else "none"
    calls = [call for call in trace.calls() if not allowed or is_any_of(allowed, call)]
    unanswered = [(call.event, "has no result") for call in calls if not (call.succeeded or call.failed)]
    return failed(
        f"expected a successful result {wanted} to {purpose}, got {got}",
        events=output_events(trace),
        closest=[*failed_calls(calls), *unanswered],
        **observed,
    )


@model
class NoFabricatedSourceOrCitation(Assertion):
    """Every source that the final output cites occurs in what the tools returned.

    URLs, domains, DOIs and arXiv ids must occur in a successful result, the arguments of its call, a message of the user, or
    `allow`. They are compared without `www.`, fragment and tracking parameters. A named source ("according to X", "(Source: X)")
    must occur in a result, by name or as a host. It may also be the tool that returned one, its MCP server, or a file that the
    call asked for. A number like [1] needs a line in the output with a URL or title that is in a result. Without these lines, there
    must be at least as many sources as the highest number.

    Fails if there are citations but no successful result. Vacuous if the output cites nothing.
    """

    type: ClassVar[str] = "no_fabricated_source_or_citation"
    category: ClassVar[Category] = "groundedness"
    failure_category: ClassVar[str] = "fabricated sources"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass",)
    example: ClassVar[str] = """\
allowed_sources: [web_search, web_fetch]
allow: [docs.example.com]
"""

    allowed_sources: list[str] = field(default_factory=list)
    """Tools (names or globs) that may be cited by their successful results; all tools if empty."""
    allow: list[str] = field(default_factory=list)
    """URLs (with everything below them) and domains (with subdomains) that may always be cited."""

    def __post_init__(self) -> None:
        for index, entry in enumerate(self.allow):
            if not _reference(entry):
                raise WrongPart(f"allow holds {entry!r}, which is neither a URL nor a domain", "allow", index)

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        if not has_output(trace):
            return nothing_said(trace)
        cited = citations(trace.output)
        if not cited:
            return vacuous("the output cites nothing")
        results = successful_results(trace, self.allowed_sources)
        known = self._known(trace, results)
        objections = [(citation, known.objection(citation)) for citation in cited]
        observed: dict[str, Any] = {
            "citations": [
                {"text": each.text, "kind": each.kind, "known": objection is None, "reason": objection or ""}
                for each, objection in objections
            ]
        }
        wrong = [(citation, objection) for citation, objection in objections if objection]
        if wrong and not results:
            shown = ", ".join(citation.text for citation, _ in wrong)
            return _no_results(f"support {shown}", self.allowed_sources, trace, **observed)
        events = [*output_events(trace), *results]
        if wrong:
            reasons = [f"{cut(citation.text, 160)} ({objection})" for citation, objection in wrong]
            message = (
                f"expected {_sources_named(self.allowed_sources)} to hold everything the output cites,"
                f" got {len(wrong)} of {len(cited)} unknown:{_one_a_line(reasons)}"
            )
            return failed(message, events=events, **observed)
        shown = ", ".join(citation.text for citation in cited)
        return passed(f"the sources hold everything the output cites: {shown}", events=events, **observed)

    def _known(self, trace: Trace, results: Sequence[Event]) -> Known:
        called = [text for source in call_sources(results, trace) for text in source.value]
        said = [text for source in input_sources(trace) for text in texts_of(source.value)]
        return Known(
            corpus_of(result_sources(results)),
            called=[link for text in called for link in references(text)],
            results=sum(map(_is_citable, results)),
            given=[link for text in said for link in links(text)],
            allow=[link for entry in self.allow if (link := _reference(entry))],
            tools=[name for event in results for name in _names(event, trace)],
        )


def _names(result: Event, trace: Trace) -> Iterator[str]:
    """Yield the names by which a result may be cited: the tool, the server of `mcp__server__tool`, files in the arguments."""
    tool = str(result.data.get("tool"))
    yield from (tool, *tool.split("__")[1:2])
    call = trace.call_of(result)
    for value in call.args.values() if call else ():
        if isinstance(value, str):
            yield from _FILE.findall(value)


# The name of a file without folder and extensions: "report" of `/data/report.final.pdf`.
_FILE = lazy(r"(?:\A|[/\\])([^/\\.\s][^/\\.\n]{0,80})(?:\.\w{1,8}){1,3}\Z")


def _reference(entry: str) -> Link | None:
    """Return the URL or domain of an entry of `allow`; None if the entry is neither."""
    entry = entry.strip().removeprefix("*.")
    found = links(entry) or links(f"https://{entry}")
    whole = len(found) == 1 and " " not in entry and "." in found[0].key
    return found[0] if whole else None


def _is_citable(result: Event) -> bool:
    """Return whether a result is long enough to be cited by a number. "ok" and the receipt of a message are not."""
    text = " ".join(texts_of(result.data.get("result")))
    return result.data.get("tool") != OUTBOUND and len(text.split(maxsplit=LEAST_CITABLE)) >= LEAST_CITABLE


LEAST_CITABLE = 4
"""The fewest words of a result that may be cited by a number."""
