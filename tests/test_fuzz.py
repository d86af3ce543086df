"""The fuzzing driver finds what is wrong, and a short run of every target finds nothing.

`make fuzz` tries very many more inputs, for as long as it is told.
"""

import json
import random
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenteval.assertions import assertion_types
from agenteval.contracts import time_limits
from fuzz import run as driver
from fuzz import worker
from fuzz.material import Tape, data, params_of, trace
from fuzz.targets import Target, project, targets

TARGETS = {target.name: target for target in targets()}
EXAMPLES = {"spec": 100, "bundle": 100, "assertions": 200, "matchers": 60, "command-line": 25}
SEEDED = [name for name, target in TARGETS.items() if target.seeds]


@pytest.fixture(autouse=True)
def own_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets set the time limit of patterns for their process; here it comes back."""
    monkeypatch.setattr(time_limits, "SECONDS", time_limits.SECONDS)


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run_finds_nothing(name: str) -> None:
    """Some dozens of inputs of every target, other ones each time."""
    target = TARGETS[name]

    @settings(
        max_examples=EXAMPLES[name], deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.binary(min_size=60, max_size=600))
    def each(tape: bytes) -> None:
        target.check(target.from_tape(tape))

    each()


@pytest.mark.parametrize("name", SEEDED)
def test_seeds_break_nothing(name: str) -> None:
    """Each as it is, and cut in half: examples, negative controls, and the hostile files kept in `seeds`."""
    seeds = TARGETS[name].seeds
    assert seeds is not None
    assert len(seeds()) > 20
    for seed in seeds():
        TARGETS[name].check(seed)
        TARGETS[name].check(seed[: len(seed) // 2])


def test_an_empty_tape_is_the_plainest_input() -> None:
    """Which is what shrinking leads to."""
    for target in TARGETS.values():
        target.check(target.from_tape(b""))
    assert data(Tape(b"")) == "web_search"
    assert project(Tape(b""))[1] == ["run", "tests"]
    assert [event.type for event in trace(Tape(b"")).events] == ["message_received", "final_output"]


def test_a_tape_chooses_the_same_again() -> None:
    """A finding can be tried again from its file."""
    tape = bytes(range(256))
    assert project(Tape(tape)) == project(Tape(tape))
    assert trace(Tape(tape)) == trace(Tape(tape))


def test_every_type_is_reached() -> None:
    """By the first byte of a tape; and its parameters are often accepted."""
    from agenteval.assertions import assertion_class
    from agenteval.contracts.models import Invalid, parse

    accepted, rng = set(), random.Random(0)
    for kind in assertion_types():
        cls = assertion_class(kind)
        assert cls is not None
        for _ in range(200):
            try:
                parse(cls, params_of(cls, Tape(rng.randbytes(200))))
            except Invalid:
                continue
            accepted.add(kind)
    assert accepted == set(assertion_types())


def breaks_on_nul(content: bytes) -> None:
    """A target with a bug."""
    assert b"\0" not in content, "a NUL byte"
    if b"\xff" in content:
        raise ValueError("the byte 255")


def test_findings_are_kept_once_and_small(tmp_path: Path) -> None:
    """One for each place where something goes wrong, shrunk, with the traceback; the search goes on behind it."""
    with closing(worker.Log(tmp_path)) as log:
        worker.with_hypothesis(Target("broken", breaks_on_nul), 1, log)
    found = {path.read_bytes().strip(b"\0") or b"\0" for path in tmp_path.glob("finding-*.input")}
    assert b"\0" in found
    assert len(found) <= 2
    told = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("finding-*.txt"))
    assert "AssertionError: a NUL byte" in told
    stats = json.loads((tmp_path / "stats.json").read_text(encoding="utf-8"))
    assert stats["inputs"] == log.inputs > 10  # however busy the machine


def test_an_input_that_hangs_ends_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver keeps the input and the stack, and starts another worker for the time that is left."""
    script = tmp_path / "hangs.py"
    script.write_text(
        "import sys, time\n"
        "from pathlib import Path\n"
        "from fuzz import worker\n"
        "worker.HANG_S = 0.2\n"
        "def forever(content):\n"
        "    time.sleep(60)\n"
        "worker.Log(Path(sys.argv[-1])).run(forever, b'the input')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(driver, "WORKER", [str(script)])
    started = time.monotonic()
    tried = driver.fuzz("spec", "hypothesis", 1, tmp_path / "out")
    assert time.monotonic() - started < 30
    assert tried.findings
    assert tried.findings[0].read_bytes() == b"the input"
    assert "in forever" in tried.findings[0].with_suffix(".txt").read_text(encoding="utf-8")


def test_the_time_is_divided() -> None:
    """Among all targets and engines; all of it, and no more."""
    parts = list(driver.plan(600, list(driver.SHARES), driver.ENGINES))
    assert {(name, engine) for name, engine, _ in parts} == {
        (name, engine) for name in TARGETS for engine in ("hypothesis", "atheris")
    }
    assert sum(seconds for *_, seconds in parts) == pytest.approx(600)
