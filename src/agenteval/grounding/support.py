"""Judges the claims of an output: the sources must have their facts, near their words, and must not contradict them.

If a test asks for it, the sources must also support the wording, to a degree.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Literal

from agenteval.grounding.claims import Claim, claims
from agenteval.grounding.corpus import Corpus, Said, squash
from agenteval.grounding.facts import Facts, Name, quote_pieces, quotes
from agenteval.grounding.fields import against_fields
from agenteval.grounding.objects import Part, may_be_about
from agenteval.grounding.outcomes import Outcome, admits, against_outcomes
from agenteval.grounding.prose import against_prose
from agenteval.grounding.sources import Passage, Source, values_of
from agenteval.grounding.stems import END, content, forms, light, row, words
from agenteval.text.dates import Date
from agenteval.text.lazy_regexes import lazy
from agenteval.text.numbers import MONEY, ORDINAL, TIME, Number
from agenteval.text.parts import fold

Check = Literal["numbers", "dates", "urls", "names", "quotes", "contradictions", "wording"]
REFUTED = 0.5
"""The factor of the score of a claim with an unsupported or contradicted fact."""
MOST_BESIDE = 3
"""The number of a claim's words that must stand near its numbers and dates, at most."""
LONGEST_KEPT = 50_000
"""The size of an output and its sources, in characters, up to which verdicts are cached: memory stays bounded."""


class Span:
    """A passage of a source and its place: an event and a JSON pointer into it."""

    __slots__ = ("event_id", "pointer", "text")

    def __init__(self, event_id: str, text: str, pointer: str | None) -> None:
        self.event_id, self.text, self.pointer = event_id, text, pointer


class Support:
    """The verdict on one claim: how far the sources support its wording (0-1), and which facts they lack.

    `unsupported` are hard facts that no source supports; `elsewhere` are those of them that the sources have in
    another context. `contradicted` are facts that a source contradicts. `missing` are words that no source has. All
    are as written.

    `judged` is True if there was anything to compare. `is_stated` is True if the claim has a fact, or its wording is
    judged. `is_unheard` is True if the claim is a plain statement and no source has any of its words.
    """

    __slots__ = (
        "claim",
        "contradicted",
        "elsewhere",
        "is_stated",
        "is_unheard",
        "judged",
        "missing",
        "score",
        "span",
        "unsupported",
    )

    def __init__(
        self, claim: Claim, read: "_Reading", checks: Sequence[Check], counted: Sequence[Outcome] = ()
    ) -> None:
        self.claim = claim
        facts = list(read.facts(checks))
        self.unsupported = tuple(dict.fromkeys(text for text, known in facts if not known))
        self.elsewhere = tuple(text for text in self.unsupported if text in read.displaced)
        is_worded = claim.worded and bool(read.written)
        asked = is_worded and "wording" in checks
        self.score = round(read.score(), 2) if asked else 1.0
        self.missing = read.missing if asked else ()
        held = is_worded and ("contradictions" in checks or asked)
        self.contradicted = tuple(read.contradicted(self.unsupported)) if held else ()
        self.is_stated = bool(facts) or asked
        self.is_unheard = held and not facts and bool(read.written) and not read.have
        self.judged = self.is_stated or (held and read.best is not None)
        self.span = read.span
        if "contradictions" in checks:
            for part, outcome in against_outcomes(claim.text, counted):
                self.contradicted += (part,)
                self.judged, self.span = True, Span(outcome.event_id, outcome.failing, None)

    def holds(self, min_support: float) -> bool:
        """Return whether the sources support the claim."""
        return not self.unsupported and not self.contradicted and self.score >= min_support


class Basis:
    """The material that supports an output: tool results, the user's messages, and the arguments of calls.

    `counted` are the failures that results count, of failed calls too.
    """

    __slots__ = ("_key", "called", "counted", "said", "sources")

    def __init__(
        self,
        sources: Sequence[Source],
        said: Sequence[Source] = (),
        called: Sequence[Source] = (),
        counted: Sequence[Outcome] = (),
    ) -> None:
        self.sources, self.said, self.called, self.counted = sources, said, called, counted
        parts = [[(each.event_id, each.value) for each in part] for part in (sources, said, called)]
        self._key = repr((parts, counted))

    @property
    def size(self) -> int:
        """The approximate size, in characters."""
        return len(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def supports(
    output: str, basis: Basis, checks: Sequence[Check], allow: Sequence[str] = ()
) -> tuple[Support, ...]:
    """Judge the claims of an output, in order; facts of the texts to `allow` need no source.

    Raises `AssertionCrashError` (`assertion.too_large`) when that would take too long.
    """
    is_short = len(output) + basis.size <= LONGEST_KEPT
    return (_kept if is_short else _supports)(output, basis, tuple(checks), tuple(allow))


def _supports(
    output: str, basis: Basis, checks: tuple[Check, ...], allow: tuple[str, ...]
) -> tuple[Support, ...]:
    found, corpus = claims(output), corpus_of(basis.sources)
    corpus.looks = 0
    said = Said([*basis.said, *(Source("", text) for text in allow)], basis.called)
    counted = basis.counted if basis.counted and not admits(output) else ()
    judged = {
        claim: Support(claim, _Reading(claim, corpus, said), checks, counted)
        for claim in dict.fromkeys(found)
    }
    return tuple([judged[claim] for claim in found])


_kept = lru_cache(maxsize=32)(_supports)
"""`_supports` with a cache: many mutants of a test change neither its output nor its results."""


def corpus_of(sources: Sequence[Source]) -> Corpus:
    """Return the sources as a corpus, from a cache: both groundedness checks and other tests read the same sources."""
    key = repr([(each.event_id, each.value) for each in sources])
    found = _corpora.pop(key, None) or Corpus(sources)
    if len(key) <= LONGEST_KEPT:
        _corpora[key] = found
        if len(_corpora) > MOST_KEPT:
            del _corpora[next(iter(_corpora))]
    return found


_corpora: dict[str, Corpus] = {}
MOST_KEPT = 32
"""The number of corpora in the cache."""


def score(judged: Sequence[Support]) -> float:
    """Return how far the sources support an output (0-1): the mean score of its claims, with `REFUTED` for wrong
    ones.
    """
    weighed = [each.score * (REFUTED if each.unsupported or each.contradicted else 1) for each in judged]
    return sum(weighed) / len(weighed) if weighed else 1.0


Fact = tuple[str, bool]
"""A hard fact of a claim as written, and True if the sources have it."""


class _Reading:
    """A claim compared with its sources."""

    def __init__(self, claim: Claim, corpus: Corpus, said: Said) -> None:
        self.claim, self.corpus, self.said = claim, corpus, said
        self.stated = Facts(claim.text, german=claim.german)
        self.displaced: set[str] = set()
        self.written: dict[str, str] = {}
        written = words(self.stated.rest)
        for word, (_, stem) in zip(written, forms(written), strict=True):
            if stem and not word[0].isdigit():
                self.written.setdefault(stem, word)
        self.have = [stem for stem in self.written if corpus.has(stem)]
        """The stems of the claim's content words that the sources have."""
        self._find_best()

    @property
    def missing(self) -> tuple[str, ...]:
        """The content words that no source has, as written."""
        return tuple(word for stem, word in self.written.items() if not self.corpus.has(stem))

    def _find_best(self) -> None:
        digits = (
            stem for number in self.stated.numbers for stem in row(number.text).split() if stem[0].isdigit()
        )
        weights = {stem: DIGITS_WEIGHT for stem in digits if self.corpus.has(stem)}
        weights |= {stem: LIGHT_WEIGHT if stem in light() else 1.0 for stem in self.have}
        self.best = self.corpus.best(weights)

    # The nearest passage -----------------------------------------------------------------------------------------

    @property
    def nearest(self) -> Passage | None:
        """The passage with most of the claim's words."""
        return None if self.best is None else self.corpus.passages[self.best]

    @property
    def span(self) -> Span | None:
        """The nearest passage, with its place."""
        nearest = self.nearest
        return Span(nearest.source.event_id, nearest.text, nearest.pointer) if nearest else None

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the claim, with the objects that each of them names."""
        before = self.claim.before or self.said.text if self.claim.refers else ""
        return self.corpus.naming.parts(self.stated, before)

    @cached_property
    def near(self) -> frozenset[int]:
        """The passages that may support a fact: those with enough words of the claim in or around them.

        All passages count if the sources have none of its words.
        """
        corpus = self.corpus
        if not self.have:
            return frozenset(corpus.stating)
        held = content(self.nearest.text if self.nearest else "").intersection(self.have)
        least = min(MOST_BESIDE, (len(held) + 2) // 3)
        having: dict[int, set[str]] = {}
        for stem in self.have:
            for number in corpus.having(stem):
                having.setdefault(number, set()).add(stem)
        corpus.look(len(corpus.stating))
        found = set()
        for number in corpus.stating:
            around = [having[each] for each in corpus.around(number) if each in having]
            if around and len(set().union(*around)) >= least:
                found.add(number)
        return frozenset(found)

    def _is_supported(self, at: int, has_fact: Callable[[int], bool]) -> bool:
        """Return whether a near passage about the same object has the fact at an offset, by the test `has_fact`."""
        if self.best is not None and not self.corpus.passages[self.best].is_record and has_fact(self.best):
            return True
        return any(has_fact(number) and self._is_about(number, at) for number in self.near)

    def _is_about(self, number: int, at: int) -> bool:
        item = self.corpus.passages[number].item
        return item is None or may_be_about(item, at, self.parts)

    # Hard facts --------------------------------------------------------------------------------------------------

    def facts(self, checks: Sequence[Check]) -> Iterator[Fact]:
        """Yield the hard facts of these kinds."""
        finders = {
            "numbers": self._numbers,
            "dates": self._dates,
            "urls": self._references,
            "names": self._names,
            "quotes": self._quotes,
        }
        for check in checks:
            if check in finders:
                yield from finders[check]()

    def _numbers(self) -> Iterator[Fact]:
        for number in self.stated.numbers:
            if not self._is_no_claim(number):
                yield number.text, self._is_known(number)

    def _is_no_claim(self, number: Number) -> bool:
        """Return whether a number needs no source: it counts the list below it, or is a word that is hardly meant as
        a number.
        """
        size, text = max(number.values), self.stated.plain
        if self.claim.listed and not number.unit and (size == self.claim.listed or number.spelled):
            return True
        # "4.3 out of 5": the end of a scale is common knowledge.
        if size in (5, 10, 100) and text[: number.start].endswith("out of "):
            return True  # the end of a scale
        if not number.spelled:
            return False
        if number.unit == ORDINAL or (size <= 1 and not number.unit) or not self.claim.worded:
            return True
        if number.unit or number.hours:
            return False
        return ":" in text[number.end :] or (size <= 12 and self.corpus.has_objects)

    def _is_in_name(self, number: Number) -> bool:
        """Return whether a number is a part of a name that the sources have, as of a train: S 6."""
        before = _NAMED.search(self.stated.plain, max(0, number.start - 20), number.start)
        return before is not None and row(f"{before[1]} {number.text}") in self.corpus.words

    def _is_known(self, number: Number) -> bool:
        corpus, size = self.corpus, max(number.values)
        # "There are 3 open requests" counts the objects of a list: no source has to have the 3.
        if not number.unit and size <= 20 and size in corpus.counts:
            return True
        if any(number.agrees(each) for each in self.said.numbers):
            return True
        is_ordinal = self.stated.plain.startswith((".", "日") if self.claim.german else "日", number.end)
        is_day = number.unit == ORDINAL or (not number.unit and (self.stated.dates or is_ordinal))
        if is_day and any(size == each.day for each in (*corpus.every_date, *self.said.dates)):
            return True
        if self._is_in_name(number):
            return True

        def has_fact(passage: int) -> bool:
            return self._has_number(passage, number)

        if number.named:
            return any(map(has_fact, corpus.stating))
        if self._is_supported(number.start, has_fact) and not self._is_displaced(number):
            return True
        written = row(number.text)
        is_elsewhere = any(map(has_fact, self.near))
        if is_elsewhere or written in corpus.words:
            self.displaced.add(number.text)
        return not is_elsewhere and " " in written.strip() and written in corpus.words

    def _has_number(self, passage: int, number: Number) -> bool:
        self.corpus.look(1)
        held = self.corpus.numbers(passage)
        if any(number.agrees(each) for each in held):
            return True
        # A bare 2025 may be a year, which the source states in a date: 2025-04-12.
        if not number.unit and 1000 <= max(number.values) < 3000:
            return any(date.year in number.values for date in self.corpus.dates(passage))
        if number.unit in MONEY and self.corpus.passages[passage].is_record:  # data may have it in cents
            return any(
                not each.unit and any(round(100 * one, 2) in each.values for one in number.values)
                for each in held
            )
        return False

    def _is_displaced(self, number: Number) -> bool:
        """Return whether the sources have a different number between the same words, and nowhere this one."""
        text, held = self.stated.plain, self.corpus.words
        left, right = row(text[: number.start]).split()[-2:], row(text[number.end :]).split()[:2] or [END]
        # Times, words and approximations are written in too many ways to say that another number stands in their place.
        if number.unit == TIME or number.hours or number.spelled or number.slack or len(left) < 2:
            return False
        lead, own = f" {' '.join(left)} ", "".join(filter(str.isdigit, number.text)).strip("0")
        is_other, at = False, held.find(lead)
        while at >= 0:
            self.corpus.look(1)
            following = held[at + len(lead) : at + len(lead) + 80].split(" ")
            digits = list(takewhile(str.isdigit, following))
            if "".join(digits).strip("0") == own:
                return False
            is_other |= bool(digits) and following[len(digits) : len(digits) + len(right)] == right
            at = held.find(lead, at + 1)
        return is_other

    def _dates(self) -> Iterator[Fact]:
        for date in self.stated.dates:
            yield date.text, self._has_date(date)
        for written, day in () if self.claim.lacks else self.stated.days:
            yield written, day in self.corpus.weekdays or fold(written) in self.said.folded

    def _has_date(self, date: Date) -> bool:
        corpus = self.corpus
        if any(date.covers(each) and date.agrees(each) for each in self.said.dates):
            return True

        def has_fact(passage: int) -> bool:
            corpus.look(1)
            return any(
                date.covers(each)
                and date.agrees(each)
                and (not date.year or each.year or str(date.year) in f"{corpus.text} {self.said.text}")
                for each in corpus.dates(passage)
            )

        if self._is_supported(date.start, has_fact):
            return True
        if any(map(has_fact, corpus.stating)):
            self.displaced.add(date.text)
        return False

    def _references(self) -> Iterator[Fact]:
        for link in {each.text: each for each in self.stated.links}.values():
            if link.kind != "domain":
                yield link.text, link.key in self.said.links or self.corpus.has_link(link)

    def _names(self) -> Iterator[Fact]:
        for code in {each.text: each for each in self.stated.codes}.values():
            yield code.text, self._has_code(code.text)
        for name in () if self.claim.lacks else self.stated.names:
            yield name.text, self._has_name(name)

    def _has_code(self, code: str) -> bool:
        squashed = squash(code)
        version = squashed[1:] if squashed[0] == "v" else squashed
        return any(
            each in self.corpus.squashed or each in squash(self.said.text) for each in (squashed, version)
        )

    def _is_squashed(self, name: str) -> bool:
        """Return whether the sources have a name, given without blanks and signs, as initials or in other words."""
        if name in self.corpus.initials or name.removesuffix("s") in self.corpus.initials:
            return True
        # "OpenBridge" and "Open Bridge" are one name. Three letters would occur by chance in the middle of words.
        return len(name) > 3 and name in self.corpus.squashed

    def _has_name(self, name: Name) -> bool:
        corpus = self.corpus
        if self._is_squashed(squash(name.text)):
            return True
        if "." in name.text and fold(name.text) in corpus.lowered:
            return True
        if name.text[-1] == "s" and name.text[:-1].isupper() and row(name.text[:-1]) in corpus.words:
            return True
        # "US" and "IT" are also everyday words in small letters, so they must occur in capitals.
        if name.text.isupper() and len(name.text) <= 3 and not self._is_known_word(name.stems[0]):
            return name.text in corpus.text or name.text in self.said.text
        if len(name.stems) > 2 and f" {''.join(stem[0] for stem in name.stems)} " in corpus.words:
            return True
        if not all(map(self._is_known_word, name.stems)):
            return False
        # "Ada Ek" is made up if the sources have an Ada and an Ek, but never together: the last two words must share a passage.
        last = [stem for stem in name.stems[-2:] if corpus.has(stem)]
        return len(last) < 2 or f" {' '.join(last)} " in corpus.content or self._share_a_passage(last)

    def _is_known_word(self, stem: str) -> bool:
        """Return whether the sources or the user have a word."""
        return f" {stem} " in self.corpus.words or stem in self.said.words

    def _share_a_passage(self, stems: Sequence[str]) -> bool:
        return not set(self.corpus.having(stems[0])).isdisjoint(self.corpus.having(stems[1]))

    def _quotes(self) -> Iterator[Fact]:
        for quote in quotes(self.claim.text):
            rows = [row(piece) for piece in quote_pieces(quote)]
            yield f'"{quote}"', all(each in self.corpus.words or each in self.said.row for each in rows)

    # Contradictions ------------------------------------------------------------------------------------------------

    def contradicted(self, known: Sequence[str]) -> Iterator[str]:
        """Yield the parts of the claim that the nearest object or those named contradict, each once, without `known`
        faults.
        """
        nearest = self.nearest
        if nearest is None:
            return
        fields = nearest.item.fields.values() if nearest.is_record and nearest.item else ()
        texts = [
            value for field in fields for value in values_of(field) if len(value.split()) >= LEAST_OF_SENTENCE
        ]
        found = list(against_prose(self.stated, texts if nearest.is_record else [nearest.text], self.corpus))
        if nearest.is_record:
            found += against_fields(self.parts, self.corpus.naming, nearest.item, self.stated)
        yield from (
            part for part in dict.fromkeys(found) if not any(part in fact or fact in part for fact in known)
        )

    # Wording -------------------------------------------------------------------------------------------------------

    def score(self) -> float:
        """Return how much of the wording the sources have (0-1)."""
        corpus = self.corpus
        weights = {stem: LIGHT_WEIGHT if stem in light() else 1.0 for stem in self.written}
        for stem in self.written:
            if not corpus.has(stem):  # only the user said it: asking is not knowing
                weights[stem] *= SAID_WEIGHT if stem in self.said.words else 1.0
        total = sum(weights.values())
        missing = sum(weight for stem, weight in weights.items() if not corpus.has(stem))
        wording = 1 - missing / total
        nearest = self.nearest
        if nearest is None or not nearest.is_record:
            return wording * max(LEAST_ORDER, self._order())
        known = [each for _, each in self.facts(("numbers", "dates"))]  # in a record they count as words do
        return (wording * total + sum(known)) / (total + len(known))

    def _order(self) -> float:
        """Return the share of words (0-1) that continue a row of words of the sources."""
        runs = [[stem for stem, _ in forms(words(run))] for run in self.stated.rest.split("0")]
        total = sum(map(len, runs))
        begun = sum(self._pieces(run) - 1 for run in runs if run)
        return 1 - begun / total if total else 1.0

    def _pieces(self, run: list[str]) -> int:
        """Count the pieces of a row of words, each the longest that the sources have."""
        start, found, count = 0, self.corpus.words, 0
        while start < len(run):
            end, at = start + 1, 0
            piece = f" {run[start]} "
            while end < len(run) and (at := found.find(f"{piece}{run[end]} ", at)) >= 0:
                piece, end = f"{piece}{run[end]} ", end + 1
            start, count = end, count + 1
        return count


LIGHT_WEIGHT, SAID_WEIGHT, DIGITS_WEIGHT = 0.4, 0.5, 0.3
"""The weights of a word with little meaning, of one that only the user said, and of the digits of a number."""
LEAST_ORDER = 0.7
"""The least factor for the order of words: a claim in its own words may be right."""
LEAST_OF_SENTENCE = 4
"""The number of words from which on a field is read like prose as well."""
_NAMED = lazy(r"\b([A-Z]\w*) \Z")
"""The word before a number that belongs to a name: `S 6`."""
