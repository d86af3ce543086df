"""Contradictions by prose: a claim is laid beside the nearest passage word by word.

Three things contradict the claim among the same words. Only one of the two has a negation. An opposite, or another
name, number or date of the same kind, stands in the place of its own. Two names have changed places.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from agenteval.grounding.corpus import Corpus
from agenteval.grounding.facts import Facts
from agenteval.grounding.sources import sentences_of
from agenteval.grounding.stems import forms, stem_of, words
from agenteval.text.dates import MONTHS, Date, weekday
from agenteval.text.numbers import ORDINAL, Number
from agenteval.text.parts import fold

_NEGATIONS = frozenset(
    """
    not no never none neither nor cannot without nobody nothing hardly nicht kein keine keinen keiner keinem nie niemals niet
    geen non não nunca jamais pas sin
    """.split()  # noqa: SIM905 - a list of them would be longer
)
_OPPOSITES = """
rise/fall increase/decrease grow/shrink gain/lose win/lose higher/lower highest/lowest high/low upper/lower top/bottom before/after
first/last more/less more/fewer most/least largest/smallest best/worst early/late earlier/later morning/evening young/old
longer/shorter longest/shortest open/close start/end start/stop begin/end arrive/leave arrive/depart inside/outside right/left
accept/reject accept/decline buy/sell allow/ban pass/fail northern/southern eastern/western north/south east/west add/remove
cheap/expensive cheaper/dearer strong/weak always/never public/private legal/illegal positive/negative up/down on/off
enable/disable approve/reject above/below over/under better/worse faster/slower fast/slow maximum/minimum include/exclude join/leave
alive/dead male/female husband/wife brother/sister son/daughter mother/father rich/poor hot/cold warm/cold full/empty easy/hard
support/oppose agree/disagree success/failure majority/minority present/absent online/offline tighten/ease raise/cut raise/lower
expand/shrink hire/fire deny/confirm reopen/close free/paid safe/dangerous major/minor
"""
MOST_WORDS = 400
"""Words of a claim or a passage that are compared: a sentence is hardly longer."""
_opposites: dict[str, frozenset[str]] = {}


def opposites(stem: str) -> frozenset[str]:
    """The stems of the opposites of a word, by its stem."""
    if not _opposites:
        for pair in _OPPOSITES.split():
            one, other = map(stem_of, pair.split("/"))
            _opposites[one] = _opposites.get(one, frozenset()) | {other}
            _opposites[other] = _opposites.get(other, frozenset()) | {one}
    return _opposites.get(stem, frozenset())


@lru_cache(maxsize=4096)
def negates(word: str) -> bool:
    """Return whether a word is a negation."""
    folded = fold(word)
    return folded in _NEGATIONS or folded.endswith("n't")


def denies(text: str) -> bool:
    """Return whether a text has a negation."""
    return any(map(negates, words(text)))


MOST_DENIED = 5
"""Words after a negation that it may be about."""


def denied(text: str) -> frozenset[str]:
    """The stems of the words after each negation of a text."""
    written = words(text)
    after = [range(at + 1, at + 1 + MOST_DENIED) for at, word in enumerate(written) if negates(word)]
    found = [written[at] for places in after for at in places if at < len(written)]
    return frozenset(stem for stem, _ in forms(found))


NOT = "¬"
"""The stem that stands for any negation."""
_ONLY = frozenset(("only", "just", "merely", "nur", "solo", "seulement"))


class _Side:
    """The words of a claim or of a passage: as written, as stems, and what they are part of."""

    def __init__(self, text: str, stated: Facts | None = None) -> None:
        self.text = stated.plain if stated else text
        self._stated = stated
        self.written = words(self.text)
        read = forms(self.written)
        self.stems = [stem for stem, _ in read]
        for at, word in enumerate(self.written):
            if negates(word) and not self._is_no_negation(at):
                self.stems[at] = NOT
        self.has_content = [bool(stem) for _, stem in read]

    def _is_no_negation(self, at: int) -> bool:
        """Return whether a word denies nothing here: the answer "No, …", and "not only"."""
        if at == 0:
            return self.text.lstrip("\"'“*_ ")[len(self.written[0]) :][:1] in (",", ".", "!", ":", ";")
        return self.written[at + 1 : at + 2] != [] and self.written[at + 1].lower() in _ONLY

    @cached_property
    def stated(self) -> Facts:
        """Its facts."""
        return self._stated or Facts(self.text)

    @cached_property
    def named(self) -> frozenset[str]:
        """The stems of the words of its names."""
        return frozenset(stem for name in self.stated.names for stem in name.stems)

    @cached_property
    def facts(self) -> list[Number | Date]:
        """Its numbers and dates."""
        return [*self.stated.dates, *(each for each in self.stated.numbers if not _is_weak(each))]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The begin and end of each word in the text."""
        return self._places()

    def _places(self) -> list[tuple[int, int]]:
        text, found, at = self.text.replace("’", "'").replace("‘", "'"), [], 0  # noqa: RUF001
        for word in self.written:
            at = text.find(word, at)
            found.append((at, at + len(word)))
            at += len(word)
        return found

    def between(self, start: int, end: int) -> str:
        """Return the words from one place to another, as they are written."""
        return self.text[self.spans[start][0] : self.spans[max(start, end - 1)][1]]

    def kinds(self, start: int, end: int) -> dict[str, list[str | Number | Date]]:
        """Return the names, numbers and dates in a stretch of words, by kind."""
        found: dict[str, list[str | Number | Date]] = {}
        for at in range(start, end):
            if self.stems[at] in self.named and self.written[at][0].isupper():
                found.setdefault("name", []).append(self.stems[at])
        if start < end:
            first, last = self.spans[start][0], self.spans[end - 1][1]
            for fact in self.facts:
                if fact.start < last and first < fact.end:
                    kind = "date" if isinstance(fact, Date) else f"number {fact.unit}"
                    found.setdefault(kind, []).append(fact)
        return found


def _is_weak(number: Number) -> bool:
    return number.spelled and max(number.values) <= 2 and number.unit in ("", ORDINAL)


def against_prose(stated: Facts, texts: Iterable[str], corpus: Corpus) -> Iterator[str]:
    """Find parts of a claim that the nearest passage contradicts, or two names that have changed places in it."""
    mine = _Side(stated.plain, stated)
    if not any(mine.has_content) or len(mine.written) > MOST_WORDS:
        return
    said = stated.text.strip(" .")
    nearest = list(texts)
    if any(said in text for text in nearest):
        return
    for sentence in (each for text in nearest for each in sentences_of(text)):
        theirs = _Side(sentence)
        if len(theirs.written) <= MOST_WORDS and _share(mine, set(theirs.stems)) >= LEAST_SHARED:
            yield from _Beside(mine, theirs, corpus).contradicted()
    yield from _swapped(mine, corpus)


LEAST_IN_ORDER = 0.6
"""The same, in the same order, for a negation or another fact."""
LEAST_SHARED = 0.4
"""The least share of the claim's content words in a sentence that may contradict it."""


def _share(side: _Side, held: Container[str]) -> float:
    """The share of the content words of a claim that are among these."""
    telling = [stem for stem, has in zip(side.stems, side.has_content, strict=True) if has]
    return sum(stem in held for stem in telling) / len(telling)


class _Beside:
    """A claim and a passage, aligned by their words."""

    def __init__(self, mine: _Side, theirs: _Side, corpus: Corpus) -> None:
        from difflib import SequenceMatcher

        self.mine, self.theirs, self.corpus = mine, theirs, corpus
        self.codes = SequenceMatcher(None, theirs.stems, mine.stems, autojunk=False).get_opcodes()
        self.kept = {at for tag, _, _, start, end in self.codes if tag == "equal" for at in range(start, end)}
        telling = [at for at, has in enumerate(mine.has_content) if has]
        self.share = sum(at in self.kept for at in telling) / len(telling)

    def contradicted(self) -> Iterator[str]:
        for tag, i1, i2, j1, j2 in self.codes:
            if tag == "equal":
                continue
            if found := self._negated(i1, i2, j1, j2):
                yield found
            elif tag == "replace":
                yield from self._opposed(i1, i2, j1, j2)
                yield from self._replaced(i1, i2, j1, j2)

    def _has_row(self, start: int, end: int, *, wider: int = 0) -> bool:
        """Return whether the sources have these words of the claim, with the words beside them."""
        stems = [stem for stem, _ in forms(self.mine.written[max(0, start - wider) : end + wider])]
        return len(stems) > 2 and self.corpus.has_row(f" {' '.join(stems)} ")

    def _negated(self, i1: int, i2: int, j1: int, j2: int) -> str | None:
        """A negation that only one of the two has, among the same words."""
        mine, theirs = self.mine.stems, self.theirs.stems
        said, have = mine[j1:j2], theirs[i1:i2]
        if (NOT in said) == (NOT in have) or self.share < LEAST_IN_ORDER or j2 - j1 > 4 or i2 - i1 > 4:
            return None
        at = j1 + said.index(NOT) if NOT in said else j1
        if NOT in said and self._is_denied_in_sources(at):
            return None
        if NOT in have:
            after = i1 + have.index(NOT) + 1
            following = range(after, min(after + 3, len(theirs)))
            if not any(self.theirs.has_content[place] and theirs[place] in mine for place in following):
                return None
        flank = [place for place in range(max(0, at - 3), min(len(mine), at + 4)) if place in self.kept]
        telling = sum(self.mine.has_content[place] for place in flank)
        if (
            len(flank) >= 3
            and (self.share >= 0.85 or telling >= 2)
            and not self._has_row(at, at + 1, wider=1)
        ):
            return self.mine.between(max(0, at - 1), min(len(mine), at + 2))
        return None

    def _is_denied_in_sources(self, at: int) -> bool:
        """Return whether the sources have a negation of the claim with the word that it denies."""
        end = next(
            (place for place in range(at + 1, len(self.mine.stems)) if self.mine.has_content[place]), at
        )
        stems = [stem for stem, _ in forms(self.mine.written[at : end + 1])]
        return len(stems) > 1 and self.corpus.has_row(f" {' '.join(stems)} ")

    def _opposed(self, i1: int, i2: int, j1: int, j2: int) -> Iterator[str]:
        """A word that the passage has the opposite of."""
        have = set(self.theirs.stems[i1:i2])
        for at in range(j1, j2):
            stem = self.mine.stems[at]
            is_only_here = stem not in self.theirs.stems or self.share >= 0.8
            if (
                opposites(stem) & have
                and is_only_here
                and self.share >= LEAST_SHARED
                and not self._is_denied(at)
            ):
                yield self.mine.written[at]

    def _is_denied(self, at: int) -> bool:
        return NOT in self.mine.stems[max(0, at - 3) : at]

    def _replaced(self, i1: int, i2: int, j1: int, j2: int) -> Iterator[str]:
        """A name, a number or a date where the passage has another one between the same words."""
        if j2 - j1 > 6 or i2 - i1 > 8 or self.share < LEAST_IN_ORDER or not self._is_framed(i1, i2, j1, j2):
            return
        mine, theirs = self.mine.kinds(j1, j2), self.theirs.kinds(i1, i2)
        for kind in mine.keys() & theirs.keys():
            if _share_one(mine[kind], theirs[kind]):
                continue
            # Two values that changed places are a contradiction, even if the passage has both.
            elsewhere = kind != "name" and _share_one(mine[kind], self.theirs.facts)
            back = _share_one(theirs[kind], self.mine.facts)
            if (not elsewhere or back or self.share >= 0.8) and not self._has_row(j1, j2, wider=2):
                yield self.mine.between(j1, j2)
                return

    def _is_framed(self, i1: int, i2: int, j1: int, j2: int) -> bool:
        """Return whether the words on either side are the same, so that one stretch takes the place of the other."""
        mine, theirs = self.mine.stems, self.theirs.stems
        before = sum(
            j1 >= step and i1 >= step and mine[j1 - step] == theirs[i1 - step] for step in range(1, 4)
        )
        after = sum(one == other for one, other in zip(mine[j2 : j2 + 3], theirs[i2 : i2 + 3], strict=False))
        at_end, at_start = j2 == len(mine), j1 == 0
        return (
            bool(before and after)
            or (before > 1 and at_end)
            or (after > 1 and at_start)
            or before + after > 2
        )


def _swapped(mine: _Side, corpus: Corpus) -> Iterator[str]:
    """Two names the other way round: changed back, the sources have the words as they stand."""
    stems, runs = [stem for stem, _ in forms(mine.written)], _names(mine)
    for place, (a1, a2) in enumerate(runs):
        for b1, b2 in runs[place + 1 : place + 3]:
            between = stems[a2:b1]
            if not 0 < len(between) <= 8 or stems[a1:a2] == stems[b1:b2] or _JOINING.issuperset(between):
                continue
            left = stems[max(0, a1 - 1) : a1]
            right = stems[b2 : b2 + (1 if len(left) + 1 + b2 - a1 >= 4 else 2)]
            back = [*left, *stems[b1:b2], *between, *stems[a1:a2], *right]
            said = [*left, *stems[a1:b2], *right]
            if corpus.has_row(f" {' '.join(back)} ") and not corpus.has_row(f" {' '.join(said)} "):
                yield mine.between(a1, b2)
                return


def _names(side: _Side) -> list[list[int]]:
    """The runs of words with capitals, as places from and to."""
    runs: list[list[int]] = []
    for at, word in enumerate(side.written):
        if word[0].isupper() and not (weekday(word.lower()) or word.lower() in MONTHS):
            if runs and runs[-1][1] == at and side.spans[at][0] == side.spans[at - 1][1] + 1:
                runs[-1][1] = at + 1
            else:
                runs.append([at, at + 1])
    return runs


_JOINING = frozenset("and or of the in at with near to for from on as a an but und y et".split())  # noqa: SIM905
"""Words that go both ways between two names, or join them to one."""


def _share_one(facts: Sequence[str | Number | Date], others: Sequence[str | Number | Date]) -> bool:
    return any(_same(one, other) for one in facts for other in others)


def _same(one: str | Number | Date, other: str | Number | Date) -> bool:
    if isinstance(one, Date):
        return isinstance(other, Date) and one.agrees(other)
    if isinstance(one, Number):
        return isinstance(other, Number) and one.agrees(other)
    return one == other
