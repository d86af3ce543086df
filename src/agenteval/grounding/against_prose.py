"""What the passage of prose nearest to a claim says otherwise, or a row beside it that the claim names."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from agenteval.grounding import states
from agenteval.grounding.changes import exchanged_changes, outdated
from agenteval.grounding.claim_words import ClaimWords
from agenteval.grounding.clauses import told_otherwise
from agenteval.grounding.contradictions import LONGEST, contradictions, other_names_in
from agenteval.grounding.copies import replaced
from agenteval.grounding.directions import reversed_in_prose
from agenteval.grounding.exchanges import exchanged, exchanged_facts
from agenteval.grounding.known_names import is_initials, is_spelled_out
from agenteval.grounding.passages import Best
from agenteval.grounding.rows import NAMES, as_items, rows_around
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.statements import Fact
from agenteval.grounding.temperatures import misplaced
from agenteval.grounding.wording import tokens as phrase
from agenteval.language.signs import BREAK, words
from agenteval.lazyregex import lazy
from agenteval.text import fold

LEAST_TOLD = 3
"""Words in a row that say something by themselves: "not the only one"."""


class AgainstProse:
    """A claim beside the passage of prose that is nearest to it."""

    def __init__(self, claim: ClaimWords, sources: SourceText, best: Best) -> None:
        self._claim = claim
        self._sources = sources
        self._passages = sources.passages
        self._best = best

    def contradicted(self) -> Iterator[str]:
        """What the passage contradicts, as written."""
        claim, stated, passage = self._claim, self._claim.stated, self._text(self._best)
        if _has_word_for_word(passage, claim.text.strip(f" .{BREAK}")):
            return
        told = [*contradictions(claim.text, passage), *self._by_place_of_names()]
        yield from (part for part in told if not self._is_told(part))
        yield from states.against_prose(claim.text, passage)
        yield from misplaced(stated, passage)
        yield from reversed_in_prose(stated, lambda fact: [passage, *self._near(fact)])
        yield from exchanged_changes(stated, lambda fact: [passage, *self._near(fact)])
        yield from outdated(stated, passage)
        yield from exchanged_facts(stated, passage, claim.content)
        yield from told_otherwise(stated, claim.content, self._passages.prose_with)
        yield from (each.text for each in replaced(stated, passage) if not self._sources.has_phrase(each.row))
        yield from self._by_other_rows(*self._passages.written(self._best))

    def _text(self, best: Best) -> str:
        """A passage, as far as it is compared."""
        return self._passages.span(best).text[:LONGEST]

    def _by_place_of_names(self) -> Iterator[str]:
        """Where the passage nearest to the words of the claim but for its names has others in their place, and none has these there."""
        claim = self._claim
        said = [sign for sign in claim.written if sign not in claim.linked]
        if set(said).issubset(self._best.words):
            return  # the nearest passage has the names
        names = {
            token
            for name in claim.stated.names
            if not (is_initials(name, self._sources) or is_spelled_out(name, self._sources))
            for token in name.tokens
        }
        rest = [sign for sign in said if fold(claim.written[sign]) not in names] if names else []
        best = self._passages.best(rest) if rest else None
        if best and not self._passages.is_record(best):
            yield from other_names_in(claim.text, self._text(best), names)

    def _is_told(self, part: str) -> bool:
        """Whether an excerpt of the claim is told just so: in any source, or when it is short, in the passage nearest to its own part.

        Then another passage does not contradict it: claims may put two sentences into one.
        """
        row = phrase(part)
        if len(row) >= LEAST_TOLD:
            return self._sources.has_phrase(row)
        parts = self._claim.parts
        own = next((each for each in parts if _has_row(each, row)), "") if len(row) > 1 else ""
        best = self._passages.best(list(self._claim.content(own))) if own else None
        return best is not None and _has_row(self._text(best), row)

    def _near(self, fact: Fact) -> Iterator[str]:
        """The passages nearest to a number or a date of the claim: that of the part which states it, and the one that has it."""
        claim, stated = self._claim, self._claim.stated
        ends = accumulate(map(len, stated.parts))
        own = next((part for part, end in zip(stated.parts, ends, strict=True) if fact.start < end), "")
        found = [self._passages.best(list(claim.content(own)))] if len(stated.parts) > 1 else []
        number = claim.signs.content(words(fact.text))
        found.append(self._passages.best(list(number), list(claim.content(stated.plain))))
        for best in found:
            if best and not self._passages.is_record(best):
                yield self._text(best)

    def _by_other_rows(self, text: str, sentence: str) -> Iterator[str]:
        """What rows beside that of a sentence say, of what a row says otherwise that the claim names."""
        claim, rows = self._claim, rows_around(text, sentence)
        self._passages.spend(len(rows))
        if not rows:
            return
        said = claim.affirmed(claim.text) | claim.numbers(claim.text)
        items = as_items(rows, lambda cell: claim.signs.content(words(cell)))
        for value in exchanged(items, said, NAMES):
            if all(sign in claim.written for sign in value):
                yield claim.shown(value)


def _has_row(text: str, row: Sequence[str]) -> bool:
    return f" {' '.join(row)} " in f" {' '.join(phrase(text))} "


def _has_word_for_word(passage: str, text: str) -> bool:
    """Whether a passage has a text as it is, and does not deny it right after: "Der Zug fährt" nicht."""
    _, found, after = passage.partition(text)
    return bool(found) and not _DENIED.match(after)


_DENIED = lazy(r"(?i) (?:nicht|niet|not|no longer)\b")
