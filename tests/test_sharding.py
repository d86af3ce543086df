"""How tests are divided into shards, and what a shard takes down of itself."""

from hypothesis import given
from hypothesis import strategies as st

from agenteval.contracts.results import InvalidSpec
from agenteval.openwop.summary import Suite
from agenteval.running.shards import Shard, ShardLog, ShardNote, ShardTest, divided

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
    log.test("a.json", None, None, ())
    log.position = 4
    log.note([said, said], invalid=True)
    log.test(None, None, None, ())
    log.position = made.total
    log.note([said], invalid=False)
    assert (made.shard, made.of, made.run_id) == (2, 3, "mine")
    assert made.tests == [ShardTest(position=1, result="a.json", metrics=None)]
    assert made.notes == [
        ShardNote(position=-1, invalid=False, problems=[said]),
        ShardNote(position=4, invalid=True, problems=[said, said]),
        ShardNote(position=6, invalid=False, problems=[said]),
    ]
