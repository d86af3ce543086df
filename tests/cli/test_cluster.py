"""`--cluster`: a Dask cluster gives the same run as one process does, whatever becomes of its workers."""

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.cli import main
from agenteval.contracts.errors import UsageError
from agenteval.running import cluster as clusters
from live_projects import LiveProject, needs_sandbox
from plugin_projects import SHOUTS
from projects import Project, make_replay
from runs import EXAMPLES, settled, written

KINDS = ("pass", "fail", "warn", "skip", "error", "invalid")
SHOUT = [{"id": "shouts", "type": "shouts", "params": {}}]
WORKERS = 2


SERVE = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None, memory_limit=0, silence_logs=50
    )
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""
"""A cluster in processes of its own, with as many workers as its argument says, until it is killed."""


class Apart:
    """A cluster of two workers on this machine; `folder` is where its processes make temporary folders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*clusters._PYTHON, SERVE, str(WORKERS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
            start_new_session=True,
        )
        assert self.process.stdout
        self.address = self.process.stdout.readline().strip()

    def copies(self) -> list[Path]:
        """The copies of projects that workers have."""
        return list(self.folder.glob("agenteval-cluster-*"))

    def end(self) -> None:
        """Kill all its processes: closing waits for workers that a test has killed."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    made = Apart(tmp_path_factory.mktemp("cluster"))
    yield made
    made.end()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project in the current directory."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return Project(root)


def fill(project: Project, number: int = 12) -> None:
    """Tests of every kind, and two with the same id."""
    for at in range(number):
        project.add(KINDS[at % len(KINDS)], f"{at:03}")
    project.add("pass", "twin", id="nanoclaw.t.000.x")


def run(capfd: pytest.CaptureFixture[str], run_id: str, *options: str) -> tuple[int, str]:
    """The exit code and what is said, without what differs from run to run; nothing is said on stderr."""
    code = main(["run", "tests", "--run-id", run_id, *options])
    out, err = capfd.readouterr()
    assert err == ""
    return code, settled(out, run_id)


def refused(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    """What is said of a command that ends with 2 before anything runs."""
    assert main(list(argv)) == 2
    assert not list(Path("artifacts").glob("*"))
    return capfd.readouterr().err


def gone(folder: Apart) -> bool:
    """Whether the copies are gone, now or in a moment."""
    until = time.monotonic() + 10
    while folder.copies() and time.monotonic() < until:
        time.sleep(0.05)
    return not folder.copies()


@pytest.mark.parametrize(
    "options",
    [["-v", "--save-traces"], ["-q", "--strict", "-k", "not 003"], ["-x", "--shard", "1/2"]],
    ids=" ".join,
)
def test_the_same_run(
    options: list[str], project: Project, apart: Apart, capfd: pytest.CaptureFixture[str]
) -> None:
    """Lines, files, their bytes and the exit code are those of a run in one process; nothing stays on the workers."""
    fill(project)
    alone = run(capfd, "run-a", "-n", "1", *options)
    assert run(capfd, "run-b", "--cluster", apart.address, *options) == alone
    runs = {path.name[:5]: path.name for path in Path("artifacts").iterdir()}
    one, other = (written(runs[name]) for name in ("run-a", "run-b"))
    for files in (one, other):
        files.pop("shard.json", None)  # has the digests of files, which tell times
    assert other == one
    assert gone(apart)


def test_local_and_shared(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """Workers on this machine, which read the project where it is, from a folder in it."""
    fill(project, 6)
    os.chdir("tests")
    alone = main(["run", ".", "--run-id", "run-a", "-n", "1"]), settled(capfd.readouterr().out, "run-a")
    options = ["--cluster", "local:2", "--shared-root", str(project.root)]
    shared = main(["run", ".", "--run-id", "run-b", *options]), settled(capfd.readouterr().out, "run-b")
    assert shared == alone


def test_examples(
    apart: Apart, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants of the examples, byte for byte, and which of them were noticed."""
    monkeypatch.chdir(EXAMPLES.parent)
    told = []
    for options in (["-n", "1"], ["--cluster", apart.address]):
        code = main(["mutate", "examples", "--json", "--max", "5", *options])
        told.append((code, capfd.readouterr().out))
    assert told[0] == told[1]
    assert json.loads(told[0][1])["tests"]


ENDS = SHOUTS.replace(
    "        text = trace.output\n",
    "        import os, pathlib, signal\n"
    "        mark = pathlib.Path({mark!r})\n"
    "        if trace.output == 'KILL' and not mark.exists():\n"
    "            mark.touch()\n"
    "            os.kill(os.{whom}(), signal.SIGKILL)\n"
    "        text = trace.output\n",
)


def with_killer(project: Project, mark: Path, whom: str) -> None:
    """Ten tests, of which the sixth kills its process, or the worker above it, as long as there is no mark."""
    (project.root / "plugin.py").write_text(
        ENDS.replace("{mark!r}", repr(str(mark))).replace("{whom}", whom), encoding="utf-8"
    )
    (project.root / "agenteval.yaml").write_text("color: never\nplugins: [plugin.py]\n", encoding="utf-8")
    for at in range(10):
        said = "KILL" if at == 5 else "Cats."
        replay = make_replay(final_output={"role": "assistant", "content": said})
        project.add("pass", f"{at:03}", replay=replay, assertions=SHOUT)


def test_a_worker_dies(project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The tests of a worker that is killed in the middle are run again: the run is the same, and every test is in it."""
    mark = tmp_path / "mark"
    with_killer(project, mark, "getppid")
    mark.touch()
    alone = run(capfd, "run-a", "-n", "1")
    mark.unlink()
    own = Apart(tmp_path)
    try:
        assert run(capfd, "run-b", "--cluster", own.address) == alone
    finally:
        own.end()
    assert mark.exists()
    assert written("run-b") == written("run-a")


def test_a_process_dies(
    project: Project, tmp_path: Path, apart: Apart, capfd: pytest.CaptureFixture[str]
) -> None:
    """A test that ends its process is an error, as with -n; the others are judged."""
    with_killer(project, tmp_path / "never" / "there", "getpid")
    text = (project.root / "plugin.py").read_text(encoding="utf-8")
    (project.root / "plugin.py").write_text(text.replace("            mark.touch()\n", ""), encoding="utf-8")
    code, out = run(capfd, "run-a", "--cluster", apart.address)
    assert code == 2
    assert "the worker process that ran this test was killed by SIGKILL" in out
    assert len(list(Path("artifacts/run-a").glob("*.result.json"))) == 10


def test_a_scheduler_dies(project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The run ends with one error, and what is finished is kept."""
    with_killer(project, tmp_path / "mark", "getpid")
    own = Apart(tmp_path)
    text = (project.root / "plugin.py").read_text(encoding="utf-8")
    whole = f"os.kill({own.process.pid}, signal.SIGKILL); __import__('time').sleep(60)"
    (project.root / "plugin.py").write_text(
        text.replace("os.kill(os.getpid(), signal.SIGKILL)", whole), encoding="utf-8"
    )
    try:
        assert main(["run", "tests", "--run-id", "run-a", "--cluster", own.address]) == 2
    finally:
        own.end()
    out, err = capfd.readouterr()
    assert err.startswith(f"error[cluster.lost]: the scheduler at {own.address} is gone: ")
    assert "stopped: " in out
    assert len(list(Path("artifacts/run-a").glob("*.result.json"))) >= 1


def test_interrupted(project: Project, tmp_path: Path, apart: Apart) -> None:
    """Ctrl-C cancels what is queued and ends what is running, on the workers too; what is finished is told."""
    begun = tmp_path / "begun"
    plugin = ENDS.replace("os.kill(os.{whom}(), signal.SIGKILL)", "__import__('time').sleep(600)")
    (project.root / "plugin.py").write_text(plugin.replace("{mark!r}", repr(str(begun))), encoding="utf-8")
    (project.root / "agenteval.yaml").write_text("plugins: [plugin.py]\n", encoding="utf-8")
    for at in range(6):
        replay = make_replay(final_output={"role": "assistant", "content": "KILL" if at == 3 else "Cats."})
        project.add("pass", f"{at:03}", replay=replay, assertions=SHOUT)
    command = [sys.executable, "-m", "agenteval", "run", "tests", "--cluster", apart.address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (2, "")
    assert "interrupted: " in out
    assert gone(apart)


def test_refused(
    project: Project, apart: Apart, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clear error before anything runs."""
    project.add("pass")
    on = ["run", "tests", "--cluster", apart.address]
    assert "-n does not go with --cluster" in refused(capfd, *on, "-n", "2")
    assert "--watch does not go with --cluster" in refused(capfd, *on, "--watch")
    assert "--keep does not go with --cluster" in refused(capfd, *on, "--live", "--keep")
    assert "--allow-outside without --shared-root" in refused(capfd, *on, "--allow-outside")
    assert "--live record without --shared-root" in refused(capfd, *on, "--live", "record")
    for option in ("--shared-root", "--cluster-wait"):
        assert f"{option} is for --cluster, which is not given" in refused(capfd, "run", "tests", option, "3")
    for wrong in ("-1", "nan", "inf", "soon"):
        assert "--cluster-wait" in refused(capfd, *on, "--cluster-wait", wrong)
    assert "expected local:N" in refused(capfd, "run", "tests", "--cluster", "local:none")
    (project.root.parent / "beside").mkdir()
    with monkeypatch.context() as patch:
        patch.chdir(project.root.parent / "beside")
        elsewhere = ["run", "../project/tests/pass", "--cluster", apart.address, "--shared-root", "x"]
        assert "the current directory is outside of it" in refused(capfd, *elsewhere)
    absolute = str(project.root / "tests")
    assert "named by paths that lead from" in refused(capfd, "run", absolute, "--cluster", apart.address)
    monkeypatch.setattr(clusters, "MOST_BYTES", 10)
    assert "--shared-root DIR" in refused(capfd, *on)


def test_unreachable(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler that does not answer is told within ten seconds, in two lines."""
    project.add("pass")
    assert clusters.CONNECT_SECONDS < 10
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        clock = time.monotonic()
        said = refused(capfd, "run", "tests", "--cluster", address)
        assert time.monotonic() - clock < 10
        assert f"error[cluster.unreachable]: --cluster {address}: no scheduler answers there" in said
        assert len(said.splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "version", "entry_points", "told"),
    [
        (
            "extra",
            "1.0",
            "[agenteval.adapters]\nextra = extra:Extra\n",
            "the adapter extra is extra 1.0 here and missing there",
        ),
        ("agenteval", "9.0", "", "agenteval is 9.0 here and 0.1.0 there"),
    ],
)
def test_what_differs_on_a_worker(
    name: str,
    version: str,
    entry_points: str,
    told: str,
    project: Project,
    tmp_path: Path,
    apart: Apart,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An adapter that only this side has; another agenteval, which judges otherwise."""
    project.add("pass")
    there = tmp_path / "site" / f"{name}-{version}.dist-info"
    there.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (there / "METADATA").write_text(about, encoding="utf-8")
    (there / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    monkeypatch.syspath_prepend(str(there.parent))
    said = refused(capfd, "run", "tests", "--cluster", apart.address)
    assert said.startswith("error[cluster.differs]: worker tcp://")
    assert told in said


@needs_sandbox
def test_a_worker_without_a_sandbox(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent runs there; replays do."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    LiveProject(root, monkeypatch).recorded()
    shutil.rmtree(root / "artifacts")
    Project(root).add("pass")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        bare = Apart(tmp_path)
    try:
        said = refused(capfd, "run", "evals", "--live", "--cluster", bare.address)
        assert main(["run", "tests", "-q", "--cluster", bare.address]) == 0
    finally:
        bare.end()
    assert said.startswith("error[cluster.differs]: worker tcp://")
    assert "next: install one on each worker, or run without --live" in said


@needs_sandbox
def test_a_worker_dies_in_a_live_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent runs once more elsewhere, and the result says so."""
    root, mark = tmp_path / "project", tmp_path / "mark"
    root.mkdir()
    monkeypatch.chdir(root)
    made = LiveProject(root, monkeypatch)
    made.recorded()
    plugin = ENDS.replace("{mark!r}", repr(str(mark))).replace("{whom}", "getppid")
    made.write("plugin.py", plugin.replace("'KILL'", "'It ships tomorrow.'"))
    settings = (root / "agenteval.yaml").read_text(encoding="utf-8")
    made.write("agenteval.yaml", f"plugins: [plugin.py]\n{settings}")
    made.test(assertions=SHOUT)
    made.track()
    own = Apart(tmp_path)
    try:
        main(["run", "evals", "--run-id", "run-b", "--cluster", own.address])
    finally:
        own.end()
    assert capfd.readouterr().err == ""
    assert mark.exists()
    result = json.loads(Path("artifacts/run-b/command.order.lookup.once.result.json").read_text())
    assert result["live"]["provenance"]["attempt"].startswith("2 (a worker of the cluster was lost")


@needs_sandbox
def test_live(
    tmp_path: Path, apart: Apart, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent runs again on a worker, as here; one that is lost with its worker once more, which the result says, and no third time."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    made = LiveProject(root, monkeypatch)
    made.recorded()
    made.track()
    lost = 0
    each = clusters.Cluster.each

    def losing(*given: Any) -> clusters.ClusterRun:
        spread = each(*given)
        for share in spread._waiting:
            share.asked[:] = [(item, blame, lost) for item, blame, _ in share.asked]
        return spread

    monkeypatch.setattr(clusters.Cluster, "each", losing)
    name = "command.order.lookup.once.result.json"
    assert main(["run", "evals", "--run-id", "run-a", "-n", "1"]) == 0
    for lost, expected in ((0, 0), (1, 0), (2, 2)):
        run_id = f"lost-{lost}"
        assert main(["run", "evals", "--run-id", run_id, "--cluster", apart.address]) == expected
        assert capfd.readouterr().err == ""
        result = json.loads(Path("artifacts", run_id, name).read_text())
        if lost == 0:
            assert written(run_id)[name] == written("run-a")[name]
        elif lost == 1:
            assert result["live"]["provenance"]["attempt"].startswith("2 (a worker of the cluster was lost")
        else:
            assert result["reason_code"] == "worker.died"


def test_files_of_secrets_stay_here(tmp_path: Path) -> None:
    """`.env` and its like do not travel; what only looks like it does."""
    for name in (".env", ".env.local", ".envrc", "sub/.env", "sub/.env.d/prod", "environment.yaml", "a.env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("KEY=1", encoding="utf-8")
    packed = clusters._packed(tmp_path, tmp_path / "artifacts", with_git=False)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert sorted(archive.getnames()) == ["a.env", "environment.yaml", "sub"]


def test_a_result_that_died_with_its_worker_is_made_again(
    project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when it was asked for: nothing waits for it for ever, and no test is lost."""
    import distributed

    for at in range(6):
        project.add("pass", f"{at}")
    alone = run(capfd, "run-a", "-n", "1")
    killed: list[str] = []
    wait: Any = distributed.wait

    def killing(futures: list[Any], **rest: Any) -> None:
        wait(futures, **rest)
        client = futures[0].client
        done = [each for each in futures if each.status == "finished"]
        for holders in client.who_has(done).values() if done and not killed else ():
            killed.append(holders[0])
            os.kill(client.run(os.getpid, workers=killed[:1])[killed[0]], signal.SIGKILL)
            return

    monkeypatch.setattr(distributed, "wait", killing)
    own = Apart(tmp_path)
    try:
        assert run(capfd, "run-b", "--cluster", own.address) == alone
    finally:
        own.end()
    assert killed
    assert written("run-b") == written("run-a")


TWICE = """
import gc, sys
import distributed
from agenteval.cli import main

start = distributed.utils.LoopRunner._start_unlocked

def collecting(runner):
    gc.collect()
    return start(runner)

assert main(["run", "tests", "--cluster", "nonsense://x"]) == 2
distributed.utils.LoopRunner._start_unlocked = collecting
assert main(["run", "tests", "--cluster", sys.argv[1]]) == 0
"""


def test_a_connection_that_failed_does_not_stop_the_next(project: Project, apart: Apart) -> None:
    """Whatever is collected while it is made."""
    project.add("pass")
    command = [sys.executable, "-c", TWICE, apart.address]
    subprocess.run(command, cwd=project.root, timeout=60, check=True, capture_output=True)


def test_files_that_git_ignores_stay_here(
    project: Project, apart: Apart, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and data do not travel; what a test, the configuration or `cluster_files` names does, and the run is the same."""
    for name in (
        "keys.json",
        "build/big.bin",
        "data/one.csv",
        "sub/.gitignore",
        "sub/hidden",
        "sub/seen",
        "new.txt",
    ):
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text("hidden" if name.endswith(".gitignore") else "1", encoding="utf-8")
    (project.root / ".gitignore").write_text("keys.json\nbuild/\ndata/\n*.local.json\nplugin.py\n*.own/\n")
    (project.root / "plugin.py").write_text(SHOUTS, encoding="utf-8")
    (project.root / "agenteval.yaml").write_text(
        "color: never\nplugins: [plugin.py]\ncluster_files: ['data/*.csv']\n", encoding="utf-8"
    )
    project.add(
        "pass",
        "000",
        assertions=SHOUT,
        replay=make_replay(final_output={"role": "assistant", "content": "A"}),
    )
    folder = next((project.root / "tests").rglob("test.yaml")).parent
    (folder / "replay.json").rename(folder / "replay.local.json")
    test = (folder / "test.yaml").read_text(encoding="utf-8")
    (folder / "test.yaml").write_text(test.replace("replay.json", "replay.local.json"), encoding="utf-8")
    subprocess.run(["git", "init", "-q", project.root], check=True)
    subprocess.run(["git", "init", "-q", project.root / "sub"], check=True)
    sent: list[bytes] = []
    pack = clusters._packed

    def packed(*given: Any, **rest: Any) -> bytes:
        sent.append(pack(*given, **rest))
        return sent[-1]

    monkeypatch.setattr(clusters, "_packed", packed)
    alone = run(capfd, "run-a", "-n", "1")
    assert run(capfd, "run-b", "--cluster", apart.address) == alone
    assert alone[0] == 0
    with tarfile.open(fileobj=io.BytesIO(sent[0])) as archive:
        names = {name for name in archive.getnames() if archive.getmember(name).isfile()}
    assert {"new.txt", "data/one.csv", "plugin.py", "agenteval.yaml", "sub/seen"} < names
    assert any(name.endswith("replay.local.json") for name in names)
    assert not {"keys.json", "build/big.bin", "sub/hidden"} & names
    (project.root / "agenteval.yaml").write_text("cluster_files: ['none/*']\n", encoding="utf-8")
    assert main(["run", "tests", "--cluster", apart.address]) == 2
    assert "cluster_files: none/* fits no file of" in capfd.readouterr().err


def test_files_stay_here_where_git_does_not_list_them(tmp_path: Path) -> None:
    """A checkout that git cannot read may ignore anything; a mark that is no repository ignores nothing."""
    (tmp_path / ".git").mkdir()
    assert clusters.ignored_by_git(tmp_path) == frozenset()
    (tmp_path / ".git" / "HEAD").write_text("nonsense", encoding="utf-8")
    with pytest.raises(UsageError, match="git does not list which files"):
        clusters.ignored_by_git(tmp_path)


def test_a_cluster_of_this_machine_listens_nowhere(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a port, any user of the machine could run code in it."""
    project.add("pass")
    listening: list[int] = []
    listen = socket.socket.listen

    def listens(self: socket.socket, *backlog: int) -> None:
        listening.append(self.family)
        listen(self, *backlog)

    monkeypatch.setattr(socket.socket, "listen", listens)
    assert main(["run", "tests", "--cluster", "local:2"]) == 0
    capfd.readouterr()
    assert [each for each in listening if each != socket.AF_UNIX] == []


GROWING = SERVE.replace("int(sys.argv[1])", "0").replace(
    "    print(", '    cluster.adapt(minimum=0, maximum=1, interval="200ms")\n    print('
)


def test_a_cluster_that_grows_with_its_work(
    project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no worker until something is queued."""
    fill(project, 6)
    monkeypatch.setattr(sys.modules[__name__], "SERVE", GROWING)
    own = Apart(tmp_path)
    try:
        alone = run(capfd, "run-a", "-n", "1")
        assert run(capfd, "run-b", "--cluster", own.address) == alone
    finally:
        own.end()


def test_a_cluster_without_workers_is_waited_for(
    project: Project, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as the option says, or else the configuration; with 0 it is looked at once."""
    project.add("pass")
    monkeypatch.setattr(sys.modules[__name__], "SERVE", SERVE.replace("int(sys.argv[1])", "0"))
    (project.root / "agenteval.yaml").write_text("cluster_wait: 1.5\n", encoding="utf-8")
    own = Apart(tmp_path)
    try:
        for options, seconds in ((["--cluster-wait", "0"], "0"), ([], "1.5")):
            clock = time.monotonic()
            text = refused(capfd, "run", "tests", "--cluster", own.address, *options)
            assert time.monotonic() - clock < 15
            assert f"error[cluster.no_workers]: the scheduler has had no worker for {seconds} s" in text
            assert "--cluster-wait SECONDS waits longer" in text
    finally:
        own.end()
