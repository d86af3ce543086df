"""Transcripts: commands in a project, and all that they print and write, as a person at a terminal would see it.

A file of `transcripts/` holds parts, each of which begins with `## ` and a fact, and has a project of its own. A line that
begins with `$ ` is a command; what it printed is indented below it, lines of stderr after `! `, an exit code other than 0 in
brackets. Times are `VARIES`, ids of runs `RUN`. After a change of wording, `PYTHONPATH=tests python
tests/cli/test_transcripts.py [NAME…]` writes the output anew; read the difference.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenteval.cli import main
from projects import FETCHES, NEEDS_LIVE, SEARCHES, VACUOUS, WARNS, Project, make_replay
from recorded_projects import RECORDED, Logbooks
from runs import settled
from screen import Screen

TRANSCRIPTS = Path(__file__).parent / "transcripts"
IDLE = {"replay": make_replay(script=[]), "tools": {"available": ["a"]}, "assertions": [VACUOUS]}
CACHES = {"__pycache__", ".agenteval_cache", "agenteval.yaml", "logbook.py"}
RUN_ID = re.compile(r"run-\d{8}T\d{6}Z-[0-9a-f]{8}")
KINDS: dict[str, dict[str, Any]] = {
    "vacuous": IDLE,
    "idle": {"assertions": [SEARCHES, VACUOUS]},
    "worse": {"assertions": [SEARCHES, FETCHES, {**FETCHES, "id": "fetches-again"}]},
    "unwarned": {"assertions": [SEARCHES, WARNS, {**SEARCHES, "id": "other", "severity": "warning"}]},
    "otherwise": {
        "assertions": [SEARCHES, {**SEARCHES, "id": "warns", "severity": "warning"}, {**WARNS, "id": "other"}]
    },
    "unjudged": {"assertions": [SEARCHES, NEEDS_LIVE]},
}
"""Kinds of tests beside those that a project knows."""


def agenteval(*argv: str) -> str:
    """Run the command line."""
    out, err = Screen(), Screen()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(argv))
    said = out.text() + "".join(f"! {line}\n" for line in err.text().splitlines())
    return said + f"[{code}]\n" * bool(code)


def add(project: Project, kind: str, name: str = "", *overrides: str) -> None:
    """Add a test to the project, or put it in place of the one of this name; `overrides` are YAML."""
    if (project.root / "tests" / (name or kind)).exists():
        shutil.rmtree(project.root / "tests" / (name or kind))
    given = {**KINDS.get(kind, {}), **yaml.safe_load("{" + " ".join(overrides) + "}")}
    replay = given.pop("replay", None)
    project.add(kind, name or kind, replay=replay, **given)


def keep(project: Logbooks, name: str, *runs: str) -> None:
    """Keep a recording, `NAME.logbook.json`, of the runs of these names."""
    project.keep(*(RECORDED[each] for each in runs), name=name)


def cat(name: str, first: str = "", last: str = "") -> str:
    """Show a file, or the lines from one that holds `first` to the next that holds `last`."""
    if not Path(name).exists():
        return "there is no such file\n"
    text = Path(name).read_text(encoding="utf-8")
    lines = text.removesuffix("\n").split("\n")
    start = next(number for number, line in enumerate(lines) if first in line)
    end = next(
        (number for number, line in enumerate(lines) if last and last in line and number > start), len(lines)
    )
    return "".join(f"{line}\n" for line in lines[start : end + 1 if last else end])


def grep(pattern: str, name: str) -> str:
    """Show the lines of a file in which a pattern occurs."""
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if re.search(pattern, line))


def pick(name: str, *keys: str) -> str:
    """Show a value of a JSON file."""
    data = json.loads(Path(name).read_text(encoding="utf-8"))
    for key in keys:
        data = data[int(key) if isinstance(data, list) else key]
    return json.dumps(data, ensure_ascii=False) + "\n"


def ls(name: str = ".") -> str:
    """List the files below a folder."""
    files = (path for path in Path(name).rglob("*") if path.is_file() and not CACHES & {*path.parts})
    return "".join(f"{path.as_posix()}\n" for path in sorted(files))


def write(name: str, text: str = "") -> None:
    """Write a file."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text.replace("\\n", "\n"), encoding="utf-8")


def edit(name: str, old: str, new: str = "") -> None:
    """Put another text in place of one that a file holds."""
    text = Path(name).read_text(encoding="utf-8")
    old = old.replace("\\n", "\n")
    assert old in text, (name, old)
    Path(name).write_text(text.replace(old, new.replace("\\n", "\n")), encoding="utf-8")


def rm(name: str) -> None:
    """Remove a file or a folder."""
    shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()


def cd(name: str) -> None:
    """Go into a folder, which is made."""
    Path(name).mkdir(parents=True, exist_ok=True)
    os.chdir(name)


COMMANDS: tuple[Callable[..., str | None], ...] = (agenteval, cat, grep, pick, ls, write, edit, rm, cd)


def parts_of(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the fact of each part of a transcript, and its lines."""
    _, *parts = ("\n" + (TRANSCRIPTS / name).read_text(encoding="utf-8")).split("\n## ")
    for part in parts:
        fact, *lines = part.rstrip("\n").split("\n")
        yield fact, lines


def played(lines: list[str], folder: Path) -> list[str]:
    """Run the commands of a part in a new project, and return the part with what they print."""
    os.chdir(folder)
    project = Logbooks(folder)
    commands = {each.__name__: each for each in COMMANDS}
    commands |= {"add": partial(add, project), "keep": partial(keep, project)}
    found = []
    for line in lines:
        if line.startswith("$ "):
            name, *words = shlex.split(line[2:])
            said = RUN_ID.sub("RUN", settled(commands[name](*words) or "")).replace(str(folder), "PROJECT")
            found += [line, *(f"  {each}".rstrip() for each in said.split("\n")[:-1])]
        elif line.startswith("# "):
            found.append(line)
    return found


PARTS = [
    pytest.param(lines, id=f"{path.stem}: {fact}")
    for path in sorted(TRANSCRIPTS.glob("*.txt"))
    for fact, lines in parts_of(path.name)
]


@pytest.mark.parametrize("lines", PARTS)
def test_a_transcript_holds(lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line that a command prints, on stdout and stderr, and its exit code."""
    monkeypatch.chdir(tmp_path)
    assert played(lines, tmp_path) == lines


if __name__ == "__main__":
    for name in sys.argv[1:] or [path.name for path in sorted(TRANSCRIPTS.glob("*.txt"))]:
        parts = list(parts_of(name))
        with tempfile.TemporaryDirectory() as above:
            folders = [Path(tempfile.mkdtemp(dir=above)) for _ in parts]
            done = [
                [f"## {fact}", *played(lines, folder)]
                for (fact, lines), folder in zip(parts, folders, strict=True)
            ]
        (TRANSCRIPTS / name).write_text(
            "\n".join(line for part in done for line in part) + "\n", encoding="utf-8"
        )
