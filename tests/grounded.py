"""What the groundedness check says of an output beside a source, for tests of its parts."""

from typing import Any

from agenteval.grounding.sources import Source
from agenteval.grounding.support import Basis, Check, Support, supports

DEFAULT: tuple[Check, ...] = ("numbers", "dates", "urls", "names", "quotes", "contradictions")


def judged(
    source: Any, output: str, question: str = "", checks: tuple[Check, ...] = DEFAULT
) -> tuple[Support, ...]:
    """The claims of an output beside what a tool returned, and the user asked."""
    basis = Basis([Source("evt-2", source)], [Source("evt-1", question)])
    return supports(output, basis, checks)


def found(source: Any, output: str, question: str = "") -> list[str]:
    """What of an output the source does not have, or says otherwise."""
    return [
        part for each in judged(source, output, question) for part in (*each.unsupported, *each.contradicted)
    ]


def unsupported(source: Any, output: str, *checks: Check) -> list[str]:
    """The facts that a source does not have."""
    return [fact for each in judged(source, output, checks=checks or DEFAULT) for fact in each.unsupported]
