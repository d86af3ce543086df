"""Projects with plugins, and installed packages that bring some, written as their authors would."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from projects import Project

SHOUTS = '''\
"""A plugin."""

from typing import Annotated, ClassVar

from agenteval.assertions.base import Assertion, Category, Verdict, failed, passed, vacuous
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.models import Between, model
from agenteval.contracts.trace import Trace


@model
class Shouts(Assertion):
    """The final output is all upper case. Had nothing to judge when it holds no letters."""

    type: ClassVar[str] = "shouts"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "whispered"
    implied: ClassVar[tuple[str, ...]] = ("supports_replay",)
    example: ClassVar[str] = "min_words: 2"

    min_words: Annotated[int, Between(1)] = 1
    """The fewest words."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        text = trace.output
        if text == text.lower() == text.upper():
            return vacuous("the output holds no letters")
        events = trace.of_type("final_output")
        if text == text.upper() and len(text.split()) >= self.min_words:
            return passed(f"{text!r} is shouted", events=events, words=len(text.split()))
        return failed(f"expected a shout, got {text!r}", events=events, words=len(text.split()))


PLUGINS = [Shouts]
'''
"""A plugin that is as it should be: the assertion type `shouts`."""

ADAPTER = '''\
"""A plugin."""

from agenteval.contracts.trace import AdapterInfo, Capabilities, TraceBuilder, TraceMessage, TraceScenario


class Canned:
    """An adapter: the answer stands in the test."""

    name = "canned"
    version = "1.2"
    supports_live_run = False

    def trace(self, case, context):
        return TraceBuilder(
            adapter=AdapterInfo(name=self.name, version=self.version),
            capabilities=Capabilities(supports_tool_trace=True, supports_replay=True),
            scenario=TraceScenario(trigger=case.scenario.trigger, group_id=case.scenario.group_id),
        ).build(
            test_case_id=case.id,
            test_run_id=context.run_id,
            input_messages=[],
            final_output=TraceMessage(role="assistant", content=case.adapter_input["answer"]),
            status="success",
            timing_ms_total=0,
        )


PLUGINS = [Canned]
'''
"""A plugin that is as it should be: the adapter `canned`."""

PLUGIN = "checks/shouting.py"


def plugged(root: Path, text: str = SHOUTS, *more: str, path: str = PLUGIN) -> Project:
    """A project whose configuration lists one plugin, a file with this text; `more` are listed too."""
    project = Project(root)
    listed = "".join(f"  - {name}\n" for name in (path, *more))
    (root / "agenteval.yaml").write_text(f"color: never\nplugins:\n{listed}", encoding="utf-8")
    write(root / path, text)
    return project


def write(path: Path, text: str) -> Path:
    """A file, with its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def asserting(kind: str = "shouts", **params: Any) -> list[dict[str, Any]]:
    """The assertions of a test that has one, called `a`."""
    return [{"id": "a", "type": kind, "params": params}]


def install(
    site: Path,
    package: str,
    points: Mapping[str, str],
    modules: Mapping[str, str],
    *,
    group: str = "agenteval.assertions",
) -> Path:
    """What installing a package leaves behind: its modules, and metadata with its entry points."""
    lines = [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    metadata = site / f"{package.replace('-', '_')}-1.0.dist-info"
    write(metadata / "METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    write(metadata / "entry_points.txt", "\n".join(lines) + "\n")
    for name, text in modules.items():
        write(site / f"{name}.py", text)
    return site


def agenteval(
    folder: Path, *arguments: str, sites: Sequence[Path] = (), code: int = 0
) -> subprocess.CompletedProcess[str]:
    """The command in a new interpreter, which finds the packages installed in `sites`; it ends in this code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENTEVAL_")}
    done = subprocess.run(
        [sys.executable, "-m", "agenteval", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": os.pathsep.join(map(str, sites)), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done
