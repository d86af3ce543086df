"""An AgentEvalSuite in a directory, with the recordings of its tasks, and runs of it."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from agenteval.cli import main
from projects import make_replay

SUITE_ID = "local.test.evals.assistant"
RULES = Path(__file__).resolve().parents[1] / "data" / "openwop"
"""The constraints of the RFC's schemas, without their words."""


@cache
def normative(name: str) -> dict[str, Any]:
    """The rules of the RFC for one of its formats: a JSON Schema."""
    rules: dict[str, Any] = json.loads((RULES / f"{name}.rules.json").read_text(encoding="utf-8"))
    return rules


def golden(strategy: str = "contains", value: Any = "Cats") -> dict[str, Any]:
    """What a golden task expects."""
    return {"kind": "golden", "match": {"strategy": strategy, "value": value}}


def rubric(*weights: float) -> dict[str, Any]:
    """What a rubric task expects: criteria c1, c2 … of these weights."""
    return {
        "kind": "rubric",
        "rubric": [{"criterion": f"c{n}", "weight": weight} for n, weight in enumerate(weights, 1)],
    }


def make_task(name: str = "cats", expected: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    """A task; by default a golden one that the default recording passes."""
    return {"taskId": name, "input": "Hello?", "expected": expected or golden(), **rest}


def make_suite(*tasks: dict[str, Any], **overrides: Any) -> dict[str, Any]:
    """A suite of these tasks, with the modes that they need."""
    given = list(tasks) or [make_task()]
    modes = list(dict.fromkeys(task["expected"]["kind"] for task in given))
    return {"suiteId": SUITE_ID, "version": "1.2.3", "modes": modes, "tasks": given, **overrides}


class SuiteProject:
    """A directory with `suite.json` and `replays/`; the current directory of whoever uses it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "suite.json"
        (root / "agenteval.yaml").write_text("color: never\n", encoding="utf-8")
        (root / "replays").mkdir()

    def write(self, *tasks: dict[str, Any], record: bool = True, **overrides: Any) -> dict[str, Any]:
        """Write a suite of these tasks and, unless told otherwise, the default recording of each."""
        suite = make_suite(*tasks, **overrides)
        self.path.write_text(json.dumps(suite), encoding="utf-8")
        for task in suite["tasks"] if record else ():
            self.record(task["taskId"])
        return suite

    def record(self, name: str, output: str | None = None, **overrides: Any) -> Path:
        """Write the recording of a task: the default one, with this output."""
        if output is not None:
            overrides["final_output"] = {"role": "assistant", "content": output}
        return self.put(f"replays/{name}/replay.json", make_replay(**overrides))

    def put(self, name: str, data: Any) -> Path:
        """Write a JSON file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")
        return path

    def decide(self, name: str, *met: bool, **overrides: Any) -> Path:
        """Write verdicts on file for c1, c2 …, of the output that is recorded."""
        verdicts = [{"criterion": f"c{n}", "met": yes, "reason": f"r{n}"} for n, yes in enumerate(met, 1)]
        recorded = self.root / f"replays/{name}/replay.json"
        output = ""
        if recorded.is_file():
            output = (
                json.loads(recorded.read_text(encoding="utf-8")).get("final_output", {}).get("content", "")
            )
        told = {"verdicts": verdicts, "output_sha256": hashlib.sha256(output.encode()).hexdigest()}
        return self.put(f"replays/{name}/verdicts.json", told | overrides)

    def run(self, *flags: str, run_id: str = "run-1") -> int:
        """`agenteval run suite.json` with these flags; the exit code."""
        return main(["run", "suite.json", "--run-id", run_id, *flags])

    def read(self, name: str, run_id: str = "run-1") -> Any:
        """A JSON file of a run."""
        return json.loads((self.root / "artifacts" / run_id / name).read_text(encoding="utf-8"))

    def result(self, task: str, run_id: str = "run-1") -> dict[str, Any]:
        """The result of a task."""
        found: dict[str, Any] = self.read(f"{task}.result.json", run_id)
        return found

    def summary(self, run_id: str = "run-1") -> dict[str, Any]:
        """The EvalSummary of a run."""
        found: dict[str, Any] = self.read("eval-summary.json", run_id)
        return found

    def events(self, run_id: str = "run-1") -> list[dict[str, Any]]:
        """The events of a run."""
        lines = (self.root / "artifacts" / run_id / "events.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
