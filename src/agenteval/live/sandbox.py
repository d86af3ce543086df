"""Where the agent runs: bubblewrap, docker or podman, without a network, with only what it is given.

One description serves all of them. The only way out is the proxy's socket, to which a bridge inside the sandbox leads
the port that agents can speak to.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from agenteval.live.options import live_error
from agenteval.live.scratch import CONTAINER
from agenteval.reading.documents import read_bytes

Runtime = Literal["auto", "bwrap", "docker", "podman"]
SOCKET = "/run/agenteval/proxy.sock"
PORT = 8089
"""Where the agent finds the proxy; in a sandbox that shares the network of this machine it is another."""
_MEMORY_BYTES = 4 * 2**30
_PROCESSES = 512
_PROBE_SECONDS = 20
_GRACE_SECONDS = 2
"""How long an agent may take to end when it is asked to."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
"""What of the system is visible: programs and libraries, no homes and no data."""
_ETC = (
    "alternatives", "ca-certificates", "fonts", "group", "host.conf", "hosts", "java", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "locale.conf", "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki",
    "profile", "protocols", "python3", "services", "ssl", "timezone",
)  # fmt: skip
"""What of /etc is visible: programs need it, and it holds no secrets."""

_BRIDGE = """\
import os, socket, sys, threading
def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try: end.shutdown(socket.SHUT_RDWR)
        except OSError: pass
def lead(client):
    out = socket.socket(socket.AF_UNIX)
    out.connect(sys.argv[1])
    threading.Thread(target=pump, args=(client, out), daemon=True).start()
    pump(out, client)
    client.close(); out.close()
server = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64)
if os.fork():
    os.execvp(sys.argv[3], sys.argv[3:])
while True:
    threading.Thread(target=lead, args=(server.accept()[0],), daemon=True).start()
"""
"""Listens on the port, leads it to the socket, and becomes the agent's command: `bridge SOCKET PORT COMMAND...`."""


@dataclass(kw_only=True)
class Sandbox:
    """What a run sees and may use. Paths inside are absolute; `read_only` and `writable` map paths inside to ours.

    `command` is what runs there. `bridge` are words to which a socket, a port and the command are added: it listens at
    the port, leads it to the socket, and becomes the command; None for one in Python. `image` is for containers. With
    `network`, there is more to be reached than the proxy.
    """

    command: Sequence[str]
    socket: Path
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    folder: str = "/"
    home: str = "/agent"
    bridge: Sequence[str] | None = None
    runtime: str = "bwrap"
    image: str = ""
    network: bool = False
    port: int = PORT

    def mounts(self) -> list[tuple[str, Path, bool]]:
        """Paths inside, each with ours and whether it may be written: a folder before what is mounted in it."""
        found = [(inside, ours, False) for inside, ours in self.read_only.items()]
        found += [(inside, ours, True) for inside, ours in self.writable.items()]
        return [*sorted(found), (SOCKET, self.socket, True)]

    def bridged(self) -> list[str]:
        """The command behind the bridge."""
        python = sys.executable if self.runtime == "bwrap" else "python3"
        return [*(self.bridge or (python, "-c", _BRIDGE)), SOCKET, str(self.port), *self.command]

    def environment(self) -> dict[str, str]:
        """The whole environment of the command."""
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8", **self.env}


def bubblewrap(sandbox: Sandbox) -> list[str]:
    """The command line that runs a sandbox with bubblewrap."""
    line = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "agent"]
    line += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    line += [] if sandbox.network else ["--unshare-net"]
    if os.path.exists("/etc/resolv.conf"):  # noqa: PTH110 - it may be a link to where nothing is visible
        line += ["--ro-bind", os.path.realpath("/etc/resolv.conf"), "/etc/resolv.conf"]
    for path in map(Path, (*_SYSTEM, *(f"/etc/{name}" for name in _ETC))):
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            line += ["--ro-bind", str(path), str(path)]
    line += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", sandbox.home]  # noqa: S108
    if sandbox.bridge is None:  # it runs in this interpreter: its installation, and its virtual environment
        for ours in dict.fromkeys((sys.base_prefix, sys.prefix, sysconfig.get_paths()["stdlib"])):
            line += [] if is_of_system(ours) else ["--ro-bind", ours, ours]
    for inside, outside, writable in sandbox.mounts():
        line += ["--bind" if writable else "--ro-bind", str(outside), inside]
    for name, value in sandbox.environment().items():
        line += ["--setenv", name, value]
    limits = f'ulimit -v {_MEMORY_BYTES * 16 // 1024} -u {_PROCESSES} 2>/dev/null; exec "$@"'
    return [*line, "--chdir", sandbox.folder, "--", "/bin/sh", "-c", limits, "sh", *sandbox.bridged()]


def is_of_system(path: str) -> bool:
    """Whether a path is visible in every sandbox."""
    return f"{path}/".startswith(tuple(f"{each}/" for each in _SYSTEM))


def container(sandbox: Sandbox, name: str) -> list[str]:
    """The command line that runs a sandbox with docker or podman, in a container of that name."""
    line = [sandbox.runtime, "run", "--rm", "--name", name, "--user", f"{os.getuid()}:{os.getgid()}"]
    line += ["--interactive", *(() if sandbox.network else ("--network", "none")), "--cap-drop", "ALL"]
    if sandbox.runtime == "podman" and os.getuid() != 0:
        line += ["--userns", "keep-id"]  # else what is mounted would be somebody else's
    line += ["--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
    line += ["--pids-limit", str(_PROCESSES), "--memory", str(_MEMORY_BYTES), "--workdir", sandbox.folder]
    for inside, ours, writable in sandbox.mounts():
        line += ["--volume", f"{ours}:{inside}{'' if writable else ':ro'}"]
    for variable, value in sandbox.environment().items():
        line += ["--env", f"{variable}={value}"]
    entry, *rest = sandbox.bridged()
    return [*line, "--entrypoint", entry, sandbox.image, *rest]


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@dataclass(slots=True)
class Probe:
    """Whether a runtime works here: found by running it once. `why` says why not, `advice` what to do."""

    runtime: str
    works: bool
    why: str = ""
    advice: str = ""


RUNTIMES = {
    "bwrap": (
        "bubblewrap",
        "--unshare-net --unshare-pid --ro-bind / / --dev /dev --proc /proc true",
        "allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0), or use docker",
    ),
    "docker": ("docker.io", "info --format {{.ID}}", "start its daemon, and let this user use it"),
    "podman": ("podman", "info --format {{.Host.Arch}}", "see podman info"),
}
"""Of each runtime: its package, how it is tried, and what helps where it does not work."""


def probe(runtime: str) -> Probe:
    """Try a runtime."""
    package, words, advice = RUNTIMES[runtime]
    if shutil.which(runtime) is None:
        return Probe(runtime, False, "is not installed", f"install it: apt-get install {package}")
    try:
        done = subprocess.run(  # noqa: S603
            [runtime, *words.split()], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(runtime, False, f"does not run: {error}")
    if done.returncode == 0:
        return Probe(runtime, True)
    said = (done.stderr or done.stdout).strip().splitlines()
    return Probe(runtime, False, f"does not work: {said[-1] if said else done.returncode}", advice)


@cache
def chosen(runtime: Runtime, *, image: str = "") -> str:
    """The runtime to use; `auto` takes the first that works, containers only where there is an image.

    Raises `AdapterError` (`live.no_sandbox`) with what was tried.
    """
    wanted = [runtime] if runtime != "auto" else list(RUNTIMES) if image else ["bwrap"]
    tried = []
    for name in wanted:
        found = probe(name)
        if found.works:
            return name
        tried.append(found)
    raise live_error(
        "live.no_sandbox",
        "there is no sandbox to run the agent in: "
        + "; ".join(f"{each.runtime} {each.why}" for each in tried),
        "; or ".join(filter(None, (each.advice for each in tried))),
    )


@contextmanager
def running(sandbox: Sandbox, stdin: bytes, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A sandbox that was started, in a process group of its own; what it says is in `stdout.txt` and `log.txt` of the folder.

    At the end it is ended, with all that it started: asked first (SIGTERM), and killed if that does not help.
    """
    name, note = f"agenteval-{secrets.token_hex(6)}", folder / CONTAINER
    line = bubblewrap(sandbox) if sandbox.runtime == "bwrap" else container(sandbox, name)
    if sandbox.runtime != "bwrap":
        note.write_text(f"{sandbox.runtime} {name}")
    (folder / "stdin").write_bytes(stdin)
    with (
        (folder / "stdin").open("rb") as given,
        (folder / "stdout.txt").open("wb") as stdout,
        (folder / "log.txt").open("wb") as log,
    ):
        process = subprocess.Popen(  # noqa: S603
            line, stdin=given, stdout=stdout, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        if sandbox.runtime != "bwrap":
            for words in (("stop", "--time", str(_GRACE_SECONDS)), ("rm", "--force")):
                line = [sandbox.runtime, *words, name]
                subprocess.run(line, capture_output=True, timeout=_PROBE_SECONDS, check=False)  # noqa: S603
            note.unlink(missing_ok=True)
        elif process.poll() is None:
            for each in _descendants(process.pid):
                with suppress(OSError):
                    os.kill(each, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
        if process.poll() is None:  # bubblewrap's children die with it: they have no other parent
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _descendants(process: int) -> Iterator[int]:
    """The processes that a process has started, and theirs."""
    with suppress(OSError):
        for child in read_bytes(Path(f"/proc/{process}/task/{process}/children")).split():
            yield int(child)
            yield from _descendants(int(child))
