"""The figures of the page about comparing are those that benchmarks/check_power.py measures."""

import re
from pathlib import Path

from benchmarks.check_power import report

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparing.md"


def form(text: str) -> str:
    """Return the tables without what chance changes."""
    return re.sub(r"\d+\.\d(?=%| of)", "N", text)


def tables() -> str:
    """Return the tables of the page."""
    page = PAGE.read_text(encoding="utf-8")
    return "Nothing changed, and " + page.split("\nNothing changed, and ", 1)[1].split("\n\n## ", 1)[0] + "\n"


def test_the_tables_are_what_the_benchmark_prints() -> None:
    """With the same titles, rows and columns; the figures are of 10,000 checks, the test makes five."""
    assert form("\n".join(report(5))) == form(tables())


def test_what_the_verdicts_promise_was_measured() -> None:
    """False alarms and falls wrongly ruled out are 5 % at most, as far as 10,000 checks show; half of falls are found."""
    alarms, falls, wrongly, *_ = (
        [row for row in part.splitlines() if re.match(r"\| \d", row)] for part in tables().split(":\n\n")[1:]
    )
    exact = [re.sub(r"\([^)]*\)", "", row) for row in [*alarms, *wrongly]]
    shares = [float(share) for row in exact for share in re.findall(r"([\d.]+)%", row)]
    assert len(shares) == 55
    assert max(shares) <= 5.4  # two and a half standard errors above 5 %
    assert float(re.findall(r"([\d.]+)%", falls[0])[0]) > 40
    newcombes = [float(share) for row in wrongly for share in re.findall(r"\(([\d.]+)%\)", row)]
    assert max(newcombes) > 6
