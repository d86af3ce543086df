"""The output of a check in the README is what a check prints."""

import re

import pytest

from check_projects import ShopModel, ShopProject
from live_projects import needs_sandbox
from pages import ROOT, blocks

pytestmark = needs_sandbox
VARYING = (
    (r"\([0-9a-f]{7,40}\)", "(COMMIT)"),
    (r": [\d,]+ requests, [\d,]+ tokens", ": REQUESTS"),
    (r"p [\d.]+", "p P"),
    (r"(\d)/\1( → ─* ?0/)\1", r"N/N\2N"),
    (r" +ends early", ""),
)
"""The parts that differ between two checks: its commits, and how early the trials ended."""


def normal(text: str) -> str:
    """The text without what differs between two checks of the same change."""
    for pattern, value in VARYING:
        text = re.sub(pattern, value, text)
    return text.rstrip("\n")


def test_the_readme_shows_what_a_check_prints(
    shop: ShopProject, model: ShopModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first lines, up to the assertion that passes less often, for a prompt that lost its rule."""
    (shown,) = (
        block.text for block in blocks(ROOT / "README.md") if block.text.startswith("$ agenteval check")
    )
    command, _, lines = shown.partition("\n")
    shop.write("prompts/system.md", "You serve the order desk.\nAnswer in one short sentence.\n")
    shop.run(*command.split()[2:], "--no-progress", "--no-artifacts")
    printed = capsys.readouterr().out
    first = "\n".join(printed.splitlines()[: len(lines.splitlines())])
    assert normal(first) == normal(lines), f"the README shows:\n{lines}\nit is:\n{first}"
