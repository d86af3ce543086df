"""Hosts that tests share: one without keys, one with the keys of two tenants."""

import shutil
from collections.abc import Iterator
from contextlib import suppress

import pytest

from hosts import HostProcess, Postgres, host_project

pytest.importorskip("fastapi", reason="the extra serve is not installed")


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    """A host without keys."""
    started = HostProcess(host_project(tmp_path_factory.mktemp("host"))).start()
    yield started
    started.kill()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    """A host with keys, and what conformance tests need."""
    root = host_project(tmp_path_factory.mktemp("guarded"), keys=True, limits={"max_body_bytes": 20_000})
    started = HostProcess(root, options=("--conformance",)).start()
    yield started
    started.kill()


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A Postgres of its own."""
    programs = Postgres.programs()
    if programs is None:
        pytest.skip("no Postgres is installed")
    made = Postgres(programs)
    yield made
    with suppress(Exception):
        made.stop()
    shutil.rmtree(made.folder, ignore_errors=True)
