"""What the answer suggests: its form and length, that it makes nothing up, and that it gives nothing away."""

import re
from collections.abc import Iterator
from typing import Any

from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.errors import AssertionCrashError
from agenteval.grounding.links import links
from agenteval.grounding.sources import (
    input_sources,
    memory_sources,
    result_sources,
    successful_results,
    texts_of,
)
from agenteval.language.questions import questions
from agenteval.outbound import OUTBOUND
from agenteval.plurals import counted
from agenteval.spec import TestCase
from agenteval.strict import parse
from agenteval.text import blocks, words
from agenteval.trace import Trace

MOST_LINKS = 3
MOST_EXCEPTIONS = 5
"""Facts of one kind without a source that are excepted by name; where there are more, the kind is not checked."""
HARD_FACTS = ["numbers", "dates", "urls", "names", "quotes"]
"""What an answer must not make up. Its wording is its own."""
SHORT = 50
"""Words that any answer may have."""
MARGIN = 2
"""How many times longer, slower or dearer than recorded a run may be."""
EXCUSES = ["as an AI", "language model", "knowledge cutoff", "something went wrong", "unable to complete"]
"""What models and agents say that did not do the work, and what no useful answer has."""
FACTS = (r"https?://", r"\baccording to\b", r"\d")
"""A link, a source, a number."""
DEEDS = {"send": "sent", "schedule": "scheduled", "update": "updated", "write": "written"}
"""Signs of tools that act, and what an agent says that used them."""


def output_suggestions(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What the final output, and the measures of the run, suggest."""
    if trace.output:
        if asked := questions(trace.output):
            yield from _question(trace, len(asked))
        yield from _form(trace.output)
        yield from _content(trace)
        yield from _grounded(trace, case)
        yield from _not_said(trace, case)
        answers = len(trace.of_type("final_output"))
        yield Suggestion(
            id="answers-once" if answers == 1 else "answers-as-often",
            type="efficiency_within",
            params={"max_turns": answers},
            why=f"the run has {counted(answers, 'answer')}; with more it would have happened twice",
        )
    sends_known = trace.capabilities.supports_tool_trace and not trace.unseen
    yield Suggestion(
        id="gives-nothing-away",
        telling=True,
        type="no_sensitive_data",
        params={
            "kinds": ["secrets", "email", "phone", "credit_card"],
            "where": ["output", "outbound"] if sends_known else ["output"],
        },
        why="what was sent contains no keys, addresses or phone numbers",
    )
    yield from _measures(trace)


def _form(output: str) -> Iterator[Suggestion]:
    """A list of as many items, JSON, or else any answer; and about as long."""
    kinds = [block.kind for block in blocks(output)]
    for kind, form, items in (("bullet", "bullet_list", "bullets"), ("number", "numbered_list", "items")):
        if (number := kinds.count(kind)) > 1:  # type: ignore[arg-type]
            yield Suggestion(
                id=f"{number}-{items}",
                type="output_matches_format",
                params={"format": form, f"min_{items}": number, f"max_{items}": number},
                why=f"the answer is a list of {counted(number, items[:-1])}",
                decide="was exactly this number asked for? if not, widen the bounds",
            )
            break
    else:
        if output.lstrip()[:1] in ("{", "["):
            yield Suggestion(
                id="is-json",
                type="output_matches_format",
                params={"format": "json"},
                why="the answer is JSON",
                decide="which keys are required?",
            )
            return
    yield _length(output, only_items=set(kinds) in ({"bullet"}, {"number"}))
    yield Suggestion(
        id="answers-at-all",
        type="output_contains",
        params={"regex": r"\S"},
        why="the agent answered; a run that was cut off, or has nothing to say, does not",
    )


def _length(output: str, *, only_items: bool) -> Suggestion:
    """Twice as many words, rounded up to tens; an answer of one line, or of nothing but items, has no line more."""
    lines, size = len(output.strip().splitlines()), len(words(output))
    most = max(SHORT, -(-MARGIN * size // 10) * 10)
    params: dict[str, Any] = {"format": "max_length", "max_words": most}
    told = f"{counted(size, 'word')}"
    if lines == 1 or only_items:
        params["max_lines"] = lines
        told += f" in {counted(lines, 'line')}"
    return Suggestion(
        id="stays-brief",
        type="output_matches_format",
        params=params,
        why=f"the answer has {told}; one with a preamble, or much longer, would be another kind of answer",
        decide="how long may it be?",
    )


def _content(trace: Trace) -> Iterator[Suggestion]:
    sources = [
        text for result in successful_results(trace, []) for text in texts_of(result.data.get("result"))
    ]
    sources += [text for call in trace.calls() for text in texts_of(call.args)]
    known = {link.key for text in sources for link in links(text)}
    found = [link.text for link in links(trace.output) if link.key in known]
    if cited := list(dict.fromkeys(found))[:MOST_LINKS]:
        yield Suggestion(
            id="links-its-sources",
            type="output_contains",
            params={"all_of": cited},
            why="the answer links to its sources",
            decide="must it be these sources?",
        )


def _grounded(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """The answer makes no facts up: those of its facts that no source has are excepted by name."""
    tools = list(
        dict.fromkeys(call.tool for call in trace.calls() if call.succeeded and call.tool != OUTBOUND)
    )
    if not tools:
        yield from _nothing_stated(trace, case)
        return
    params: dict[str, Any] = {"allowed_sources": tools, "include_memory": True}
    unknown = {kind: _unknown({**params, "check": [kind]}, trace, case) for kind in HARD_FACTS}
    kinds = [kind for kind, facts in unknown.items() if len(facts or ()) <= MOST_EXCEPTIONS]
    allowed = list(dict.fromkeys(fact for kind in kinds for fact in unknown[kind] or ()))
    where = "in what the tools returned, in memory, or in what the user said"
    yield Suggestion(
        id="states-only-known-facts",
        telling=True,
        type="claims_supported_by_fixtures",
        params={**params, "check": HARD_FACTS},
        why=f"every number, date, link, name and quote of the answer is {where}; its wording is the agent's own",
        excepting=Suggestion(
            id="states-no-other-unknown-facts",
            telling=True,
            type="claims_supported_by_fixtures",
            params={**params, "check": kinds, **({"allow": allowed} if allowed else {})},
            why=f"all {', '.join(kinds)} of the answer are {where}"
            + (", but for those in allow" if allowed else ""),
            decide="where does the answer have these from? remove from allow what it must not say"
            if allowed
            else "",
        )
        if kinds
        else None,
    )
    if all(facts is None for facts in unknown.values()):
        yield from _nothing_stated(trace, case)
    yield Suggestion(
        id="invents-no-source",
        telling=True,
        type="no_fabricated_source_or_citation",
        params={"allowed_sources": tools},
        why="everything that the answer cites is found in what the tools returned",
    )


def _unknown(params: dict[str, Any], trace: Trace, case: TestCase) -> list[str] | None:
    """The facts of the answer that no source has; None where it has none that could be checked, or too many."""
    try:
        verdict = parse(ClaimsSupportedByFixtures, params).judge(trace, case)
    except AssertionCrashError:
        return None
    if not verdict.exercised:
        return None
    return [fact for claim in verdict.observed.get("claims", ()) for fact in claim["unsupported"]]


def _nothing_stated(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """What neither the answer has nor anything that the agent knew: a link, a number, somebody who says so."""
    known = [
        *input_sources(trace),
        *memory_sources(trace, case),
        *result_sources(successful_results(trace, [])),
    ]
    texts = [trace.output, *(text for source in known for text in texts_of(source.value))]
    patterns = [each for each in FACTS if not any(re.search(each, text, re.IGNORECASE) for text in texts)]
    if patterns:
        yield Suggestion(
            id="states-no-facts",
            type="output_omits",
            params={"regex": True, "patterns": patterns},
            why="nothing that the agent was told or read has any of this: in the answer it would be made up",
            decide="may it give one that it knows from elsewhere? then remove the pattern",
        )


def _not_said(trace: Trace, case: TestCase) -> Iterator[Suggestion]:
    """No excuse, and no deed that was not done."""
    text = trace.output.casefold()
    if patterns := [each for each in EXCUSES if each.casefold() not in text]:
        yield Suggestion(
            id="makes-no-excuse",
            type="output_omits",
            params={"patterns": patterns},
            why="the agent did the work, or said what kept it from doing so",
        )
    used = trace.tool_counts()
    idle = {sign for sign in DEEDS for tool in case.tools.available if sign in tool and tool not in used}
    deeds = [deed for sign, deed in DEEDS.items() if sign in idle and not any(sign in tool for tool in used)]
    if deeds:
        yield Suggestion(
            id="claims-nothing-undone",
            type="output_omits",
            params={"regex": True, "patterns": [rf"\bI(?:'ve| have)? {deed}\b" for deed in deeds]},
            why="the agent did nothing of the kind, and must not say that it did",
        )


def _question(trace: Trace, number: int) -> Iterator[Suggestion]:
    if trace.calls():
        return
    yield Suggestion(
        id="asks-instead-of-guessing",
        type="ask_clarifying_when_ambiguous",
        params={"max_questions": number},
        why="the agent asked before it did anything",
        decide="name what it must ask about in topics, and what it must not do before asking in forbidden_tools",
    )


def _measures(trace: Trace) -> Iterator[Suggestion]:
    total = (trace.metrics.token_usage or {}).get("total_tokens")
    output = (trace.metrics.token_usage or {}).get("output_tokens")
    limits: dict[str, int] = {}
    if isinstance(total, int) and total > 0:
        limits["max_total_tokens"] = MARGIN * total
    elif isinstance(output, int) and output > 1:
        limits["max_output_tokens"] = MARGIN * output
    if limits:
        yield Suggestion(
            id="costs-no-more",
            type="efficiency_within",
            severity="warning",
            params=limits,
            why="twice as many tokens as recorded would be worth a look",
            decide="what may it cost?",
        )
