"""Claims of success in an answer: a phrase such as "sent" that is meant, not denied, hoped for or asked.

Read by clause: a negation stands before the phrase in its own clause, or right after it.
"""

import re
from collections.abc import Iterable, Iterator

from agenteval.language.content_words import find_phrase
from agenteval.language.questions import ASKING_WORDS
from agenteval.lazyregex import lazy
from agenteval.shortening import around
from agenteval.text import blocks, sentences

_TOLD_AS_DONE = ("scheduled", "created", "saved", "posted")
SUCCESS_PHRASES = (
    *("done", "all set", "sent", "delivered", "completed", "successfully", "everything is complete"),
    *(f"{who} {what}" for who in ("has been", "have been", "I've", "I have") for what in _TOLD_AS_DONE),
)
"""What claims success, unless a test says otherwise."""


def success_claims(answer: str, phrases: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each phrase that claims success, with the sentence in which it first does."""
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
"""Characters before a phrase that may deny it."""


def _is_claim(sentence: str, start: int, end: int) -> bool:
    if _NOTHING.match(sentence, end):
        return False
    before = _JOINED.sub("", _NO_DENIAL.sub(" ", sentence[max(0, start - LONGEST_CLAUSE) : start]))
    clause = _CLAUSE_END.split(before)[-1]
    return not (_NO_CLAIM.search(clause) or _is_asked(sentence, clause, end))


def _is_asked(sentence: str, before: str, end: int) -> bool:
    """Whether a phrase, with what is before it in its clause, is asked, and not told before a question of its own."""
    if not sentence.rstrip("\"'”’)*_ ").endswith(("?", "？")):  # noqa: RUF001 - the mark of other scripts
        return False
    return bool(ASKING_WORDS.match(before.lower())) or not _QUESTION_BEGINS.search(sentence, end)


_QUESTION_BEGINS = lazy(
    r"(?:[,;:]|\s[–—-])\s(?:and\s+)?(?:do|does|is|are|shall|should|would|could|can|what|which|who|when"  # noqa: RUF001
    r"|where|how|why|want|need|anything|any|ok|okay|right)\b",
    re.IGNORECASE,
)
"""The question that ends a statement: `I've sent it, is that okay?`"""


_UNCHECKED = lazy(r"(?<![^\s|>:*_])\[ \](?![^\s|])")
_UNLISTED = lazy(r"^[ \t]*(?=\[ \]\s)", re.MULTILINE)
"""Where a line begins with an open box alone: it is an item, and the next line is not part of it."""
_NOTHING = lazy(
    r"\s+(?:to )?(?:nothing|nobody|no|none|neither)\b|[\s:|*_]*[❌✗✘☐]"
    r"|[*_]*:[\s*_]*(?:no|none|not|never|0|zero)\b(?! (?:errors?|failures?|issues?|problems?))"
    r"|\s+(?:could(?: not|n['’]t)|can(?:not|['’]t)|failed|timed out|was(?: not|n['’]t))\b",  # noqa: RUF001
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
"""Words that deny elsewhere, and nothing here: `I can confirm it was sent`, `the second attempt delivered it`."""
_JOINED = lazy(r"\s+(?:and|or|nor)(?:\s+\w+ly|\s+then)?\s*$", re.IGNORECASE)
"""`prepared and sent`: what denies the first denies the second."""
_CLAUSE_END = lazy(
    r"[,;:!()\n]\s|\s(?:[–—→-]|[-=]>)\s|\b(?:but|so|and|however|although|though|while)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_NO_CLAIM = lazy(
    r"\b(?:not|cannot|no|none|nobody|nothing|never|neither|nor|without|unable|fail(?:s|ed|ing)?|failure|unless"
    r"|instead of|before|until|once|if|when|whether|after|as soon as|will|would|shall|should|could|can|may|might"
    r"|must|try|tried|trying|attempt(?:ed|s|ing)?|to be|being|to get|to have (?:it|them|this|that|everything)|last|latest|previous(?:ly)?|earlier|prior)\b"
    r"|n['’]t\b|['’]ll\b"  # noqa: RUF001
    r"|\b(?:0|zero)(?:\s*/\s*\d+)?\s+(?:$|(?:out\s+)?of\b|\w+\s+(?:(?:were|was|got|have been)\s+)?$)"
    r"|\b(?:half|far from|almost|nearly|partly|partially)[\s-]+$"
    r"|\byou(?:['’]ve|\s+have|\s+had)?\s+$"  # noqa: RUF001
    r"|\bwhat (?:i|we)(?:['’]ve| have)(?: already)?\s+$"  # noqa: RUF001 - a report of what was tried
    r"|[❌✗✘☐]",
    re.IGNORECASE,
)
