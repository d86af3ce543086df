"""The figures of benchmarks/groundedness.py and benchmarks/fabrications.py are what they say; what is timed passes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import groundedness_speed as speed
from benchmarks import recorded
from benchmarks.fabrications import KINDS, figures
from benchmarks.groundedness import best_threshold, roc_auc, rouge_l, shared_words, token_f1
from benchmarks.suites import copies

ROOT = Path(__file__).resolve().parent.parent

ROWS = [
    {
        "id": "a-1-ok",
        "source": "Lab A released model X in May.",
        "output": "Lab A released model X.",
        "supported": True,
    },
    {
        "id": "a-1-bad",
        "source": "Lab A released model X.",
        "output": "Lab B bought 7 boats.",
        "supported": False,
    },
    {
        "id": "b-2-bad",
        "source": ["Rain.", "Snow fell."],
        "output": "Snow fell.",
        "supported": False,
        "question": "Q?",
    },
]


@pytest.mark.parametrize(
    ("good", "bad", "area"),
    [([2, 3], [0, 1], 1.0), ([0, 1], [2, 3], 0.0), ([1], [1], 0.5), ([1, 3], [2, 2], 0.5), ([], [1], None)],
)
def test_roc_auc(good: list[float], bad: list[float], area: float | None) -> None:
    """The share of pairs in the right order; equal ones count half."""
    assert roc_auc(good, bad) == area


def test_baselines() -> None:
    """By hand: three of four and of five words are shared, three in order."""
    source, output = ["a", "b", "c", "d", "e"], ["a", "c", "b", "x"]
    assert token_f1(source, output) == pytest.approx(6 / 9)
    assert rouge_l(source, output) == pytest.approx(4 / 9)
    assert [shared_words(source, words.split()) for words in ("a", "x", "a x", "a b x")] == [
        1.0,
        0.0,
        0.5,
        1.0,
    ]


def test_the_best_threshold() -> None:
    """The one that gets most right; none when all are unsupported."""
    scored = [({"supported": True}, 3.0), ({"supported": True}, 2.0), ({"supported": False}, 1.0)]
    assert best_threshold(scored) == 2.0
    assert best_threshold([({"supported": False}, 1.0)]) == float("inf")


def test_figures_of_a_file(tmp_path: Path) -> None:
    """One of the two unsupported outputs is found; every data set has its part, every baseline its row."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.groundedness", str(path)]
    done = subprocess.run(
        [*command, "--parts", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    [found] = json.loads(done.stdout)
    assert found["file"] == "rows.jsonl"
    assert found["default"] == {
        "honest": 1,
        "alarms": 0,
        "wrong": 2,
        "found": 1,
        "accuracy": 0.6667,
        "roc_auc": 0.75,
    }
    assert (found["worded"]["found"], found["worded"]["roc_auc"]) == (1, 0.75)
    assert [part["part"] for part in found["parts"]] == ["a", "b"]
    assert list(found["baselines"]) == ["token F1", "two words shared", "ROUGE-L"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert (
        "rows                          1       0       2       1        0      1     66.7%    0.750\n"
        in shown
    )


def test_outputs_for_the_speed_are_put_together() -> None:
    """Until both are long enough: what is said, with a link to its source, and the sources, which go on alone."""
    rows = [{"source": f"Page {n} has ten words.", "output": "It has ten words."} for n in range(7)]
    [first, second] = speed.outputs(rows, 8, 60)
    assert [len(first), len(second)] == [3, 3]
    made = speed.row_of(first, 9)
    assert made["output"] == (
        "- It has ten words. (https://news.example.com/9/0)\n- It has ten words. (https://news.example.com/9/1)"
    )
    assert made["source"][2] == "https://news.example.com/9/2\nPage 2 has ten words. Page 9."
    turned = speed.row_of(first, 9, -1)
    assert turned["source"] == made["source"]
    assert turned["output"].splitlines() == made["output"].splitlines()[::-1]


def test_the_speed_is_told_by_size_and_check(tmp_path: Path) -> None:
    """How many outputs there are, how long, and what judging one of them takes."""
    rows = [{"source": f"Page {n} has a few words. " * 30, "output": "Few words. " * 15} for n in range(4)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.groundedness_speed", str(path), "--size", "short"]
    done = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert [(each["size"], each["check"], each["n"], each["words"]) for each in found] == [
        ("short", "claims", 1, 60),
        ("short", "both", 1, 60),
    ]
    assert all(0 < each["ms_least"] <= each["ms"] <= each["ms_most"] for each in found)
    assert all(each[f"ms_{when}_before"] >= 0 for each in found for when in ("read", "judged"))
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[0].startswith("rows.jsonl ")
    assert shown.splitlines()[1].split()[:5] == ["short,", "claims", "1", "2", "60"]


@pytest.mark.parametrize("kind", list(KINDS))
def test_planted_fabrications_are_found(kind: str) -> None:
    """Of every kind, in sentences in which it can be planted; the sentences as they stand pass."""
    source = (
        "Then the company Alpha Works bought Beta Boats for 41 dollars a share (March 3). The price was high for a boat yard."
        " Later more than 250 people of the harbour came to see the new owners (June 7). Its founder Carla Stone had asked for more of the money. Later that year Delta Docks was sold to Erik Lund by the same people."
    )
    elsewhere = "In the spring the town council of old Bremen asked Gustav Berg about it."
    found = figures(kind, [{"source": source}, {"source": elsewhere}])
    assert found["n"] > 0
    assert found["detection_rate"] == 1.0
    assert found["false_alarm_rate"] == 0.0


def test_fabrications_are_planted_in_the_texts_of_json() -> None:
    """What a tool returned may be any JSON value; numbers and keys of it are no sentences."""
    said = "On March 3 the company Alpha Works bought Beta Boats for 41 dollars a share."
    rows = [{"source": [{"pages": [{"text": said, "year": 2026}], "found": True}, None]}]
    assert figures("number", rows) == figures("number", [{"source": said}])
    assert figures("number", rows)["n"] == 1
    nothing = figures("negation", rows)
    assert (nothing["n"], nothing["detection_rate"], nothing["false_alarm_rate"]) == (0, None, None)


def test_fabrications_are_planted_in_recorded_runs() -> None:
    """What the tools of real runs returned and what the agent said is changed too, and counted apart."""
    runs = list(recorded.rows(ROOT / "tests" / "data" / "recordings"))
    ids = [run["id"] for run in runs]
    assert "v2-current-news-1" in ids
    assert "v2-compact-manual-1" not in ids  # no tool was called
    found = figures("number", [], runs)
    assert found["n"] == found["recorded"] > 20
    assert found["detection_rate"] >= 0.95
    assert found["false_alarm_rate"] == 0.0


@pytest.mark.parametrize("lean", ["0", "1"])
def test_the_handwritten_suite_passes(lean: str, tmp_path: Path) -> None:
    """What agenteval is timed against does its work on the same examples."""
    suite = copies(12, tmp_path / "suite")
    handwritten = ROOT / "benchmarks" / "handwritten" / "test_examples.py"
    env = {"SUITE": str(suite), "OUT": str(tmp_path / "out"), "LEAN": lean, "REDACT": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(handwritten)],
        env={**os.environ, **env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1].startswith("12 passed"), done.stdout
