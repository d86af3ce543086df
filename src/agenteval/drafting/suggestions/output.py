"""What the answer suggests: its form, what it must say, that it is supported, and that it gives nothing away."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from agenteval.drafting.suggestions.suggestion import Suggestion
from agenteval.grounding.facts import Facts
from agenteval.grounding.links import links
from agenteval.grounding.sources import input_sources, result_sources, successful_results, texts_of
from agenteval.grounding.support import Basis, supports
from agenteval.language.questions import questions
from agenteval.outbound import OUTBOUND
from agenteval.plurals import counted
from agenteval.text import blocks, words
from agenteval.trace import Trace

MIN_SUPPORT = 0.66
"""How far the wording of an answer that keeps to its sources is theirs."""
MOST_LINKS = 3
MOST_NUMBERS = 5
FEW_WORDS = 3
HARD_FACTS = ["numbers", "dates", "urls", "names", "quotes"]
"""What an answer must not make up; what it most often has in words of its own comes last."""
MARGIN = 2
"""How many times longer, slower or dearer than recorded a run may be."""


def output_suggestions(trace: Trace) -> Iterator[Suggestion]:
    """What the final output, and the measures of the run, suggest."""
    if trace.output:
        yield from _form(trace.output)
        yield from _content(trace)
        yield from _grounded(trace)
        if asked := questions(trace.output):
            yield from _question(trace, len(asked))
    yield Suggestion(
        id="gives-nothing-away",
        telling=True,
        type="no_sensitive_data",
        params={"kinds": ["secrets", "email", "phone", "credit_card"], "where": ["output", "outbound"]},
        why="what was sent contains no keys, addresses or phone numbers",
    )
    yield from _measures(trace)


def _form(output: str) -> Iterator[Suggestion]:
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
            return
    if output.lstrip()[:1] in ("{", "["):
        yield Suggestion(
            id="is-json",
            type="output_matches_format",
            params={"format": "json"},
            why="the answer is JSON",
            decide="which keys are required?",
        )
    elif len(words(output)) <= FEW_WORDS:
        yield Suggestion(
            id="answers-so",
            type="output_contains",
            params={"all_of": [output.strip()]},
            why="the answer is this short",
            decide="must it contain these words?",
        )
    else:
        yield Suggestion(
            id="answers-at-all",
            type="output_contains",
            params={"regex": r"\S"},
            why="the agent answered; a run that was cut off, or has nothing to say, does not",
        )
        longest = max(10, MARGIN * len(words(output)))
        yield Suggestion(
            id="stays-brief",
            type="output_matches_format",
            severity="warning",
            params={"format": "max_length", "max_words": longest},
            why=f"the answer has {len(words(output))} words; twice as many would be a different kind of answer",
            decide="how long may it be?",
        )


def _content(trace: Trace) -> Iterator[Suggestion]:
    sources = [text for result in successful_results(trace, []) for text in texts_of(result.data.get("result"))]
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


def _grounded(trace: Trace) -> Iterator[Suggestion]:
    tools = list(
        dict.fromkeys(call.tool for call in trace.calls() if call.succeeded and call.tool != OUTBOUND)
    )
    if not tools:
        return
    params = {"allowed_sources": tools, "include_memory": True}
    yield Suggestion(
        id="says-only-what-it-read",
        telling=True,
        type="claims_supported_by_fixtures",
        params={**params, "min_support": MIN_SUPPORT},
        why="every claim of the answer is, mostly in the same words, in what the tools returned, in memory, or in what the "
        "user said",
        instead=[
            Suggestion(
                id="states-only-known-facts",
                telling=True,
                type="claims_supported_by_fixtures",
                params=params,
                why="every number, date, link, name and quote of the answer is in what the tools returned, in memory, "
                "or in what the user said, and nothing there contradicts it; its wording is the agent's own",
            )
        ],
        beside=[
            _states_known(kinds, params)
            for size in range(len(HARD_FACTS) - 1, 0, -1)
            for kinds in combinations(HARD_FACTS, size)
        ]
        + _known_numbers(trace, tools),
    )
    yield Suggestion(
        id="invents-no-source",
        telling=True,
        type="no_fabricated_source_or_citation",
        params={"allowed_sources": tools},
        why="everything that the answer cites is found in what the tools returned",
    )


def _states_known(kinds: Sequence[str], params: dict[str, Any]) -> Suggestion:
    """That all facts of these kinds are known, where those of the others are not."""
    others = [kind for kind in HARD_FACTS if kind not in kinds]
    return Suggestion(
        id=f"states-only-known-{'-'.join(kinds)}",
        telling=True,
        type="claims_supported_by_fixtures",
        params={**params, "check": [*kinds]},
        why=f"all {', '.join(kinds)} of the answer are in what the tools returned, in memory, or in what the user "
        f"said; not all of its {', '.join(others)} are",
    )


def _known_numbers(trace: Trace, tools: Sequence[str]) -> list[Suggestion]:
    """The numbers of the answer that the sources have, by themselves: where one has no source, all go unchecked."""
    results = successful_results(trace, tools)
    basis = Basis(sources=result_sources(results), said=input_sources(trace))
    judged = supports(trace.output, basis, ["numbers"])
    stated = [Facts(each.claim.text) for each in judged if not each.unsupported]
    known = [number.text for each in stated for number in each.numbers]
    if not known or len(stated) == len(judged):
        return []
    return [
        Suggestion(
            id="states-these-numbers",
            type="output_contains",
            params={"all_of": list(dict.fromkeys(known))[:MOST_NUMBERS]},
            why="the answer has these numbers from its sources; others it has not, so that not all can be checked",
            decide="must it be these numbers?",
        )
    ]


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
