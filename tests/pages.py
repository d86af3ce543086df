"""The documentation as tests read it: fenced blocks, the files they make, the commands they show.

A comment right before a block says what the block is, and shows nowhere: `file: PATH` is a whole file,
`edit: PATH` a change to one, `shows: PATH#POINTER` a value from a JSON file that an earlier command wrote.
A `console` block holds commands after `$ ` and what they print.

`python tests/pages.py` rewrites what the pages show by what the commands print now.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leak import fixed, leak

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SPANS = ROOT / "tests" / "otel" / "data" / "openai-agents.jsonl"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

_BLOCK = re.compile(
    r"(?:^<!-- (?P<role>file|edit|shows): (?P<target>\S+) -->\n+)?^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_VARYING = (
    (re.compile(r"\brun-\d{8}T\d{6}Z-[0-9a-f]{8}\b"), "run-ID"),
    (re.compile(r"\b\d+(?:\.\d+)? ms\b"), "N ms"),
    (re.compile(r" in \d+\.\d\d ?s$", re.MULTILINE), " in N s"),
    (re.compile(r'"duration_ms": [\d.]+'), '"duration_ms": N'),
    (re.compile(r'"(started_at|finished_at)": "[^"]*"'), r'"\1": "TIME"'),
    (re.compile(r"\bHEAD \([0-9a-f]{7,40}\)"), "HEAD (COMMIT)"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page; `role` and `target` are of the comment before it, empty when there is none."""

    language: str
    text: str
    role: str
    target: str


def text_of(page: Path) -> str:
    """What a page says."""
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    """A page as a test's id."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [_block(match) for match in _BLOCK.finditer(text_of(page))]


def _block(match: re.Match[str]) -> Block:
    return Block(match["language"], match["text"], match["role"] or "", match["target"] or "")


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", text_of(page))


def normal(text: str) -> str:
    """The text without what differs from run to run: ids, times, durations."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


class Workspace:
    """A copy of the examples and controls, in which a page is followed from its top.

    Beside them are real recordings: `nanoclaw`, its edited twin `nanoclaw-fixed`, and `spans.jsonl`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed: list[Path] = []
        self.exit_code = 0
        for name in ("examples", "schemas", "tests/cases", "docs/shop"):
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("artifacts", ".agenteval_cache")
            )
        (folder / ".git").mkdir()
        # A live run copies what git tracks, and this folder is not a real repository.
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", "-C", str(folder / "docs/shop"), *command], check=True)
        shutil.copy(SPANS, folder / "spans.jsonl")
        leak(folder)
        fixed(folder)

    def follow(self, block: Block) -> str:
        """Do what the block says; returns the block as it would be if it were written now."""
        if block.role == "file":
            path = self.folder / block.target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.role == "edit":
            self._edit(block)
        elif block.role == "shows":
            return self._value(block.target)
        elif block.language == "console":
            return "".join(self._told(command, shown) for command, shown in commands(block))
        return block.text

    def _told(self, command: str, shown: str) -> str:
        printed = self.run(command)
        return f"$ {command}\n{shown if normal(shown) == normal(printed) else printed}"

    def run(self, command: str) -> str:
        """What a command prints, both streams together."""
        if command == "echo $?":
            return f"{self.exit_code}\n"
        if command.startswith("pip install "):
            self._install(self.folder / command.rsplit(maxsplit=1)[-1])
            return ""
        left_out = ("AGENTEVAL_", "PYTEST_", "CI", "BUILD_NUMBER", "COLUMNS")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={
                **environment,
                "PATH": path,
                "PYTHONPATH": os.pathsep.join(map(str, self.installed)),
                "PYTHONIOENCODING": "utf-8",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        self.exit_code = done.returncode
        return done.stdout

    def _install(self, project: Path) -> None:
        """What pip would leave behind, as far as Python finds packages and their entry points by it."""
        told = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        metadata = project / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {told['name']}\nVersion: {told['version']}\n")
        lines = [
            line
            for group, points in told["entry-points"].items()
            for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
        ]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        self.installed.append(project)

    def _edit(self, block: Block) -> None:
        """Replace the lines after `-` by those after `+`."""
        path = self.folder / block.target
        text = path.read_text(encoding="utf-8")
        old, new = (
            "".join(line[1:] for line in block.text.splitlines(keepends=True) if line[0] == sign)
            for sign in "-+"
        )
        if text.count(old) != 1:
            raise AssertionError(f"{block.target} holds {text.count(old)} times, not once:\n{old}")
        path.write_text(text.replace(old, new), encoding="utf-8")

    def _value(self, target: str) -> str:
        name, _, pointer = target.partition("#")
        here: Any = json.loads((self.folder / name).read_text(encoding="utf-8"))
        for step in pointer.split("/")[1:]:
            here = here[int(step)] if isinstance(here, list) else here[step]
        return json.dumps(here, indent=2, ensure_ascii=False) + "\n"


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it is shown to print."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    if parts[0]:
        raise AssertionError(f"a console block begins with a command: {parts[0]!r}")
    yield from zip(parts[1::2], parts[2::2], strict=True)


def follow(page: Path, folder: Path) -> list[tuple[Block, str]]:
    """Follow a page from its top, in an empty folder: its blocks, each with how it would be written now."""
    workspace = Workspace(folder)
    return [(block, workspace.follow(block)) for block in blocks(page)]


def refresh(page: Path) -> None:
    """Rewrite what a page shows by what its commands print now."""
    with TemporaryDirectory() as folder:
        texts = iter([now for _, now in follow(page, Path(folder))])

    def rewritten(match: re.Match[str]) -> str:
        block, now = _block(match), next(texts)
        if normal(block.text) == normal(now):
            return match[0]
        start, end = (position - match.start() for position in match.span("text"))
        return match[0][:start] + now + match[0][end:]

    page.write_text(_BLOCK.sub(rewritten, text_of(page)), encoding="utf-8")


if __name__ == "__main__":
    for each in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        refresh(each)
