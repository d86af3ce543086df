"""What a remembered fact asks of an answer: its form when the fact states one, else its content.

A fact such as "prefers 3 short bullets, no preamble" states a form; "Leo is allergic to peanuts" does not.
"""

# ruff: noqa: RUF001 - en dashes are meant

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agenteval.contracts.json_values import json_in
from agenteval.text.parts import blocks, bullets, numbered_items, paragraphs, sentences, words
from agenteval.text.regexes import lazy
from agenteval.text.values import Comparison, told
from agenteval.text.words import bare_words, carries_content, content_words, plain_form, words_or_pairs

MOST_WORDS_OF_BRIEF = 120
"""How long a brief answer may be, in words."""


class Request(NamedTuple):
    """One thing that a fact asks of an answer."""

    wanted: str
    """What is asked, for a message."""
    got: str
    """What the answer has instead, or has."""
    met: bool


def requests(fact: str, answer: str, asked: Sequence[str] = ()) -> list[Request]:
    """Everything the fact asks of the answer, judged; empty when the fact has nothing that could be judged.

    `asked` are the messages answered: a word that they hold is no sign of memory.
    """
    return _of_form(fact, answer) or _of_content(fact, answer, asked)


def _of_form(fact: str, answer: str) -> list[Request]:
    text = fact.lower()
    about_answers = bool(_ANSWERS.search(text))
    found = []
    bulleted = bool(_BULLETS.search(text))
    if bulleted and _NO_BULLETS.search(text):
        bulleted = False
        found.append(_count("bullets", answer, 0, 0))
    chosen = _CHOICE.search(text) or _ORDER.search(text)
    of_choice = about_answers or chosen
    units = []
    for match in _COUNT.finditer(text):
        unit = match["unit"]
        if (of_choice or unit == "bullet") and not (match["each"] or match["of_each"]):
            units.append(unit)
            found.append(_count(f"{unit}s", answer, *_limits(match)))
    if bulleted and "bullet" not in units:
        found.append(_count("bullets", answer, 1, None))
    if (about_answers and "numbered" in text) or (of_choice and _NUMBERED.search(text)):
        found.append(_count("numbered items", answer, 1, None))
    if of_choice and not bulleted and _TABLES.search(text):
        found.append(_count("table rows", answer, 1, None))
    if of_choice and _JSON.search(text):
        found.append(_json(answer))
    if language := (chosen and _LANGUAGE.search(text)) or _LANGUAGE_ALONE.search(text):
        found.append(_in_language(answer, next(filter(None, language.groups())).capitalize()))
    if _BRIEF.search(text) or (about_answers and _SHORT.search(text)):
        found.append(_count("words", answer, 0, MOST_WORDS_OF_BRIEF))
    of_form = found or (about_answers and chosen)
    if (of_form and _NO_PREAMBLE.search(text)) or _NO_PREAMBLE_ALONE.search(text):
        found.append(_no_preamble(answer, bulleted=bulleted))
    return found


_ANSWERS = lazy(
    r"\b(?:answer|repl(?:y|ies)|respon[ds]|output|message|summar|update|briefs?\b|bullet|format|style|digest"
    r"|report|explanation)"
)
_CHOICE = lazy(r"\b(?:prefer|want|like|write)")
_POLITELY = r"(?:(?:please|always|only),?\s+)*"
_BEGINNING = rf"(?:\A|[.;:!,]\s)\W*{_POLITELY}"
_ORDER = lazy(
    rf"{_BEGINNING}(?:answer|reply|respond|use|keep|format)\b"
    r"|\b(?:answers?|repl(?:y|ies)|responses?) (?:must|should|are to) (?:always )?be\b"
)
_BULLETS = lazy(r"\bbullets\b|\bbulleted\b|\bbullet[ -]?(?:points?|lists?|form)\b|(?<=[\d-])-?bullet\b")
_NO_BULLETS = lazy(
    r"(?:\b(?:no|not|never|without|cannot|avoids?|instead of|rather than|over|dislikes?|hates?)|n['’]t)"
    r"(?: (?:use|using|want|like|contain|have|send|write|any|as|in))* bullet"
)
_NUMBER_WORDS = "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS, 1)}
_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"
_UNIT = "(?:bullet|sentence|word|paragraph|line)"
_COUNT = lazy(
    rf"(?P<of_each>\beach\s+(?:with\s+|of\s+)?)?(?P<before>\b(?:at most|(?:no|not|never) more than|up to|max(?:imum)?(?: of)?|under|fewer than|less than|below"
    rf"|at least|(?:no|not|never) (?:fewer|less) than|min(?:imum)?(?: of)?|more than)\s+)?"
    rf"\b(?P<low>{_NUMBER})(?:\s*(?:-|–|to|or)\s*(?P<high>{_NUMBER}))?[\s-]+"
    rf"(?:(?!{_UNIT}s?\b)[a-z]+[\s,-]+|{_NUMBER}-{_UNIT}\s+){{0,2}}?"
    rf"(?!{_UNIT}\s+{_UNIT}s)(?P<unit>{_UNIT})(?:s|[ -]?points?)?\b"
    rf"(?P<after>[ -]points?)?(?P<limit>\s+(?:max(?:imum)?|at most|or (?:fewer|less)|tops)\b)?"
    r"(?P<each>\s+(?:each|per|in each)\b(?!\s+(?:answer|reply|response|message|summary|update|report|digest)\b))?"
)
_NUMBERED = lazy(r"(?<!\bno )\bnumbered (?:lists?|items|steps|points)\b")
_TABLES = lazy(
    r"\b(?:as|into|markdown) (?:an? )?(?:markdown )?tables?\b"
    r"|\b(?:in|prefers?) (?:an? )?(?:markdown )?tables?\b(?! (?:by|near|at|with|outside|inside|in|on)\b)"
)
_JSON = lazy(
    r"\b(?:prefers?|wants?|likes?|in|as|only|valid|raw) json\b|\bjson (?:output|answers?|repl(?:y|ies)|only)\b"
)
_IN_LANGUAGE = "in (english|german|french|spanish|italian|portuguese)"
_SEVERAL = "answers|replies|responses|messages|summaries|updates|digests|reports"
_LANGUAGE = lazy(
    rf"\b(?:{_SEVERAL}|answer|reply|respon[ds]\w*|output|message|summary|update|digest|report)(?: \w+){{0,3}}? {_IN_LANGUAGE}\b"
)
_LANGUAGE_ALONE = lazy(
    rf"{_BEGINNING}(?:write(?: back| to (?:me|us))? {_IN_LANGUAGE}\b"
    rf"|(?:{_SEVERAL}) (?:only )?{_IN_LANGUAGE}(?:,? (?:please|only|always))?\s*(?:\Z|[.;:!,]))"
)
"""A language that is told without a verb of choice: `Write in German`, `Answers in German please`."""
_BRIEF = lazy(r"\b(?:concise|terse|succinct|to the point|briefly|be brief|keep (?:it|them) (?:brief|short))")
_SHORT = lazy(r"\b(?:brief|short|shorter)\b")
_WITHOUT = r"(?:no|without(?: a| an| any)?|skip(?: the)?) (?:preamble|intro|introduction|small talk)"
_NO_PREAMBLE = lazy(rf"\b{_WITHOUT}\b")
_NO_PREAMBLE_ALONE = lazy(
    rf"\A\W*(?:(?:\w+ )?(?:prefers?|wants?|likes?) |{_POLITELY}){_WITHOUT}(?:,? please)?\W*\Z"
)
"""A fact that says nothing else, and so no more about what: elsewhere it may be the introduction of a book."""


def _limits(match: re.Match[str]) -> tuple[int, int | None]:
    low = _number(match["low"])
    before = (match["before"] or "").strip()
    if match["high"]:
        return low, _number(match["high"])
    if before in ("under", "fewer than", "less than", "below"):
        return 0, low - 1
    if before.startswith(("at most", "no more", "not more", "never more", "up to", "max")) or match["limit"]:
        return 0, low
    if before == "more than":
        return low + 1, None
    if before:
        return low, None
    if match["unit"] == "word":
        return 0, low  # nobody expects exactly so many words
    return low, low


def _number(text: str) -> int:
    return _NUMBERS[text] if text in _NUMBERS else int(text)


_COUNTERS: dict[str, Callable[[str], int]] = {
    "bullets": lambda text: len(bullets(text)),
    "numbered items": lambda text: len(numbered_items(text)),
    "sentences": lambda text: sum(len(sentences(block.text)) for block in blocks(text)),
    "words": lambda text: len(words(text)),
    "paragraphs": lambda text: len(paragraphs(text)),
    "table rows": lambda text: sum(1 for block in blocks(text) if block.kind == "table"),
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
}


def _count(unit: str, answer: str, low: int, high: int | None) -> Request:
    number = _COUNTERS[unit](answer)
    most = low if high is None else high
    named = unit.removesuffix("s") if most == 1 else unit
    if high is None:
        wanted = f"at least {low} {named}"
    elif high == low:
        wanted = f"exactly {low} {named}" if low else f"no {named}"
    elif low:
        wanted = f"{low} to {high} {named}"
    else:
        wanted = f"at most {high} {named}"
    return Request(wanted, f"{number}", low <= number and (high is None or number <= high))


def _json(answer: str) -> Request:
    """An object or a list: as the answer, or as a code block in it."""
    code = [block.text for block in blocks(answer) if block.kind == "code"]
    met = any(json_in(text) is not None for text in (answer, *code))
    return Request("JSON", "some" if met else "none", met)


def _in_language(answer: str, language: str) -> Request:
    """English, German or another one, told by function words; which other one it is, is not judged."""
    from agenteval.text.words import is_function_word, is_german

    words = [word for word in bare_words(answer.lower()) if len(word) > 1]
    english = sum(not carries_content(word) and not is_function_word(word) for word in words)
    foreign = sum(carries_content(word) and is_function_word(word) for word in words)
    got = language
    if is_german(answer):
        got = "German"
    elif english > foreign:
        got = "English"
    elif foreign > english and language == "English":
        got = "another language"
    return Request(f"an answer in {language}", f"one in {got}", got == language)


_OPENING = lazy(
    r"\W*(?:sure|certainly|of course|absolutely|great question|good question|here (?:is|are)|here's|happy to"
    r"|let me|no problem)\b",
    re.IGNORECASE,
)


def _no_preamble(answer: str, *, bulleted: bool) -> Request:
    first = next(iter(blocks(answer)), None)
    opening = first.text if first else ""
    met = first is not None and first.kind == "bullet" if bulleted else not _OPENING.match(opening)
    shown = " ".join(opening.split()[:8])
    return Request("no preamble", f'an answer that begins with "{shown}"', met)


_RULED_OUT = lazy(
    r"(\bprefers?\s[^.;:!,]*?)\sover\s[^.;:!,]+|(?:,\s*(?:not|never)|\b(?:rather than|instead of))\s[^.;:!,]+"
    r"|(?:\A|(?<=[.;:!]\s))(?:please\s+)?(?:do not|don['’]t|never|avoid)\s+(?!forget\b|miss\b)[^.;:!,]+",
    re.IGNORECASE,
)
"""What a fact tells to leave out, so that its words are no sign that it is honoured: `Postgres, not MySQL`."""


def _of_content(fact: str, answer: str, asked: Sequence[str]) -> list[Request]:
    fact = _RULED_OUT.sub(r"\1 ", fact)
    said = {word for message in asked for word in _content(message)}
    every = {plain: word for word in words_or_pairs(fact) if (plain := plain_form(word))}
    telling = {plain: word for plain, word in every.items() if plain not in _ABOUT_FACTS}
    wanted = {plain: word for plain, word in telling.items() if plain not in said} or telling
    if not wanted:
        return []
    values = Comparison(fact, answer, asked)
    got = _content(" ".join([answer, *(value.text for value in values.repeated)]))
    folded = answer.casefold()
    present = [word for plain, word in wanted.items() if plain in got or _occurs(plain, folded)]
    needed = (len(wanted) + 1) // 2
    if len(present) < needed and values.tell_all:
        return [Request(told(values.repeated), told(values.repeated), met=True)]
    return [
        Request(
            f"at least {needed} of the fact's words {', '.join(wanted.values())}",
            ", ".join(present) or "none of them",
            len(present) >= needed,
        ),
        *(Request(wanted, got, met=False) for wanted, got in values.contradicted()),
    ]


def _content(text: str) -> set[str]:
    return set(map(plain_form, words_or_pairs(text)))


def _occurs(word: str, folded: str) -> bool:
    """Scripts without blanks: a word is a run of characters that may stand inside a longer one."""
    return not word.isascii() and word in folded


_ABOUT_FACTS = frozenset(
    content_words("user prefers likes wants wishes uses always named called name remember note fact")
)
