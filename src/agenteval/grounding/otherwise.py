"""What the sources say otherwise than a claim: the passage nearest to it, in prose or in data, or the only state that there is."""

from collections.abc import Iterator, Mapping, Sequence

from agenteval.grounding import states
from agenteval.grounding.against_objects import AgainstObjects
from agenteval.grounding.against_prose import AgainstProse
from agenteval.grounding.claim_words import ClaimWords
from agenteval.grounding.contradictions import LONGEST
from agenteval.grounding.passages import Best, Span
from agenteval.grounding.quantity import Quantity
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.statements import Statement


class Nearest:
    """A claim beside the passage that is nearest to it.

    `written` has the words of the claim by their signs, `context` those that may name what it refers to.
    """

    def __init__(
        self,
        stated: Statement,
        written: Mapping[str, str],
        sources: SourceText,
        best: Best,
        context: Sequence[frozenset[str]] = (),
    ) -> None:
        self._claim = ClaimWords(stated, written, sources.signs)
        self._passages = sources.passages
        is_record = self._passages.is_record(best)
        self._objects = AgainstObjects(self._claim, sources, best, context) if is_record else None
        self._prose = None if is_record else AgainstProse(self._claim, sources, best)

    @property
    def told_by(self) -> Span | None:
        """What says otherwise than the claim, where that is another object than the nearest passage."""
        return self._objects.told_by if self._objects else None

    def contradicted(self) -> Iterator[str]:
        """What the sources contradict, where it is clear that the claim refers to it, as written."""
        if self._objects:
            yield from self._objects.contradicted()
        if self._prose:
            yield from self._prose.contradicted()
        yield from self._by_only_state()

    def bounds(self) -> Iterator[tuple[Quantity, bool]]:
        """The numbers that the claim calls objects to be above or below, and whether they are."""
        if self._objects:
            yield from self._objects.bounds()

    def _by_only_state(self) -> Iterator[str]:
        """What contradicts the only state that there is, where the claim is about something that the sources have no word for."""
        text = self._claim.text[:LONGEST]
        if not states.has_state(text) or self._passages.has_any(states.beside_states(text)):
            return
        if record := self._passages.only_record(states.OWN):
            yield from states.against_record(text, record, is_only=True)
