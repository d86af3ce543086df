"""What is invisible, or turns the direction of reading, is shown as an escape wherever a run is told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.cli import main
from agenteval.reporters.formats import FORMATS
from agenteval.text.fitting import printable, visible, visible_in_json
from projects import FETCHES, Project, make_replay

HIDDEN = "".join(
    map(
        chr,
        [
            *(code for code in range(0x20) if chr(code) not in "\t\n\r"),
            *range(0x7F, 0xA0),
            0xAD,
            0x061C,
            0x180E,
            0x200B,
            *range(0x200E, 0x2010),
            *range(0x2028, 0x202F),
            *range(0x2060, 0x2070),
            0x3164,
            0xFEFF,
            *range(0xFFF9, 0xFFFC),
            0xE0001,
            0xE0041,
            0xE0100,
        ],
    )
)
"""Control characters, bidirectional signs, and letters that nobody sees."""
ODD = f"a{HIDDEN}b\rc"


def told_by(project: Project) -> None:
    """A run in which the author of the test, the agent and its tools say odd things."""
    call = {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"q": ODD}}
    done = {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": True, "result": ODD}
    answer = {"role": "assistant", "content": ODD}
    says = {"id": "says", "type": "output_contains", "params": {"any_of": ["z", ODD + "z"]}}
    asks = {
        "id": "asks",
        "type": "must_call_tool",
        "params": {"tool": "web_search", "args": {"args_equal": {"q": "z"}}},
    }
    project.add(
        "fail",
        "odd",
        replay=make_replay(call, done, final_output=answer),
        title=ODD,
        tags=[ODD],
        assertions=[
            says,
            asks,
            {**FETCHES, "description": ODD},
            {**FETCHES, "id": ODD, "severity": "warning"},
        ],
    )
    project.add("pass", "name\x1b\u202e\u200b")
    project.add(
        "pass",
        "expected",
        title="x",
        expected={"status": "fail", "assertions": ["fetches"], "reason": ODD},
        assertions=[FETCHES],
    )
    project.add("invalid", "wrong", title=ODD)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project of that run."""
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    told_by(project)
    return project


def hidden_in(text: str) -> list[str]:
    """What of a text nobody would see."""
    return [f"U+{ord(sign):04X}" for sign in text if sign in HIDDEN or sign == "\r"]


def texts_in(data: Any) -> list[str]:
    """All texts in JSON."""
    if isinstance(data, dict):
        return [*data, *(text for each in data.values() for text in texts_in(each))]
    if isinstance(data, list):
        return [text for each in data for text in texts_in(each)]
    return [data] if isinstance(data, str) else []


def test_no_report_hides_anything(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the summary of a step, the run's own files, the baseline."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    asked = [word for form in FORMATS for word in (f"--{form.name}", f"report.{form.name}")]
    assert main(["run", "tests", "--run-id", "r", "--save-traces", "--github", *asked]) == 3
    main(["run", "tests/odd", "--run-id", "b", "--update-baseline"])
    main(["run", "tests/odd", "--run-id", "c", "--baseline", "agenteval-baseline.json"])
    reports = {path.name: path for path in Path().glob("report.*")}
    assert len(reports) == len(FORMATS)
    files = [
        *reports.values(),
        Path("step.md"),
        Path("agenteval-baseline.json"),
        *Path("artifacts").rglob("*.json*"),
    ]
    assert {str(path): hidden_in(path.read_bytes().decode()) for path in files} == {
        str(path): [] for path in files
    }
    sarif = json.loads(reports["report.sarif"].read_text(encoding="utf-8"))
    assert [text for text in texts_in(sarif) if hidden_in(text)] == []
    assert any(r"\x1b" in text and r"\u202e" in text for text in texts_in(sarif))


def test_programs_read_what_was_said(project: Project) -> None:
    """Escapes of JSON are for whoever looks at the file: what it says stays."""
    main(["run", "tests/odd", "--run-id", "r", "--save-traces", "--ndjson", "n"])
    (trace,) = Path("artifacts/r").glob("*.trace.json")
    content = json.loads(trace.read_text(encoding="utf-8"))["final_output"]["content"]
    assert content == ODD
    events = [json.loads(line) for line in Path("n").read_text(encoding="utf-8").splitlines()]
    assert events[1]["result"]["title"] == ODD


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "tests", "-v"],
        ["run", "tests", "--json", "--no-artifacts"],
        ["run", "tests", "--collect-only"],
        ["list", "tests"],
        ["list", "tests", "--json"],
        ["validate", "tests"],
        ["validate", "tests", "--json"],
        ["mutate", "tests/odd", "--json"],
        ["trace", "tests/odd"],
        ["suite", "new", "tests"],
        ["explain", ODD],
        ["report", ODD],
    ],
    ids=lambda argv: " ".join(argv).replace(ODD, "ODD"),
)
def test_nothing_printed_hides_anything(
    argv: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """On either stream."""
    main(argv)
    out, err = capsys.readouterr()
    assert hidden_in(out) == hidden_in(err) == []


@given(st.text() | st.text(alphabet=HIDDEN + "ab \n\t\r"))
def test_what_is_shown_is_told_whole(text: str) -> None:
    """An escape for each hidden sign, all else as it was; JSON says the same as before."""
    shown = visible(text)
    assert hidden_in(shown.replace("\r\n", "")) == []
    assert re.sub(r"\\(x..|u....|U.{8}|r)", "", shown) == shown or shown != text or "\\" in text
    assert visible(shown) == shown
    assert hidden_in(printable(text)) == []
    if max(text, default="") <= "\udfff" or all(not "\ud800" <= sign <= "\udfff" for sign in text):
        assert json.loads(visible_in_json(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize(
    "kept", ["\N{FAMILY}\u200d\N{GIRL}", "می\u200cخواهم", "\u2764\ufe0f", "a\tb\r\nc", "10\xa0€"]
)
def test_what_joins_signs_is_kept(kept: str) -> None:
    """Emoji and letters would fall apart."""
    assert visible(kept) == kept
