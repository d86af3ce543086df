"""Sentences that ask their reader something, and sentences that claim a success."""

# ruff: noqa: RUF001 - the quotation and question marks of other scripts are meant

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from agenteval.text.fitting import around
from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import Block, blocks, fold, sentences
from agenteval.text.words import find_phrase


def questions(output: str) -> list[str]:
    """List the questions that the output asks the user, each with the list right under it.

    A question is a sentence that ends in a question mark. Question marks in quotations, block quotes, tables, code
    and URLs do not count, and neither do courtesies: "Anything else I can help with?".
    """
    found = []
    parts = [block for block in blocks(output) if block.kind not in ("code", "quote", "table", "rule")]
    for index, block in enumerate(parts):
        text = block.text if block.text.isascii() else _PICTURES_AFTER.sub(r"\1 ", block.text)
        pieces = sentences(_QUOTED.sub(_hide_marks, text))
        for place, piece in enumerate(pieces):
            if not _asks(piece) or _is_courtesy(piece):
                continue
            leads = block.kind == "paragraph" and place == len(pieces) - 1
            options = _list_at(parts, index + 1) if leads else []
            found.append(" ".join([piece.translate(_SHOWN), *options]))
    return found


def _list_at(parts: Sequence[Block], start: int) -> list[str]:
    """Return the items of the list that begins with a part, if one does."""
    items = takewhile(lambda block: block.kind in ("bullet", "number"), parts[start:])
    return [item.text for item in items]


_QUOTED = lazy(
    r"`[^`]{0,600}`|https?://[^\s)>\]]{0,600}[^\s)>\].,!?]"
    r"|\"[^\"]{0,600}\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』"
)
_HIDDEN = {ord("?"): "\ue000", ord("？"): "\ue001", ord("؟"): "\ue002"}
_SHOWN = {ord(hidden): chr(mark) for mark, hidden in _HIDDEN.items()}
_ASKS = lazy(r"[?？؟][!?！？]{0,20}[)\]*_~|」』）]{0,20}\Z")
_PICTURES_AFTER = lazy(
    r"([?？؟][!?！？]{0,20}[)\]*_~|]{0,20})[\u200b-\u200f\u2060\ufe0f\ufeff\u2600-\u27bf\U0001f000-\U0001faff]+"
)
"""Emoji and invisible signs right after a question mark."""
_ENDS_IN_QUOTED_MARK = lazy(r"[\ue000-\ue002][\"”»“」』)*_]{0,20}\Z")
ASKING_WORDS = lazy(
    r"\W*(?:do|does|did|is|are|was|were|should|shall|would|could|can|may|have|has|will|which|what|who|whose|when"
    r"|where|how|why)\b"
)
_COURTESY = lazy(
    r"(?:(?:so|and|now|ok|okay),? )?(?:"
    r"(?:(?:is|was) there |(?:can|may|could) i (?:help|assist|do)\b.{0,30}"
    r"|(?:(?:do|would) you )?(?:need|want|like) (?:me to do )?)?anything else"
    r"(?: i (?:can|could)\b.*| you(?:'d| would)? (?:need|want|like)\b.*| for you| from me)?(?: today)?"
    r"|is there something else i can (?:help|assist|do)\b.*"
    r"|what else can i (?:help|assist|do)\b.*"
    r"|how (?:else )?(?:can|may) i (?:help|assist)(?: you)?(?: further)?(?: today| with this)?"
    r"|(?:does|did) (?:that|this) (?:help|make sense)"
    r"|(?:do you have )?any (?:other |further |more )?questions"
    r"|(?:(?:hi|hello|hey)(?: there)?\W+)?how are you(?: doing)?(?: today)?"
    r")\W*"
)


def _hide_marks(match: re.Match[str]) -> str:
    return match.group().translate(_HIDDEN)


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question; a courtesy such as "How are you?" counts as one."""
    if not any([mark in sentence for mark in "?？؟"]):  # noqa: C419 - quicker than a generator
        return False
    return _asks(_QUOTED.sub(_hide_marks, sentence))


def _asks(sentence: str) -> bool:
    if _ENDS_IN_QUOTED_MARK.search(sentence):  # Did you mean "the report?"
        return bool(ASKING_WORDS.match(fold(sentence)))
    return bool(_ASKS.search(sentence))


def _is_courtesy(sentence: str) -> bool:
    return bool(_COURTESY.fullmatch(fold(sentence).replace("’", "'").strip("*_ ")))


_TOLD_AS_DONE = ("scheduled", "created", "saved", "posted")
SUCCESS_PHRASES = (
    *("done", "all set", "sent", "delivered", "completed", "successfully", "everything is complete"),
    *(f"{who} {what}" for who in ("has been", "have been", "I've", "I have") for what in _TOLD_AS_DONE),
)
"""The default phrases that claim success."""


def success_claims(answer: str, phrases: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Find phrases that claim success, each with the first sentence in which it does."""
    # "[ ] Sent" in a list of tasks is an open task: the box denies what stands behind it, as ☐ does.
    open_boxes = _UNCHECKED.sub("☐", _UNLISTED.sub("- ", answer))
    lines = [sentence for block in blocks(open_boxes) for sentence in sentences(block.text)]
    for phrase in phrases:
        for line in lines:
            claimed = next(
                (start for start, end in find_phrase(line, phrase) if _is_claim(line, start, end)), None
            )
            if claimed is not None:
                yield phrase, around(line, claimed, 200)
                break


LONGEST_CLAUSE = 500
"""The number of characters before a phrase that may deny it."""


def _is_claim(sentence: str, start: int, end: int) -> bool:
    if _NOTHING.match(sentence, end):
        return False
    before = _JOINED.sub("", _NO_DENIAL.sub(" ", sentence[max(0, start - LONGEST_CLAUSE) : start]))
    clause = _CLAUSE_END.split(before)[-1]
    return not (_NO_CLAIM.search(clause) or _is_asked(sentence, clause, end))


def _is_asked(sentence: str, before: str, end: int) -> bool:
    """Return whether a phrase is part of a question, not a statement before a question of its own."""
    if not sentence.rstrip("\"'”’)*_ ").endswith(("?", "？")):
        return False
    return bool(ASKING_WORDS.match(before.lower())) or not _QUESTION_BEGINS.search(sentence, end)


_QUESTION_BEGINS = lazy(
    r"(?:[,;:]|\s[–—-])\s(?:and\s+)?(?:do|does|is|are|shall|should|would|could|can|what|which|who|when"
    r"|where|how|why|want|need|anything|any|ok|okay|right)\b",
    re.IGNORECASE,
)
"""The beginning of a question that ends a statement: `I've sent it, is that okay?`"""


_UNCHECKED = lazy(r"(?<![^\s|>:*_])\[ \](?![^\s|])")
_UNLISTED = lazy(r"^[ \t]*(?=\[ \]\s)", re.MULTILINE)
"""The beginning of a line with an open box alone: it is an item, and the next line does not belong to it."""
_NOTHING = lazy(
    r"\s+(?:to )?(?:nothing|nobody|no|none|neither)\b|[\s:|*_]*[❌✗✘☐]"
    r"|[*_]*:[\s*_]*(?:no|none|not|never|0|zero)\b(?! (?:errors?|failures?|issues?|problems?))"
    r"|\s+(?:could(?: not|n['’]t)|can(?:not|['’]t)|failed|timed out|was(?: not|n['’]t))\b",
    re.IGNORECASE,
)
_NO_DENIAL = lazy(
    r"\b(?:can|could|may|must|will|would)\s+(?:(?:now|also|gladly|happily|only)\s+)?(?:confirm|report|say|(?:see|find|notice) that"
    r"|(?:assure|tell) you|be (?:happy|glad|pleased|relieved) to)\b"
    r"|\b(?:managed|was able|were able) to(?:\s+get)?\b"
    r"|\bafter\s+(?:that|this|(?:[\w-]+\s+){0,4}?(?:timeouts?|failures?|errors?|attempts?|retr(?:y|ies)|tr(?:y|ies)|outage|delay))\b"
    r"|\bthe\s+(?:\w+\s+)?(?:attempt|try)\b(?!\s+(?:to|at|of)\b)|\bnot only\b"
    r"|\bwithout\s+(?:any\s+|an?\s+)?(?:(?:further|more|other|single)\s+)?(?:delays?|errors?|failures?|issues?|problems?|trouble)\b",
    re.IGNORECASE,
)
"""Words that deny in other contexts, and nothing here: `I can confirm it was sent`, `the second attempt delivered
it`.
"""
_JOINED = lazy(r"\s+(?:and|or|nor)(?:\s+\w+ly|\s+then)?\s*$", re.IGNORECASE)
"""A conjunction before a phrase, as in `prepared and sent`: a denial of the first denies the second."""
_CLAUSE_END = lazy(
    r"[,;:!()\n]\s|\s(?:[–—→-]|[-=]>)\s|\b(?:but|so|and|however|although|though|while)\b",
    re.IGNORECASE,
)
_NO_CLAIM = lazy(
    r"\b(?:not|cannot|no|none|nobody|nothing|never|neither|nor|without|unable|fail(?:s|ed|ing)?|failure|unless"
    r"|instead of|before|until|once|if|when|whether|after|as soon as|will|would|shall|should|could|can|may|might"
    r"|must|try|tried|trying|attempt(?:ed|s|ing)?|to be|being|to get|to have (?:it|them|this|that|everything)|last|latest|previous(?:ly)?|earlier|prior)\b"
    r"|n['’]t\b|['’]ll\b"
    r"|\b(?:0|zero)(?:\s*/\s*\d+)?\s+(?:$|(?:out\s+)?of\b|\w+\s+(?:(?:were|was|got|have been)\s+)?$)"
    r"|\b(?:half|far from|almost|nearly|partly|partially)[\s-]+$"
    r"|\byou(?:['’]ve|\s+have|\s+had)?\s+$"
    r"|\bwhat (?:i|we)(?:['’]ve| have)(?: already)?\s+$"
    r"|[❌✗✘☐]",
    re.IGNORECASE,
)
