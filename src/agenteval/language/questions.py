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
        pieces = sentences(_QUOTED.sub(_hide_marks, block.text))
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
_ASKS = lazy(r"[?？؟][!?！？]*[)\]*_」』）]*\Z")
_ENDS_IN_QUOTED_MARK = lazy(r"[\ue000-\ue002][\"”»“」』)*_]*\Z")
_ASKING_WORDS = lazy(
    r"\W*(?:do|does|did|is|are|was|were|should|shall|would|could|can|may|have|has|will|which|what|who|whose|when"
    r"|where|how|why)\b"
)
_COURTESY = lazy(
    r"(?:(?:is|was) there |can i (?:help|assist|do)\b.{0,30}|(?:do|would) you (?:need|want|like) )?anything else"
    r"(?: i can\b.*| you(?:'d| would)? (?:need|want|like)\b.*| for you)?\W*"
    r"|how (?:else )?(?:can|may) i (?:help|assist)(?: you)?(?: today| with this)?\W*"
    r"|(?:does|did) (?:that|this) (?:help|make sense)\W*"
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
        return bool(_ASKING_WORDS.match(fold(sentence)))
    return bool(_ASKS.search(sentence))


def _is_courtesy(sentence: str) -> bool:
    return bool(_COURTESY.fullmatch(fold(sentence).replace("’", "'").strip("*_ ")))
