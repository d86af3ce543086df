"""How tests are divided into shards, and what a shard takes down of itself."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.results import InvalidSpec
from agenteval.judging.runner import RunOptions
from agenteval.live.options import Budget, LiveOptions
from agenteval.loading.config import LiveCommand, LiveConfig, LiveNanoClaw
from agenteval.openwop.summary import Suite
from agenteval.redaction.redactor import Redactor
from agenteval.running.shards import Plan, Shard, ShardLog, ShardNote, ShardTest, divided

DURATIONS = st.lists(st.none() | st.floats(0, 1e6), max_size=60)


def test_unknown_durations_are_dealt_in_turn() -> None:
    """Without any duration the shards get equal numbers, one test after the other."""
    assert divided([None] * 7, 3) == [1, 2, 3, 1, 2, 3, 1]
    assert divided([0.0] * 7, 3) == [1, 2, 3, 1, 2, 3, 1]


def test_long_tests_are_spread() -> None:
    """The longest first, each to the shard with the least to do; an unknown one counts as the mean."""
    assert divided([10, 10, 100, 10], 2) == [2, 2, 1, 2]
    assert divided([5, 1, None, 3], 2) == [1, 1, 2, 2]


@given(DURATIONS, st.integers(1, 8))
def test_every_test_has_one_shard(durations: list[float | None], of: int) -> None:
    """Each is in a shard that there is, the same whenever it is asked."""
    shards = divided(durations, of)
    assert len(shards) == len(durations)
    assert set(shards) <= set(range(1, of + 1))
    assert shards == divided(durations, of)


@given(st.lists(st.floats(1, 1e4), min_size=1, max_size=60), st.integers(1, 8))
def test_no_shard_has_much_more_than_its_part(durations: list[float], of: int) -> None:
    """At most the mean of all and one longest test: what this rule is known to keep to."""
    shards = divided(durations, of)
    loads = [
        sum(ms for ms, mine in zip(durations, shards, strict=True) if mine == number)
        for number in range(1, of + 1)
    ]
    assert max(loads) <= sum(durations) / of + max(durations) + 0.1


def test_a_shard_takes_down_where_each_thing_stands() -> None:
    """Problems before, at and after its files; results by the places of their files among all that was found."""
    said = InvalidSpec(path="x", line=1, column=None, reason_code="r", message="m", severity="warning")
    log = ShardLog.of(Shard(2, 3), "mine", strict=False, suite=Suite(id="s", version="1"))
    made = log.record
    log.note([said], invalid=False)
    made.total, log.positions = 6, [1, 4]
    log.position = 1
    log.test("a.json", ())
    log.position = 4
    log.note([said, said], invalid=True)
    log.test(None, ())
    log.position = made.total
    log.note([said], invalid=False)
    assert (made.shard, made.of, made.run_id) == (2, 3, "mine")
    assert made.tests == [ShardTest(position=1, result="a.json")]
    assert made.notes == [
        ShardNote(position=-1, invalid=False, problems=[said]),
        ShardNote(position=4, invalid=True, problems=[said, said]),
        ShardNote(position=6, invalid=False, problems=[said]),
    ]


LIVE_TEST = "adapter: command\nmode: live\nlive: {script: turns.yaml}\n"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("agent.py", "agent.py"),
        ("lib/tools.py", "lib/tools.py"),
        ("evals/a/turns.yaml", "evals/a/turns.yaml"),
        ("evals/a/cassette.json", "evals/a/cassette.json"),
        ("evals/a/other.json", ""),
        ("data/orders.csv", "data/orders.csv"),
        ("data/__pycache__/x.pyc", ""),
        ("groups/family/container.json", "groups/family/container.json"),
        ("claw/src/index.ts", "claw/src/index.ts"),
        ("claw/.env", ""),
        ("node_modules/@x/sdk/package.json", "node_modules/@x/sdk/package.json"),
        ("node_modules/@x/sdk/.cache", ""),
        (".env", ""),
        ("artifacts/run/summary.json", ""),
    ],
)
def test_a_plan_of_live_tests_has_what_the_agent_is_run_from(change: str, found: str, tmp_path: Path) -> None:
    """Tracked files, changed or not, and all that the test or the configuration names; not what a machine adds."""
    written = ["agent.py", "lib/tools.py", "evals/a/turns.yaml", "data/orders.csv", "claw/src/index.ts"]
    written += ["groups/family/container.json", "node_modules/@x/sdk/package.json", "agenteval.yaml"]
    for name in written:
        _write(tmp_path / name, "1")
    test = _write(tmp_path / "evals/a/test.yaml", LIVE_TEST)
    for folder, names in ((tmp_path / "claw", ["src"]), (tmp_path, ["agent.py", "lib", "evals"])):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "add", *names], check=True)
    before = planned(tmp_path, test)
    _write(tmp_path / change, "2")
    after = planned(tmp_path, test)
    assert [name for name in after if after[name] != before.get(name)] == [found] * bool(found)


def planned(root: Path, test: Path, **asked: Any) -> dict[str, str]:
    """The plan of one test of a project whose agents are configured."""
    config = LiveConfig(
        command=LiveCommand(run=["python3", "agent.py"], mounts=["data", "/usr"]),
        nanoclaw=LiveNanoClaw(checkout="claw", groups="groups", node_modules="node_modules"),
    )
    options = RunOptions(run_id="r", root=root, live=LiveOptions(config=config, root=root), **asked)
    plan = Plan(options, Redactor())
    plan.test(test, None)
    return plan.digests


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("asked", "decides"),
    [
        ({"trials": 2}, True),
        ({"early_stop": True}, True),
        ({"live": LiveOptions(every=True)}, True),
        ({"live": LiveOptions(stale="mark")}, True),
        ({"live": LiveOptions(budget=Budget(1))}, True),
        ({"live": LiveOptions(config=LiveConfig(command=LiveCommand(image="x")))}, True),
        ({"live": LiveOptions(keep=True, show_activity=print)}, False),
        ({"run_id": "other"}, False),
    ],
    ids=["trials", "early stop", "live", "stale", "budget", "image", "only telling", "run id"],
)
def test_a_plan_has_all_options_that_decide(asked: dict[str, Any], decides: bool) -> None:
    """Each field of the options counts by itself; folders and names of one run do not."""
    plans = [
        Plan(RunOptions(**{"run_id": "r", "live": LiveOptions(), **each}), Redactor()) for each in ({}, asked)
    ]
    assert (plans[0].digests != plans[1].digests) is decides
