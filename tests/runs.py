"""One run of the command line, and the files it wrote."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.cli import main

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = PROJECT / "examples"
CASES = PROJECT / "tests" / "cases"
_VARYING = re.compile(
    r'"(timestamp|started_at|finished_at|duration_ms|test_run_id|result_id)":\s*("[^"]*"|[\d.]+)|\b\d+ ms\b|\b\d+\.\d\d s\b'
)


@dataclass
class Run:
    """What a run ended with, and its directory of artifacts."""

    exit_code: int
    folder: Path

    @property
    def summary(self) -> dict[str, Any]:
        """`summary.json`."""
        return _read(self.folder / "summary.json")

    def results(self) -> Iterator[dict[str, Any]]:
        """Every `<test_id>.result.json`, by test id."""
        return (_read(path) for path in sorted(self.folder.glob("*.result.json")))

    def only_result(self) -> dict[str, Any]:
        """The result of a run of one test."""
        (result,) = self.results()
        return result


def run_command(paths: Sequence[Path], artifacts: Path, *flags: str, run_id: str = "run-1") -> Run:
    """`agenteval run PATH...` in this process, with all artifacts below `artifacts`."""
    argv = ["run", *map(str, paths), "--artifacts-dir", str(artifacts), "--run-id", run_id, *flags]
    return Run(main(argv), artifacts / run_id)


def settled(text: str, run_id: str = "run-1") -> str:
    """What is told of a run, without what differs between two runs of the same tests: ids of the run and times."""
    return _VARYING.sub("VARIES", text).replace(run_id, "RUN")


def written(run_id: str) -> dict[str, str]:
    """The files of a run below the current directory, without what differs between two runs of the same tests."""
    return {
        path.name: settled(path.read_text(encoding="utf-8"), run_id)
        for path in Path("artifacts", run_id).iterdir()
    }


def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data
