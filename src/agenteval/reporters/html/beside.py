"""Two traces of one test side by side: the baseline's events and this run's, step by step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agenteval.alignment import stretches
from agenteval.reporters.html.texts import compared
from agenteval.reporters.html.timeline import Event


@dataclass(slots=True, frozen=True)
class Step:
    """An event of the baseline, one of this run, or both; `same` when both say the same."""

    before: Event | None
    now: Event | None
    same: bool = False


def beside(before: Sequence[Event], now: Sequence[Event]) -> list[Step]:
    """Both timelines, in order; fields of a step that differ are marked in its events."""
    steps: list[Step] = []
    for same, old, new in stretches([each.content for each in before], [each.content for each in now]):
        if same:
            steps += [Step(before[i], now[j], same=True) for i, j in zip(old, new, strict=True)]
        else:
            steps += _changed([before[i] for i in old], [now[j] for j in new])
    return steps


def _changed(before: Sequence[Event], now: Sequence[Event]) -> Iterator[Step]:
    """Steps of events that all differ: those of the same kind and tool are paired."""
    for same, old, new in stretches([each.pair for each in before], [each.pair for each in now]):
        if same:
            for i, j in zip(old, new, strict=True):
                _mark(before[i], now[j])
                yield Step(before[i], now[j])
        else:
            yield from (Step(before[i], None) for i in old)
            yield from (Step(None, now[j]) for j in new)


def _mark(before: Event, now: Event) -> None:
    """Mark the fields in which two events of a kind differ, word by word where both have the field."""
    old = {each.name: each for each in before.fields}
    new = {each.name: each for each in now.fields}
    for name in old.keys() | new.keys():
        if name not in old or name not in new:
            (old.get(name) or new[name]).changed = True
        elif old[name].value != new[name].value:
            old[name].changed = new[name].changed = True
            old[name].text, new[name].text = compared(old[name].value, new[name].value)
