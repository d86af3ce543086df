"""Rubrics and their judges: the score, verdicts on file, programs, and all that can go wrong with them."""

import hashlib
import os
import sys
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.cli import main
from agenteval.openwop import judges
from agenteval.openwop.models import Criterion
from agenteval.openwop.tasks import share
from openwop.suites import SuiteProject, make_task, rubric


def score_of(weights: list[float], met: list[bool]) -> Fraction:
    """The score of criteria with these weights."""
    return share([Criterion(criterion="c", weight=weight) for weight in weights], met)


@pytest.mark.parametrize(
    ("weights", "met", "score"),
    [
        ([1], [True], Fraction(1)),
        ([1], [False], Fraction(0)),
        ([0.5, 0.3, 0.2], [True, True, False], Fraction(4, 5)),
        ([0.1, 0.2], [True, True], Fraction(1)),
        ([0.1, 0.1, 0.1], [True, True, False], Fraction(2, 3)),
        ([0.3, 0.1], [False, True], Fraction(1, 4)),
        ([0, 0], [True, True], Fraction(0)),
        ([0, 1], [False, True], Fraction(1)),
    ],
)
def test_the_score_is_the_weight_that_is_met(weights: list[float], met: list[bool], score: Fraction) -> None:
    """Of the weight of all, which need not be 1; exact, as the weights are written; 0 when they weigh nothing."""
    assert score_of(weights, met) == score


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=6))
def test_scores_by_a_model(criteria: list[tuple[int, bool]]) -> None:
    """For weights in hundredths: the same as counting hundredths, and always from 0 to 1."""
    total = sum(weight for weight, _ in criteria)
    reached = sum(weight for weight, met in criteria if met)
    got = score_of([weight / 100 for weight, _ in criteria], [met for _, met in criteria])
    assert got == (Fraction(reached, total) if total else 0)
    assert 0 <= got <= 1


@pytest.mark.parametrize(
    ("pass_score", "code", "passed"), [(0.3, 0, True), (0.30000001, 1, False), (0, 0, True), (1, 1, False)]
)
def test_a_task_passes_at_its_bar(suite: SuiteProject, pass_score: float, code: int, passed: bool) -> None:
    """0.1 and 0.2 of 1 make 0.3, which clears a bar of 0.3 and no higher one."""
    suite.write(make_task("judged", rubric(0.1, 0.2, 0.7)), thresholds={"passScore": pass_score})
    suite.decide("judged", True, True, False)
    assert suite.run("--judge", "recorded") == code
    (task,) = suite.summary()["tasks"]
    assert (task["score"], task["passed"], suite.summary()["passed"]) == (0.3, passed, passed)


def test_what_a_rubric_says(suite: SuiteProject) -> None:
    """The result has the score and each verdict with its reason; a failure names what is not met."""
    suite.write(make_task("judged", rubric(0.5, 0.5)))
    suite.decide("judged", True, False)
    assert suite.run("--judge", "recorded") == 1
    (check,) = suite.result("judged")["assertions"]
    assert (check["type"], check["status"], check["category"]) == ("rubric", "fail", "outcome")
    assert check["message"] == (
        "expected a score of at least 1, got score 0.5: 1 of 2 criteria met; not met: 'c2' (r2)"
    )
    assert check["observed"] == {
        "score": 0.5,
        "verdicts": [
            {"criterion": "c1", "met": True, "reason": "r1"},
            {"criterion": "c2", "met": False, "reason": "r2"},
        ],
    }
    suite.decide("judged", True, True)
    assert suite.run("--judge", "recorded", run_id="run-2") == 0
    (check,) = suite.result("judged", "run-2")["assertions"]
    assert check["message"] == "score 1: 2 of 2 criteria met"


@pytest.mark.parametrize(("number", "more"), [(5, ""), (6, " and 1 more")])
def test_five_criteria_that_are_not_met_are_named(suite: SuiteProject, number: int, more: str) -> None:
    """Of more it is said how many."""
    suite.write(make_task("judged", rubric(*[1] * number)))
    suite.decide("judged", *[False] * number)
    assert suite.run("--judge", "recorded") == 1
    (check,) = suite.result("judged")["assertions"]
    assert check["message"].endswith(
        f"; not met: 'c1' (r1), 'c2' (r2), 'c3' (r3), 'c4' (r4), 'c5' (r5){more}"
    )


def test_without_an_output_nobody_is_asked(suite: SuiteProject) -> None:
    """A run that ended without an output meets no criterion; there is nothing to judge."""
    suite.write(make_task("judged", rubric(1)))
    suite.record("judged", final_output=None, status="failed")
    assert suite.run("--judge", "command:false") == 1
    (check,) = suite.result("judged")["assertions"]
    assert check["message"] == "expected an output that meets the rubric, got no final output"
    assert check["observed"] == {"score": 0}
    assert suite.summary()["tasks"][0]["score"] == 0


def error_of(suite: SuiteProject, *flags: str) -> tuple[str, str]:
    """The reason code and the message of the one task, which ends in an error and scores 0."""
    assert suite.run(*flags) == 2
    result = suite.result("judged")
    assert suite.summary()["tasks"] == [
        {"taskId": "judged", "score": 0.0, "passed": False, "latencyMs": 1200}
    ]
    return result["error"]["reason_code"], result["error"]["message"]


def test_verdicts_that_are_not_there(suite: SuiteProject) -> None:
    """A task without verdicts on file is an error, never a guess."""
    suite.write(make_task("judged", rubric(1)))
    code, message = error_of(suite, "--judge", "recorded")
    assert (code, message) == (
        "judge.no_verdicts",
        "assertion rubric (rubric): replays/judged/verdicts.json: error[file.missing]: no such file",
    )
    step = suite.result("judged")["next_step"]
    assert step.startswith(
        "put the judge's decisions into replays/judged/verdicts.json, or have them made: --judge"
    )


@pytest.mark.parametrize(
    ("met", "overrides", "code", "what"),
    [
        (
            (True,),
            {},
            "judge.stale",
            ("the verdicts in replays/judged/verdicts.json do not fit this rubric: "
            '[1]: only the rubric has it, "c2"'),
        ),
        (
            (True, True),
            {"verdicts": [{"criterion": "c1", "met": True}, {"criterion": "c3", "met": True}]},
            "judge.stale",
            ("the verdicts in replays/judged/verdicts.json do not fit this rubric: [1]: the rubric has "
            '"c2", the judge "c3"'),
        ),
        (
            (True, True),
            {"output_sha256": hashlib.sha256(b"Dogs.").hexdigest()},
            "judge.stale",
            "the verdicts in replays/judged/verdicts.json are for another output (output_sha256 differs)",
        ),
        (
            (True, True),
            {"output_sha256": None},
            "judge.stale",
            ("the verdicts in replays/judged/verdicts.json do not say of which output they are: "
            "output_sha256 is missing"),
        ),
    ],
)  # fmt: skip
def test_stale_verdicts(
    suite: SuiteProject, met: tuple[bool, ...], overrides: dict[str, Any], code: str, what: str
) -> None:
    """Verdicts on other criteria or on another output are refused."""
    suite.write(make_task("judged", rubric(0.5, 0.5)))
    suite.decide("judged", *met, **overrides)
    assert error_of(suite, "--judge", "recorded") == (code, f"assertion rubric (rubric): {what}")


def test_verdicts_on_this_output(suite: SuiteProject) -> None:
    """With the digest of the output the verdicts hold."""
    suite.write(make_task("judged", rubric(1)))
    suite.decide("judged", True, output_sha256=hashlib.sha256(b"Cats.").hexdigest())
    assert suite.run("--judge", "recorded") == 0


def test_verdicts_without_a_digest_name_the_one_to_add(suite: SuiteProject) -> None:
    """Files that were written before digests were asked for are mended by one line, once somebody has looked."""
    suite.write(make_task("judged", rubric(1)))
    suite.decide("judged", True, output_sha256=None)
    suite.run("--judge", "recorded")
    digest = hashlib.sha256(b"Cats.").hexdigest()
    assert f'add "output_sha256": "{digest}"' in suite.result("judged")["next_step"]


def test_a_rubric_for_which_a_score_of_0_is_enough_judges_nothing(suite: SuiteProject) -> None:
    """Any output reaches it: the pass is vacuous, and opens no gate."""
    suite.write(make_task("judged", rubric(1)), thresholds={"passScore": 0})
    suite.decide("judged", False)
    assert suite.run("--judge", "recorded") == 0
    assert suite.result("judged")["summary"]["vacuous"] == 1
    assert main(["gate", "artifacts/run-1"]) == 1
    assert suite.run("--judge", "recorded", "--fail-on-vacuous", run_id="run-2") == 1


def test_misspelt_verdicts(suite: SuiteProject) -> None:
    """What is wrong with the file is shown with its place."""
    suite.write(make_task("judged", rubric(1)))
    suite.put("replays/judged/verdicts.json", {"verdicts": [{"criterion": "c1", "met": "yes"}]})
    code, message = error_of(suite, "--judge", "recorded")
    assert code == "judge.no_verdicts"
    assert "verdicts.json:1:" in message
    assert "error[json.wrong_type]: verdicts[0].met: expected true or false, got 'yes'" in message


def program(suite: SuiteProject, text: str) -> str:
    """A judge that runs this Python."""
    path = suite.root / "my judge.py"
    path.write_text(text, encoding="utf-8")
    return f"command:'{sys.executable}' '{path}'"


ECHO = """\
import json, sys
q = json.load(sys.stdin)
assert sorted(q) == ["criteria", "input", "output", "schema_version", "suite_id", "suite_version", "task_id"]
told = json.dumps([q["suite_id"], q["suite_version"], q["task_id"], q["input"], q["output"]], ensure_ascii=False)
sys.stdout.reconfigure(encoding="utf-8")
print(json.dumps({"verdicts": [
    {"criterion": c["criterion"], "met": c["weight"] > 0.3, "reason": told} for c in q["criteria"]
]}, ensure_ascii=False))
"""


def test_a_program_is_asked(suite: SuiteProject) -> None:
    """It reads the question on stdin, with the output as it is, and its answer is the verdict."""
    suite.write(
        make_task("judged", rubric(0.7, 0.3), input={"ask": "Wie groß?"}), thresholds={"passScore": 0.7}
    )
    suite.record("judged", "Größe: 3 m")
    assert suite.run("--judge", program(suite, ECHO)) == 0
    (check,) = suite.result("judged")["assertions"]
    assert [each["met"] for each in check["observed"]["verdicts"]] == [True, False]
    assert check["observed"]["verdicts"][0]["reason"] == (
        '["local.test.evals.assistant", "1.2.3", "judged", {"ask": "Wie groß?"}, "Größe: 3 m"]'
    )
    assert suite.summary()["aggregateScore"] == 0.7


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("import sys; sys.exit('no model')", "judge.failed", "ended with exit code 1: no model"),
        (
            "import sys; sys.stderr.buffer.write(b'a' * 9 + b'\\xff' + b'x' * 299 + b'\\n'); sys.exit(3)",
            "judge.failed",
            f"ended with exit code 3: \ufffd{'x' * 299}",
        ),
        ("print('fine')", "judge.answer", "did not answer with verdicts: the judge's answer:1:1: error[json.syntax]"),
        ("", "judge.answer", "did not answer with verdicts: the judge's answer:1:1: error[json.empty]"),
        ("print('{}')", "judge.answer", 'do not fit this rubric: [0]: only the rubric has it, "c1"'),
        (
            """print('{"verdicts": [{"criterion": "c1", "met": 1}]}')""",
            "judge.answer",
            "did not answer with verdicts: verdicts[0].met: expected true or false, got the number 1",
        ),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "judge.answer", "did not answer with verdicts: 'utf-8' codec"),
    ],
)  # fmt: skip
def test_a_program_that_does_not_answer(suite: SuiteProject, text: str, code: str, what: str) -> None:
    """The test is an error that says what came instead of verdicts."""
    suite.write(make_task("judged", rubric(1)))
    got, message = error_of(suite, "--judge", program(suite, text))
    assert got == code
    assert what in message


def test_a_program_that_is_not_there(suite: SuiteProject) -> None:
    """It is named with what the system says."""
    suite.write(make_task("judged", rubric(1)))
    assert error_of(suite, "--judge", "command:no-such-judge --x") == (
        "judge.failed",
        "assertion rubric (rubric): the judge no-such-judge cannot be started: No such file or directory",
    )


def test_a_name_that_no_program_can_have(suite: SuiteProject) -> None:
    """It is refused as one that is not there."""
    suite.write(make_task("judged", rubric(1)))
    code, message = error_of(suite, "--judge", "command:a\0b")
    assert code == "judge.failed"
    assert message.endswith(" cannot be started: embedded null byte")


def test_a_program_that_does_not_end(suite: SuiteProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time it is stopped, with the children that hold its pipes: the run never hangs."""
    monkeypatch.setattr(judges, "SECONDS", 1)
    suite.write(make_task("judged", rubric(1)))
    text = "import os, subprocess, time\nopen('pid', 'w').write(str(os.getpid()))\nsubprocess.run(['sleep', '60'])"
    started = time.monotonic()
    code, message = error_of(suite, "--judge", program(suite, text))
    assert code == "judge.timeout"
    assert message.endswith(" took longer than 1 seconds")
    assert time.monotonic() - started < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int((suite.root / "pid").read_text()), 0)


def test_verdicts_that_lead_out_of_the_project(
    suite: SuiteProject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A link to a file elsewhere is not followed, unless --allow-outside says so; nothing of it is shown."""
    suite.write(make_task("judged", rubric(1)))
    there = suite.decide("judged", True)
    outside = there.rename(tmp_path_factory.mktemp("outside") / "verdicts.json")
    there.symlink_to(outside)
    assert error_of(suite, "--judge", "recorded") == (
        "judge.no_verdicts",
        f"assertion rubric (rubric): replays/judged/verdicts.json leads out of {suite.root}",
    )
    assert suite.run("--judge", "recorded", "--allow-outside", run_id="run-2") == 0
