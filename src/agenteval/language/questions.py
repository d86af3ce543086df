"""The questions that an output asks its reader."""

# ruff: noqa: RUF001 - the quotation and question marks of other scripts are meant

import re

from agenteval.lazyregex import lazy
from agenteval.text import blocks, fold, sentences


def questions(output: str) -> list[str]:
    """The questions that the output asks the user, each with the list right under it.

    A question is a sentence that ends in a question mark. Question marks in quotations, block quotes, tables,
    code and URLs do not count, and neither do courtesies such as "Anything else I can help with?".
    """
    found = []
    parts = [block for block in blocks(output) if block.kind not in ("code", "quote", "table", "rule")]
    for index, block in enumerate(parts):
        text = block.text if block.text.isascii() else _PICTURES_AFTER.sub(r"\1 ", block.text)
        pieces = sentences(_QUOTED.sub(_hide_marks, text))
        for place, piece in enumerate(pieces):
            if not _asks(piece) or _is_courtesy(piece):
                continue
            options = []
            if block.kind == "paragraph" and place == len(pieces) - 1:
                for below in parts[index + 1 :]:
                    if below.kind not in ("bullet", "number"):
                        break
                    options.append(below.text)
            found.append(" ".join([piece.translate(_SHOWN), *options]))
    return found


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
    """Whether a sentence asks something, courtesies included."""
    if not any([mark in sentence for mark in "?？؟"]):  # noqa: C419 - quicker than a generator
        return False
    return _asks(_QUOTED.sub(_hide_marks, sentence))


def _asks(sentence: str) -> bool:
    if _ENDS_IN_QUOTED_MARK.search(sentence):  # Did you mean "the report?"
        return bool(ASKING_WORDS.match(fold(sentence)))
    return bool(_ASKS.search(sentence))


def _is_courtesy(sentence: str) -> bool:
    return bool(_COURTESY.fullmatch(fold(sentence).replace("’", "'").strip("*_ ")))
