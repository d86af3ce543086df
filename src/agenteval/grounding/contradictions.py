"""Where a claim says the opposite of the passage nearest to it, or the same of others."""

from collections.abc import Iterator


def contradictions(claim: str, passage: str) -> Iterator[str]:
    """What the claim denies or swaps, as written there."""
    return iter(())
