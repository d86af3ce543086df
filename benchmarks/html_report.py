"""How long the HTML report of 1,000 tests takes to write, to open in Chromium, and to search.

`python -m benchmarks.html_report`; exits 1 when it opens in more than two seconds, the best of five times.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.suites import copies
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FAILING = ROOT / "tests" / "cases" / "failing"
TESTS = 1000
REPETITIONS = 5
MOST_SECONDS = 2.0
_DRAWN = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
_FRAMES = """async () => {
  const frames = [];
  let last = performance.now();
  for (let step = 0; step < 90; step++) {
    scrollBy(0, 400);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
  }
  return frames.sort((a, b) => a - b)[85];
}"""


def suite(folder: Path) -> Path:
    """Copies of the examples, and of every failing control one."""
    controls = sorted(path.parent for path in FAILING.glob("*/test.yaml"))
    for control in controls:
        shutil.copytree(control, folder / control.name)
    return copies(TESTS - len(controls), folder)


def measure(browser: Browser, path: Path) -> dict[str, float]:
    """Seconds, of one visit: until something shows, until all is there, of a search; and of a slow frame."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    opened = _seconds(lambda: (page.goto(path.as_uri()), page.evaluate(_DRAWN)))
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
    frame = page.evaluate(_FRAMES) / 1000

    def search() -> None:
        page.get_by_role("searchbox").fill("harbour pool")
        page.get_by_role("status").filter(has_text=re.compile(rf"of {TESTS}")).wait_for()
        page.evaluate(_DRAWN)

    found = _seconds(search)
    page.close()
    return {"first paint": painted, "opened": opened, "first search": found, "95 of 100 frames": frame}


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def main() -> int:
    """The exit code: 1 when opening takes too long."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="agenteval-bench-") as name:
        folder = Path(name)
        report = folder / "report.html"
        command = [sys.executable, "-m", "agenteval"]
        run = [*command, "run", str(suite(folder / "suite")), "-q", "--save-traces"]
        kept = ["--artifacts-dir", str(folder), "--run-id", "run-1"]
        subprocess.run([*run, *kept], check=False, stdout=subprocess.DEVNULL, cwd=folder)
        told = [*command, "report", str(folder / "run-1"), "--html", str(report)]
        wrote = _seconds(lambda: subprocess.run(told, check=True, stdout=subprocess.DEVNULL, cwd=folder))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium)
            visits = [measure(browser, report) for _ in range(REPETITIONS)]
            browser.close()
        print(f"{TESTS} tests: {report.stat().st_size / 1e6:.1f} MB, written in {wrote:.2f} s")
    best = {what: min(visit[what] for visit in visits) for what in visits[0]}
    for what, seconds in best.items():
        print(f"{what:<18}{seconds:6.3f} s   (worst {max(visit[what] for visit in visits):.3f} s)")
    return int(best["opened"] > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
