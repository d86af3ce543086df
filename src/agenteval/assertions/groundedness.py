"""Whether the output rests on what the tools returned (SPEC 14, groundedness and hallucination)."""

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, ClassVar

from agenteval.assertions.base import Assertion, Category, Proof, Verdict, failed, passed, vacuous
from agenteval.assertions.final_output import has_output, nothing_said, output_events
from agenteval.assertions.telling import failed_calls, one_a_line
from agenteval.findings import WrongPart
from agenteval.grounding.citations import Citation, Known, citations
from agenteval.grounding.claims import claims
from agenteval.grounding.links import Link, links
from agenteval.grounding.marking import marked
from agenteval.grounding.passages import Span
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import (
    call_sources,
    input_sources,
    memory_sources,
    result_sources,
    successful_results,
    texts_of,
)
from agenteval.grounding.support import Basis, Check, Support, score, supports
from agenteval.lazyregex import lazy
from agenteval.outbound import OUTBOUND
from agenteval.plurals import counted
from agenteval.selectors import is_any_of
from agenteval.shortening import cut
from agenteval.spec import TestCase
from agenteval.strict import Between, NotEmpty, model
from agenteval.text import fold
from agenteval.trace import Event, Trace

MOST_MARKED = 40
"""Parts of a claim that are marked."""
ALL_CHECKS: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "wording")


@model
class ClaimsSupportedByFixtures(Assertion):
    """Everything the final output claims is supported by what the tools returned.

    A claim is a bullet, a numbered item or a table row, otherwise a sentence. Questions, greetings, headings,
    code blocks, and marks such as [1] claim nothing; in a list of sources, lines with numbers and no link are
    judged by their hard facts. The sources are the successful results
    of `allowed_sources` (their strings and numbers, and the fields of their objects with their names), what
    the user said and, if asked for, memory.

    Hard facts must occur in the sources. Numbers are compared by value (`41%` is `41 percent`, `$58bn` is
    `58 billion dollars`) and must be near words of the claim; dates by day, month and year, as far as they
    are stated; URLs without tracking parameters and the like (the URL of a page that was fetched counts as
    known); names word by word; quotes of three words or more literally. A number that counts the list below
    it needs no source. Wording gets a score from 0 to 1: the share of the claim's content words that the
    sources have, a fifth of it in the best single passage, reduced by up to 30% if they are not in the order
    of the sources. A word that only the user said counts half. A claim that denies what the nearest passage
    says, has the opposite of one of its words ("rose" for "fell"), a temperature on the other side of zero, or
    swaps who did what, is not supported.
    What the agent says about its own work ("I searched …", "Report sent.") and what introduces a list are
    judged only by their hard facts.

    Passes if every claim is supported. Fails if there is no successful result of an allowed source. Vacuous
    if the output is missing or empty, claims nothing, or claims nothing of the kinds in `check`. These are
    rules, not understanding: docs/groundedness.md has figures by kind of error. A claim that combines true
    facts wrongly can pass, and an inference or a free paraphrase fails; for outputs with many of either,
    narrow `check` or lower `min_support`.
    """

    type: ClassVar[str] = "claims_supported_by_fixtures"
    category: ClassVar[Category] = "groundedness"
    failure_category: ClassVar[str] = "unsupported claims"
    implied: ClassVar[tuple[str, ...]] = ("supports_tool_trace",)
    proves: ClassVar[tuple[Proof, ...]] = ("pass",)
    example: ClassVar[str] = """\
allowed_sources: [web_search, web_fetch]
check: [numbers, dates, urls, names]
"""

    allowed_sources: list[str] = field(default_factory=list)
    """Tools (names or globs) whose successful results may support claims; all tools when empty."""
    include_memory: bool = False
    """Whether memory that was read, and the scenario's `memory_snapshot`, may support claims."""
    include_input: bool = True
    """Whether what the user said may support claims."""
    min_support: Annotated[float, Between(0, 1)] = 0.66
    """The minimum wording score of each claim. The default was chosen on measured data."""
    check: Annotated[list[Check], NotEmpty()] = field(  # type: ignore[assignment]
        default_factory=lambda: list(ALL_CHECKS)
    )
    """What is judged: any of numbers, dates, urls, names, quotes and wording. Leave out wording for answers that paraphrase freely."""
    allow: list[str] = field(default_factory=list)
    """Hard facts that need no source, as failures name them: `24 hours`. Case is ignored."""

    def judge(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        if not has_output(trace):
            return nothing_said(trace)
        claimed = claims(trace.output)
        if not claimed:
            return vacuous("the output claims nothing")
        results = successful_results(trace, self.allowed_sources)
        if not results:
            return _no_results("support its claims", self.allowed_sources, trace, claims=len(claimed))
        basis = Basis(
            sources=(*result_sources(results), *(memory_sources(trace, case) if self.include_memory else ())),
            said=tuple(input_sources(trace)) if self.include_input else (),
            called=tuple(call_sources(results, trace)),
        )
        judged = self._allowing(supports(claimed, basis, self.check))
        if not any(each.judged for each in judged):
            return vacuous(
                f"the output makes no claim that can be checked by {', '.join(self.check)}",
                claims=[self._observed(each) for each in judged],
            )
        return self._verdict(judged, trace)

    def _allowing(self, judged: Sequence[Support]) -> list[Support]:
        """What the sources say to the claims, without the facts that need none."""
        allowed = {fold(fact) for fact in self.allow}

        def others(facts: Sequence[str]) -> tuple[str, ...]:
            return tuple(fact for fact in facts if fold(fact) not in allowed)

        return [
            replace(each, unsupported=others(each.unsupported), elsewhere=others(each.elsewhere))
            for each in judged
        ]

    def _verdict(self, judged: Sequence[Support], trace: Trace) -> Verdict:
        unsupported = [each for each in judged if not each.holds(self.min_support)]
        by_id = {event.event_id: event for event in trace.events}
        observed: dict[str, Any] = {
            "claims": [self._observed(each) for each in judged],
            "supported": len(judged) - len(unsupported),
            "min_support": self.min_support,
            "score": round(score(judged), 3),
        }
        holders = dict.fromkeys(
            each.span.event_id for each in judged if each.span and each.holds(self.min_support)
        )
        events = [*output_events(trace), *(by_id[event_id] for event_id in holders if event_id in by_id)]
        count = counted(len(judged), "claim")
        if not unsupported:
            return passed(f"the sources support all of {count}", events=events, **observed)
        shown = [(each, self._marked(each, 120)) for each in unsupported]
        reasons = [f'"{text}" ({"; ".join(self._reasons(each))})' for each, text in shown]
        closest = [
            (by_id[each.span.event_id], _beside(text, each.span))
            for each, text in sorted(
                shown, key=lambda pair: -pair[0].score
            )  # an event is shown with one note
            if each.span and each.span.event_id in by_id
        ]
        message = (
            f"expected {_sources_named(self.allowed_sources)} to support every claim,"
            f" got {len(unsupported)} of {count} unsupported:{one_a_line(reasons)}"
        )
        if not any(each.unsupported or each.contradicted for each in unsupported):
            message += ";" if len(shown) == 1 else "\n "
            message += " if these are its own words for what the sources say, leave wording out of check"
        return failed(message, events=events, closest=closest, **observed)

    def _reasons(self, each: Support) -> list[str]:
        """Why a claim is not supported."""
        found = []
        if unknown := [fact for fact in each.unsupported if fact not in each.elsewhere]:
            found.append(f"no source has {', '.join(unknown)}")
        if each.elsewhere:
            found.append(f"no source says this about {', '.join(each.elsewhere)}")
        found += [f'the source contradicts "{cut(part, 80)}"' for part in each.contradicted]
        if each.score < self.min_support:
            found.append(f"wording supported {each.score:g}, needed {self.min_support:g}")
        return found

    def _marked(self, each: Support, limit: int) -> str:
        """A claim with what is wrong with it marked."""
        missing = each.missing if each.score < self.min_support else ()
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
        if not each.holds(self.min_support):
            found |= {"marked": self._marked(each, 200), "reasons": self._reasons(each)}
        return found


def _beside(claim: str, span: Span) -> str:
    place = f" at {span.pointer}" if span.pointer else ""
    return f'closest to "{claim}"{place}: "{cut(span.text, 200)}"'


def _sources_named(allowed: Sequence[str]) -> str:
    return f"the results of {', '.join(allowed)}" if allowed else "the tool results"


def _no_results(purpose: str, allowed: Sequence[str], trace: Trace, **observed: Any) -> Verdict:
    """The failure of a check that has nothing to compare the output with."""
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

    Citations are URLs, domains, DOIs and arXiv ids; numbered citations such as [1]; and named sources:
    "according to X", "X reports", "(Source: X)". References are compared without scheme, `www.`, fragment,
    trailing slash and tracking parameters. They must occur in a successful result of `allowed_sources`, in
    the arguments of its call (a page that was fetched; no query, nor any text that the agent wrote), in what
    the user said, or in `allow`. A named source must occur in a result, by
    name or in the host of a URL, or be the tool that returned one, its MCP server, or a file that it was
    asked for. A numbered citation needs a line in the output that says what it stands for, and whose URL or
    title is in a result; if the output has no such lines, there must be at least as many sources as its
    number: references, or else results of four words or more, except those of `outbound_send`.

    Passes if every citation is known. Vacuous if the output cites nothing. Fails if there are citations but
    no successful result.
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
    """Tools (names or globs) whose successful results may be cited; all tools when empty."""
    allow: list[str] = field(default_factory=list)
    """URLs (including everything below them) or domains (including subdomains) that may always be cited."""

    def __post_init__(self) -> None:
        for index, entry in enumerate(self.allow):
            if not _reference(entry):
                raise WrongPart(f"allow holds {entry!r}, which is neither a URL nor a domain", "allow", index)

    def check(self, trace: Trace, case: TestCase) -> Verdict:  # noqa: ARG002 - the trace is all it judges
        """Judge one trace."""
        if not has_output(trace):
            return nothing_said(trace)
        cited = citations(trace.output)
        if not cited:
            return vacuous("the output cites nothing")
        results = successful_results(trace, self.allowed_sources)
        known = self._known(trace, results)
        objections = [(citation, known.objection(citation)) for citation in cited]
        observed: dict[str, Any] = {"citations": [_cited(*each) for each in objections]}
        wrong = [(citation, objection) for citation, objection in objections if objection]
        if wrong and not results:
            shown = ", ".join(citation.text for citation, _ in wrong)
            return _no_results(f"support {shown}", self.allowed_sources, trace, **observed)
        events = [*output_events(trace), *results]
        if wrong:
            reasons = [f"{cut(citation.text, 160)} ({objection})" for citation, objection in wrong]
            message = (
                f"expected {_sources_named(self.allowed_sources)} to hold everything the output cites,"
                f" got {len(wrong)} of {len(cited)} unknown:{one_a_line(reasons)}"
            )
            return failed(message, events=events, **observed)
        shown = ", ".join(citation.text for citation in cited)
        return passed(f"the sources hold everything the output cites: {shown}", events=events, **observed)

    def _known(self, trace: Trace, results: Sequence[Event]) -> Known:
        said = [text for source in input_sources(trace) for text in source.texts]
        return Known(
            SourceText(result_sources(results), called=call_sources(results, trace)),
            results=sum(map(_is_citable, results)),
            given=[link for text in said for link in links(text)],
            allow=[link for entry in self.allow if (link := _reference(entry))],
            tools=[name for event in results for name in _names(event, trace)],
        )


def _names(result: Event, trace: Trace) -> Iterator[str]:
    """What may be named for a result: the tool, the server of `mcp__server__tool`, and the files it was asked for."""
    tool = str(result.data.get("tool"))
    yield from (tool, *tool.split("__")[1:2])
    call = trace.call_of(result)
    for value in call.args.values() if call else ():
        if isinstance(value, str):
            yield from _FILE.findall(value)


_FILE = lazy(r"(?:\A|[/\\])([^/\\.\s][^/\\.\n]{0,80})(?:\.\w{1,8}){1,3}\Z")


def _reference(entry: str) -> Link | None:
    """The URL or domain that an entry of `allow` is."""
    entry = entry.strip().removeprefix("*.")
    found = links(entry) or links(f"https://{entry}")
    whole = len(found) == 1 and " " not in entry and "." in found[0].key
    return found[0] if whole else None


def _cited(citation: Citation, objection: str | None) -> dict[str, Any]:
    return {
        "text": citation.text,
        "kind": citation.kind,
        "known": objection is None,
        "reason": objection or "",
    }


def _is_citable(result: Event) -> bool:
    """Whether a result says enough to be cited by a number: no "ok", nor what sending a message returns."""
    told = " ".join(texts_of(result.data.get("result")))
    return result.data.get("tool") != OUTBOUND and len(told.split(maxsplit=LEAST_CITABLE)) >= LEAST_CITABLE


LEAST_CITABLE = 4
"""Words of a result that may be cited by a number."""
