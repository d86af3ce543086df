"""Make the two pictures of the README, both of one real failing run: the console as SVG, the HTML report as PNG.

`python docs/pictures.py` writes them; it needs a sandbox and Chromium. The text that the report showed is kept in the
PNG, so that a test can notice an old picture without comparing pixels, which differ from machine to machine.
"""

import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import zlib
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

DOCS = Path(__file__).resolve().parent
CONSOLE = DOCS / "failing-test.svg"
REPORT = DOCS / "failing-test.png"
WIDTH = 92
"""The columns of the terminal in the picture."""
KEYWORD = b"agenteval-report"
"""The name under which the PNG keeps the text of the report."""

_VARYING = (
    (re.compile(r"\brun-\d{8}T\d{6}Z-[0-9a-f]{8}\b"), "run-1"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?Z| UTC)?"), "2026-01-01 12:00"),
    (re.compile(r"(?<![\d.])\d+(\.\d+)? ms\b"), "872 ms"),
    (re.compile(r"(?<![\d.])\d+\.\d+ ?s\b"), "1.17 s"),
    (re.compile(r"\bcommit [0-9a-f]{8,40}( \(changed since\))?"), "commit 1a2b3c4d"),
    (re.compile(r"Python-urllib/[\d.]+"), "Python-urllib/3"),
    (re.compile(r"\bagenteval \d+\.\d+\.\w+"), "agenteval"),
)
"""The parts of the output that differ between two runs, with the values that the pictures show."""


class Shop:
    """A copy of `docs/shop` in which the tool is broken, and the run that notices it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        shutil.copytree(
            DOCS / "shop", self.folder, ignore=shutil.ignore_patterns("artifacts", ".agenteval_cache")
        )
        subprocess.run(["git", "init", "-q", str(self.folder)], check=True)
        subprocess.run(["git", "-C", str(self.folder), "add", "-A"], check=True)
        agent = self.folder / "agent.py"
        agent.write_text(agent.read_text().replace(": ships tomorrow", ": not found"))

    def run(self, *options: str) -> str:
        """Run the test, and return what it prints, without what differs from run to run."""
        left_out = ("AGENTEVAL_", "CI", "GITHUB_", "NO_COLOR")
        variables = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        command = [sys.executable, "-m", "agenteval", "run", "--no-artifacts", "--no-progress", *options]
        # A terminal of its own: lines are wrapped and coloured as a person sees them.
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (60, WIDTH))
        with open(ours, "rb", buffering=0) as screen:
            environment = {**variables, "PATH": path, "TERM": "xterm-256color"}
            run = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
            )
            os.close(theirs)
            shown = b"".join(_read(screen))
            code = run.wait(timeout=120)
        text = shown.decode().replace("\r\n", "\n")
        if code != 1:
            raise RuntimeError(f"expected one failing test, got exit code {code}:\n{text}")
        return normal(text)


def _read(screen: IO[bytes]) -> Iterator[bytes]:
    """Yield what a terminal shows. Linux ends it with an error, other systems with nothing to read."""
    with suppress(OSError):
        while part := screen.read(65536):
            yield part


def normal(text: str) -> str:
    """Return the text with one value for each part that differs from run to run."""
    for pattern, value in _VARYING:
        text = pattern.sub(value, text)
    return text


def console(shop: Shop) -> str:
    """Return the SVG of the run on a terminal."""
    from rich.console import Console
    from rich.text import Text

    # The line `ran:` names the versions of this machine; it may be wrapped.
    shown = re.sub(r"\n[^\n]*  ran: .*?(?=\n[^\n]*  agenteval run)", "", shop.run(), flags=re.DOTALL)
    with Path(os.devnull).open("w") as nowhere:
        terminal = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        terminal.print(Text.from_ansi(f"$ agenteval run\n{shown}".rstrip()))
    return terminal.export_svg(title="a tool of the agent has changed", unique_id="failing-test")


class _Words(HTMLParser):
    """The words of an HTML page, without its styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data.split()


def words_of(page: str) -> str:
    """Return the words that an HTML report shows, without what differs from run to run."""
    parser = _Words()
    parser.feed(page)
    return normal(" ".join(parser.words))


def report(shop: Shop) -> str:
    """Return the HTML report of the run."""
    shop.run("--html", "report.html")
    return (shop.folder / "report.html").read_text(encoding="utf-8")


def photograph(page: str, folder: Path) -> bytes:
    """Return a PNG of the page, as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    source = folder / "report.html"
    source.write_text(page, encoding="utf-8")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 980, "height": 980}, color_scheme="light")
        tab.goto(source.as_uri())
        title = tab.get_by_text("The answer rests on what the tool found").first.bounding_box()
        top = title["y"] - 20 if title else 0  # the failing test, without the overview above it
        picture = tab.screenshot(full_page=True, clip={"x": 0, "y": top, "width": 980, "height": 580})
        browser.close()
    return picture


def with_text(picture: bytes, text: str) -> bytes:
    """Return the PNG with a compressed text in it, right before its end."""
    body = b"zTXt" + KEYWORD + b"\0\0" + zlib.compress(text.encode("ascii", "xmlcharrefreplace"), 9)
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return picture[:-12] + chunk + picture[-12:]


def text_in(picture: bytes) -> str:
    """Return the text that `with_text` put into a PNG."""
    _, _, rest = picture.partition(b"zTXt" + KEYWORD + b"\0\0")
    return zlib.decompressobj().decompress(rest).decode("ascii")


def main() -> None:
    """Write both pictures."""
    with TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        CONSOLE.write_text(console(shop), encoding="utf-8")
        page = report(shop)
        REPORT.write_bytes(with_text(photograph(normal(page), Path(folder)), words_of(page)))


if __name__ == "__main__":
    main()
