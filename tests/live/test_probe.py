"""What an agent can see, reach, change and use up from inside its sandbox: nothing but what it was given."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenteval.live import limits, sandbox
from live_projects import LiveProject, needs_sandbox

HERE = Path(__file__).parent
SRC = HERE.parents[1]
CANARY = "bluebird-in-the-mine-4417"
IMAGE = os.environ.get("CONTAINER_IMAGE", "")
USERS = ["this user", "an ordinary user"]
NOBODY = 65534


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveProject]:
    """A project that any user can reach, and write its results in; everything is gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="probe-"))
    home.chmod(0o755)
    root = home / "project"
    root.mkdir()
    (home / "t").mkdir()
    (home / "t").chmod(0o777)
    monkeypatch.chdir(root)
    made = LiveProject(root, monkeypatch)
    made.write("evals/order/turns.yaml", "[Done.]")
    yield made
    shutil.rmtree(home)


def prepared(project: LiveProject, agent: str, **live: Any) -> None:
    """The project's agent is a program of its own, with a model that answers once."""
    project.write("agent.py", agent)
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    project.run = (python, "agent.py")
    project.words = ()
    project.configure()
    passes = [{"id": "answers", "type": "output_contains", "params": {"any_of": ["through", "Done"]}}]
    project.test(
        live={"script": "turns.yaml", "timeout_s": 60, **live}, assertions=passes, tools={"available": []}
    )
    project.track()


RUNNER = """\
import sys
from agenteval.live import limits
from agenteval.cli import main
for name, value in {bounds!r}.items():
    setattr(limits, name, value)
sys.exit(main(["run", "evals", "--artifacts-dir", "artifacts", "--run-id", "r"]))
"""


def run(project: LiveProject, user: str, **bounds: int) -> tuple[int, str, dict[str, Any]]:
    """Run the project's test as a user: the exit code, what was printed, and what the agent said, if it said it in JSON.

    Skips where this user cannot become another.
    """
    python, become, paths = (
        sys.executable,
        [],
        [str(SRC / "src"), str(SRC / "adapters/nanoclaw"), str(SRC / "adapters/otel")],
    )
    if user != USERS[0]:
        if os.getuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("only root becomes another user, with setpriv")
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        python = "/usr/bin/python3"
        paths += [path for path in sys.path if path.endswith("site-packages")]
        version = "import sys, yaml; assert sys.version_info[:2] == " + repr(sys.version_info[:2])
        works = [
            *become,
            "env",
            f"PYTHONPATH={':'.join(paths)}",
            python,
            "-c",
            version + "; import agenteval",
        ]
        if subprocess.run(works, capture_output=True, check=False).returncode:
            pytest.skip(
                f"{python} is no interpreter for the modules of this one, or another user cannot read them"
            )
        for path in (project.root, *project.root.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    program = project.root.parent / "run.py"
    program.write_text(RUNNER.format(bounds=bounds))
    environment = {
        **os.environ,
        "HOME": str(project.root),
        "TMPDIR": str(project.root.parent / "t"),
        "PYTHONPATH": ":".join(paths),
        "PROBE": CANARY,
        "http_proxy": f"http://user:{CANARY}@127.0.0.1:9",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
    }  # fmt: skip
    done = subprocess.run(
        [*become, python, str(program)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said: dict[str, Any] = {}
    for file in (project.root / "artifacts/r").glob("*.replay.json"):
        with contextlib.suppress(ValueError):
            said = json.loads(json.loads(file.read_text())["final_output"]["content"])
    return done.returncode, done.stdout + done.stderr, said


@contextlib.contextmanager
def outside(project: LiveProject) -> Iterator[dict[str, Any]]:
    """What lies outside of the sandbox, each holding the canary: files, sockets, a server, a process."""
    home = project.root.parent
    (home / ".ssh").mkdir()
    for name in ("secret", ".ssh/id_rsa", "project/.env"):
        (home / name).write_text(CANARY)
    project.write(".gitignore", ".env")
    (project.root / "link-to-secret").symlink_to(home / "secret")
    (project.root / "link-to-home").symlink_to(home)
    placed = [
        Path(folder, f"agenteval-probe-{os.getpid()}") for folder in ("/tmp", "/dev/shm", "/usr/local/share")
    ]
    for path in placed:
        with contextlib.suppress(OSError):
            path.write_text(CANARY)
            path.chmod(0o644 if path.parent.name != "share" else 0o600)
    sleeper = subprocess.Popen(["sleep", "300"])
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
        for name in (f"\0agenteval-probe-{os.getpid()}", str(home / "agent.sock")):
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(name)
            listening.listen()
        (home / "agent.sock").chmod(0o666)
        try:
            yield {
                "canary": CANARY,
                "home": str(home),
                "project": str(project.root),
                "of_root": str(placed[2]),
                "temporary": str(placed[0]),
                "shared": str(placed[1]),
                "outside": sleeper.pid,
                "port": server.getsockname()[1],
                "address": own_address(),
                "proxy": sandbox.PORT,
                "abstract": f"agenteval-probe-{os.getpid()}",
                "marker": f"agenteval-probe-stays-{os.getpid()}",
            }
        finally:
            sleeper.kill()
            sleeper.wait()
            for path in placed:
                path.unlink(missing_ok=True)


def own_address() -> str:
    """An address of this machine on a network; the loopback's where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, contextlib.suppress(OSError):
        one.connect(("192.0.2.1", 9))
        return str(one.getsockname()[0])
    return "127.0.0.1"


def settings() -> list[str]:
    """Settings of the kernel that an agent would change on its way out."""
    names = ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "fs/suid_dumpable")
    return [path.read_text() for name in names if (path := Path("/proc/sys", name)).exists()]


def commands() -> str:
    """The command lines of all processes, with their numbers."""
    return subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout


OF_A_RUNTIME = (
    *("read: /sys/", "read: /var/", "read: /boot", "read: /run/", "read: /etc/ssl/private", "network: names"),
    *(
        "process: ptrace",
        "process: process_vm",
        "process: session keyring",
        "process: user keyring",
        "mount: new ",
    ),
    *(
        "namespace: new user",
        "namespace: join user",
        "namespace: clone",
        "network: host of a virtual machine",
    ),
    *("rights: higher limits", "rights: core dumps", "kernel: any setting"),
)
"""What is a runtime's own to decide: it shows counters of the machine, and has a list of the calls that it refuses.

Of the kernel's settings, those of `/proc/pressure` alone, which wait for a pressure and change nothing."""


@needs_sandbox
@pytest.mark.parametrize("user", USERS)
def test_nothing_gets_through(project: LiveProject, user: str) -> None:
    """Neither as root nor as an ordinary user, and nothing is left behind."""
    with outside(project) as given:
        project.write("probe.json", json.dumps(given))
        prepared(project, (HERE / "probe.py").read_text())
        before = settings()
        code, printed, said = run(project, user)
        assert (code, said.get("through")) == (0, []), printed
        assert said["attempts"] > 150
        assert settings() == before
        assert not (project.root.parent / "left").exists()
        assert given["marker"] not in commands()
        assert CANARY not in printed


@pytest.mark.skipif(not IMAGE, reason="CONTAINER_IMAGE names no local image that has python3")
@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_nothing_gets_out_of_a_container(project: LiveProject, runtime: str) -> None:
    """What an image has of its own may be read."""
    if not (found := sandbox.probe(runtime)).works:
        pytest.skip(f"{runtime} {found.why}")
    with outside(project) as given:
        project.write("probe.json", json.dumps(given))
        prepared(project, (HERE / "probe.py").read_text())
        project.configure(runtime=runtime, command={"run": ["python3", "agent.py"], "image": IMAGE})
        project.track()
        code, printed, said = run(project, USERS[0])
        through = [
            each for each in said.get("through", ["nothing said"]) if not each.startswith(OF_A_RUNTIME)
        ]
        assert (code, through) == (0, []), printed
        assert given["marker"] not in commands()


ASKS = """\
import json, mmap, os, signal, subprocess, sys, threading, time, urllib.request
body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]}
urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())).read()
MB = 2**20
"""
USING_UP = {
    "processes": "while True:\n    try:\n        if not os.fork(): time.sleep(60)\n    except OSError: time.sleep(60)",
    "processes that multiply": "while True:\n    try: os.fork()\n    except OSError: time.sleep(1)",
    "a chain of processes": "while True:\n    if os.fork(): time.sleep(60)",
    "threads": "while True:\n    try: threading.Thread(target=time.sleep, args=(60,)).start()\n    except RuntimeError: time.sleep(60)",
    "children of a thread": "def many():\n    while True:\n        subprocess.Popen(['sleep', '60'])\nthreading.Thread(target=many).start()",
    "memory": "kept = []\nwhile True: kept.append(b'x' * 8 * MB)",
    "memory of many processes": "for _ in range(20):\n    if not os.fork():\n        kept = b'x' * 16 * MB\n        time.sleep(60)\ntime.sleep(60)",
    "memory in files": "file = os.memfd_create('x')\nwhile True: os.write(file, b'x' * MB)",
    "memory that is shared": "part = mmap.mmap(-1, 2048 * MB)\nwhile True: part.write(b'x' * MB)",
    "one file": "file = open('big', 'wb')\nwhile True: file.write(os.urandom(MB)); file.flush()",
    "a file in /tmp": "file = open('/tmp/big', 'wb')\nwhile True: file.write(os.urandom(MB)); file.flush()",
    "a file in /dev/shm": "file = open('/dev/shm/big', 'wb')\nwhile True: file.write(os.urandom(MB)); file.flush()",
    "a file without a name": "file = open('big', 'wb'); os.unlink('big')\nwhile True: file.write(os.urandom(MB)); file.flush()",
    "its output": "while True: sys.stdout.buffer.write(b'x' * MB)",
    "its log": "while True: sys.stderr.buffer.write(b'x' * MB)",
    "many files": "n = 0\nwhile True:\n    n += 1\n    open(f'{n}', 'w').close()",
    "a file in a closed folder": "os.mkdir('in'); file = open('in/big', 'wb'); os.chmod('in', 0)\nwhile True: file.write(os.urandom(MB)); file.flush()",
    "a file in a deep folder": "for _ in range(20):\n    os.mkdir('d' * 250); os.chdir('d' * 250)\nfile = open('big', 'wb')\nwhile True: file.write(os.urandom(MB)); file.flush()",
}  # fmt: skip
"""Programs that never end by themselves, each using up something else."""
AS_ANOTHER = ("processes that multiply", "memory", "a file without a name", "a file in a closed folder")
"""What other rights could make a difference to."""
BOUNDS = {
    "PROCESSES": 100,
    "MEMORY_BYTES": 2**27,
    "DISK_BYTES": 2**26,
    "FILES": 5000,
    "_STEP_BYTES": 2**23,
    "_STEP_FILES": 500,
}
"""Lower bounds than those of a real run, so that the tests are quick."""


@needs_sandbox
@pytest.mark.parametrize(
    ("what", "user"), [*((what, USERS[0]) for what in USING_UP), *((what, USERS[1]) for what in AS_ANOTHER)]
)
def test_an_agent_that_uses_up_too_much_is_ended(project: LiveProject, what: str, user: str) -> None:
    """The run is an error that names the bound, and neither a process nor a file stays."""
    prepared(project, ASKS + USING_UP[what] + f"\n# {project.root.name}")
    code, printed, _ = run(project, user, **BOUNDS)
    assert code == 2
    assert "error[live.over_limits]: the agent " in printed, printed
    assert "are allowed" in printed
    assert f"{project.root.parent.name}" not in commands()
    assert list((project.root.parent / "t").iterdir()) == []


def test_bounds_of_a_real_run() -> None:
    """As the documentation has them."""
    assert (limits.PROCESSES, limits.MEMORY_BYTES, limits.DISK_BYTES) == (512, 4 * 2**30, 2 * 2**30)
