"""What no kill and no crowd can lose: one host on SQLite, two on one Postgres."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hosts import HostProcess, Postgres, host_project

RUN_TWICE = {"limits": {"runs_at_once": 2}}


def logs(host: HostProcess, paths: list[str]) -> list[list[dict[str, Any]]]:
    """The events of each run."""
    return [host.ask(f"{path}/events/poll").body["events"] for path in paths]


def check_whole(events: list[dict[str, Any]]) -> None:
    """A run that was judged once: every task has one score, and numbers have no gaps."""
    assert [event["sequence"] for event in events] == list(range(len(events)))
    kinds = Counter(event["type"] for event in events)
    assert kinds["eval.scored"] == 5
    assert {kinds[each] for each in ("run.started", "eval.started", "eval.completed", "run.completed")} == {1}
    tasks = [event["payload"]["taskId"] for event in events if event["type"] == "eval.scored"]
    assert len(set(tasks)) == 5


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Ten times, each time with runs that wait and runs that are worked on."""
    host = HostProcess(host_project(tmp_path, **RUN_TWICE)).start()
    chance, paths = random.Random(81), []
    for _ in range(10):
        paths += [host.post() for _ in range(4)]
        time.sleep(chance.random() * 0.4)
        host.kill()
        host.start()
    try:
        assert {host.ended(path)["status"] for path in paths} == {"completed"}
        for events in logs(host, paths):
            check_whole(events)
        assert host.stop() == 0
    finally:
        host.kill()


def test_two_hundred_at_once(tmp_path: Path) -> None:
    """All are answered, and end in the order in which they came."""
    host = HostProcess(host_project(tmp_path, limits={"runs_at_once": 1})).start()
    try:
        with ThreadPoolExecutor(20) as pool:
            paths = list(pool.map(lambda _: host.post(), range(200)))
        assert len(set(paths)) == 200
        assert {host.ended(path)["status"] for path in paths} == {"completed"}
        runs = host.ask("/runs?limit=200").body["runs"]
        ends = [run["completedAt"] for run in runs]
        assert ends == sorted(ends, reverse=True)
    finally:
        host.kill()


def test_two_hosts_on_one_postgres(tmp_path: Path, postgres: Postgres) -> None:
    """They share the queue: each of 200 runs is judged once, and both hosts tell the same."""
    hosts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        hosts.append(HostProcess(host_project(tmp_path / name), store=postgres.url))
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(HostProcess.start, hosts))
        with ThreadPoolExecutor(16) as pool:
            paths = list(pool.map(lambda number: hosts[number % 2].post(), range(200)))
        hosts[0].kill()
        hosts[0].start()
        assert {hosts[1].ended(path)["status"] for path in paths} == {"completed"}
        told = logs(hosts[0], paths)
        for events in told:
            check_whole(events)
        assert told == logs(hosts[1], paths)
    finally:
        for host in hosts:
            host.kill()
