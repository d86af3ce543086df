"""The GitHub Action, and all that is meant for a CI server: valid by the servers' schemas, and it does what it says."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from pages import DOCS, ROOT, blocks

ACTION = ROOT / "action.yml"
TEMPLATE = ROOT / "src" / "agenteval" / "templates" / "init" / "workflow.yml"
WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), TEMPLATE]
CONTROL = "tests/cases/failing/must_call_tool"


def validator(name: str) -> Draft7Validator:
    """The schema that check-jsonschema brings under this name."""
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    return Draft7Validator(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))


def faults(name: str, text: str) -> list[str]:
    """What a schema finds wrong with a YAML text; the key `on`, to YAML 1.1 a boolean, is a word to GitHub."""
    data = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(data)]


def test_the_action_is_valid() -> None:
    """GitHub would take it."""
    assert faults("github-actions", ACTION.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_valid(path: Path) -> None:
    """Those of this repository, and the one that `agenteval init` makes."""
    assert faults("github-workflows", path.read_text(encoding="utf-8")) == []


def test_pipelines_in_the_documentation_are_valid() -> None:
    """Files that the page about CI shows, by the schema of the server that reads them; steps as those of a workflow."""
    names = {".gitlab-ci.yml": "gitlab-ci"}
    shown = [block for block in blocks(DOCS / "ci.md") if block.language == "yaml" and block.role == "file"]
    assert len(shown) >= 3
    around = "on: push\njobs:\n  evals:\n    runs-on: ubuntu-latest\n    steps:\n"
    for block in shown:
        text = around + block.text if block.target == "check-steps.yml" else block.text
        assert faults(names.get(block.target, "github-workflows"), text) == [], block.target


def test_the_schemas_refuse_what_is_wrong() -> None:
    """A step that is none, a job that runs nowhere, a pipeline without a script."""
    assert faults("github-actions", "name: x\ndescription: y\nruns: {using: composite, steps: [{run: ls}]}")
    assert faults("github-workflows", "on: push\njobs: {a: {steps: []}}")
    assert faults("gitlab-ci", "evals: {script: {a: b}}")


def steps() -> dict[str, dict[str, Any]]:
    """The steps of the action that have an id."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return {step["id"]: step for step in action["runs"]["steps"] if "id" in step}


def run_step(name: str, values: dict[str, str], folder: Path) -> tuple[int, str, dict[str, str]]:
    """Run one step as GitHub does: exit code, output, and what it sets."""
    step = steps()[name]
    output = folder / f"{name}-output"
    output.touch()
    environment = {key: _filled(value, values) for key, value in step["env"].items()}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("AGENTEVAL_")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=_filled(step.get("working-directory", str(ROOT)), values),
        env={**inherited, **environment, "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    lines = output.read_text(encoding="utf-8").splitlines()
    return done.returncode, done.stdout, dict(line.split("=", 1) for line in lines)


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values[match[1]], text)


def inputs(folder: Path, **given: str) -> dict[str, str]:
    """What the expressions of the action stand for, by its defaults unless given."""
    declared = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    values = {f"inputs.{name}": str(about["default"]) for name, about in declared.items()}
    return {
        **values,
        "runner.temp": str(folder),
        "inputs.working-directory": str(ROOT),
        "steps.install.outputs.program": str(Path(sys.executable).with_name("agenteval")),
        **{f"inputs.{name.replace('_', '-')}": value for name, value in given.items()},
    }


def test_the_action_runs_and_reports(tmp_path: Path) -> None:
    """A failing test: its exit code, an annotation at its line, results and reports in one directory."""
    code, told, outputs = run_step(
        "run", inputs(tmp_path, paths=f"{CONTROL}\n", arguments="-q\n--strict"), tmp_path
    )
    assert code == 1
    assert outputs == {"exit-code": "1", "folder": str(tmp_path / "agenteval")}
    assert f"::error file={CONTROL}/test.yaml,line=24,col=5,title=" in told
    made = {path.name for path in (tmp_path / "agenteval").iterdir()}
    assert made == {"runs", "report.html", "junit.xml", "agenteval.sarif", "comment.md", "events.ndjson"}
    assert len(list((tmp_path / "agenteval" / "runs").glob("*/summary.json"))) == 1


def test_the_action_passes_when_all_passes(tmp_path: Path) -> None:
    """Several paths, one of them with a blank; exit code 0."""
    spaced = tmp_path / "with blank"
    spaced.mkdir()
    for path in (ROOT / CONTROL).iterdir():
        spaced.joinpath(path.name).write_bytes(path.read_bytes())
    text = (spaced / "test.yaml").read_text(encoding="utf-8").replace("tool: web_search", "tool: web_fetch")
    (spaced / "test.yaml").write_text(text, encoding="utf-8")
    paths = f"examples/nanoclaw/current-news\n{spaced}"
    code, told, outputs = run_step("run", inputs(tmp_path, paths=paths, arguments="-q"), tmp_path)
    assert (code, outputs["exit-code"]) == (0, "0"), told
    assert "2 passed" in told


def test_what_an_earlier_use_left_is_not_told_again(tmp_path: Path) -> None:
    """A run that could not begin leaves no reports: those of a run before it would be uploaded as its own."""
    (tmp_path / "agenteval").mkdir()
    (tmp_path / "agenteval" / "report.html").touch()
    code, _, outputs = run_step("run", inputs(tmp_path, paths=CONTROL, arguments="--bogus"), tmp_path)
    assert (code, outputs["exit-code"]) == (2, "2")
    assert not (tmp_path / "agenteval").exists()


def test_inputs_are_no_script(tmp_path: Path) -> None:
    """Whatever an input says, it is a word on the command line."""
    mark = tmp_path / "mark"
    words = f"$(touch {mark}); touch {mark}\n`touch {mark}`\n*"
    code, told, _ = run_step("run", inputs(tmp_path, paths=words), tmp_path)
    assert code == 3
    assert f"$(touch {mark}); touch {mark}" in told
    assert not mark.exists()


def test_outputs_are_those_that_steps_set() -> None:
    """Each output of the action comes from a step that writes it."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    for name, about in action["outputs"].items():
        assert about["value"] == f"${{{{ steps.run.outputs.{name} }}}}"
        assert f'echo "{name}=' in steps()["run"]["run"]


def test_the_action_installs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a requirement pip is given the action's own source: version and action are one."""
    calls = tmp_path / "calls"
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\necho "$@" >> "$CALLS"\n'
        'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    values = {**inputs(tmp_path), "github.action_path": "/source"}
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    code, told, outputs = run_step("install", values, tmp_path)
    assert code == 0, told
    assert calls.read_text().splitlines() == [
        f"-m venv {tmp_path}/agenteval-environment",
        "-m pip install --quiet --disable-pip-version-check /source jinja2",
    ]
    assert outputs == {"program": f"{tmp_path}/agenteval-environment/bin/agenteval"}
