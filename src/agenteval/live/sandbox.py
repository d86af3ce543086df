"""The sandbox of an agent: bubblewrap, docker or podman, without a network, with only the given files.

One description serves all of them. The only way out is the proxy's socket, to which a bridge inside the sandbox leads
the port that agents can speak to.
"""

import os
import re
import secrets
import select
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
from typing import Any, Literal

from agenteval.live.limits import FILE_BYTES, MEMORY_BYTES, PROCESSES, Watch, processes
from agenteval.live.options import live_error
from agenteval.live.scratch import CONTAINER
from agenteval.live.syscalls import refused_calls
from agenteval.reading.documents import read_bytes

Runtime = Literal["auto", "bwrap", "docker", "podman"]
SOCKET = "/run/agenteval/proxy.sock"
PORT = 8089
"""The port of the proxy in the sandbox; a sandbox that shares the network of this machine gets another one."""
_PROBE_SECONDS = 20
_GRACE_SECONDS = 2
"""The seconds that an agent may take to end when it is asked to."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
"""The visible folders of the system: programs and libraries, no homes and no data."""
_ETC = (
    "alternatives", "ca-certificates", "fonts", "group", "host.conf", "hosts", "java", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "locale.conf", "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd",
    "pki/ca-trust", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "profile", "protocols", "python3",
    "services", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
"""The visible files of /etc: programs need them, and they hold no secrets."""
_HIDDEN = [
    f"/proc/{name}"
    for name in ("kcore", "key-users", "keys", "kmsg", "latency_stats", "sched_debug", "timer_list")
]
"""The files of the kernel that name keys of the user, or show the work of other users: they are hidden."""
_PATH = "/usr/local/bin:/usr/bin:/bin"
_PROXIES = [
    each
    for name in ("HTTP", "HTTPS", "FTP", "ALL", "NO")
    for each in (f"{name}_PROXY", f"{name.lower()}_proxy")
]
"""The variables that docker puts into every container if its own settings name proxies, passwords included."""

_BRIDGE = """\
import os, signal, socket, sys, threading
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
def serve():
    while True:
        threading.Thread(target=lead, args=(server.accept()[0],), daemon=True).start()
server = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64)
agent = os.fork()
if not agent:
    os.execvp(sys.argv[3], sys.argv[3:])
def end(*_):
    if os.getpid() == 1: os.kill(agent, signal.SIGTERM)
signal.signal(signal.SIGTERM, end)
threading.Thread(target=serve, daemon=True).start()
while True:
    ended, status = os.wait()
    if ended == agent:
        os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
"""
"""Starts the agent, and leads the port to the socket for as long as it runs: `bridge SOCKET PORT COMMAND...`.

Nothing outlives the agent: where this is the first process of a container, all others end with it. A container's
runtime asks only the first process to end, which hands it on.
"""
_BOUNDED = f"""\
import os, resource, sys
for kind, most in ((resource.RLIMIT_FSIZE, {FILE_BYTES}), (resource.RLIMIT_NPROC, {8 * PROCESSES}), (resource.RLIMIT_CORE, 0)):
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
"""
"""Sets what bounds the kernel can hold in bubblewrap, of which the number of processes is for all of a user's together."""
_NOBODY = 65534
_AS_NOBODY = f"""\
os.setgroups([])
os.setresgid({_NOBODY}, {_NOBODY}, {_NOBODY})
os.setresuid({_NOBODY}, {_NOBODY}, {_NOBODY})
"""
"""Root without any capability still owns the kernel's settings and every file that only root may read."""


_BECOMES = "os.execv(sys.argv[1], sys.argv[1:])"


def agent_user() -> tuple[int, int]:
    """The user and group as whom agents run: this process's own, but `nobody` in place of root."""
    if os.geteuid() == 0 and all(map(_is_mapped, ("uid_map", "gid_map"))):
        return _NOBODY, _NOBODY
    return os.getuid(), os.getgid()


def _is_mapped(name: str) -> bool:
    """Return whether `nobody` exists in this user namespace: in a namespace of a single user, root is not root outside."""
    with suppress(OSError):
        for line in read_bytes(Path("/proc/self", name)).splitlines():
            first, _, count = map(int, line.split())
            if first <= _NOBODY < first + count:
                return True
    return False


@dataclass(kw_only=True)
class Sandbox:
    """The view and the rights of a run. Paths inside are absolute; `read_only` and `writable` map paths inside to ours.

    `command` is what runs there. `bridge` are words to which a socket, a port and the command are added: in a
    container it listens at the port, leads it to the socket, and becomes the command; None for one in Python. `image`
    is for containers. With `network`, there is more to be reached than the proxy.
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
        """The command behind the bridge. Python is started so that no module of the project takes the place of its own."""
        words = self.bridge or ("python3", "-I", "-c", _BRIDGE)
        if self.runtime == "bwrap":
            as_nobody = _AS_NOBODY if agent_user()[0] != os.getuid() else ""
            python = (sys.executable, "-I", "-S", "-c")
            words = (*python, _BOUNDED + as_nobody + _BECOMES, *python, _BRIDGE)
        return [*words, SOCKET, str(self.port), *self.command]

    def environment(self) -> dict[str, str]:
        """The whole environment of the command."""
        return {"PATH": _PATH, "HOME": self.home, "LANG": "C.UTF-8", **self.env}


def bubblewrap(sandbox: Sandbox, scratch: Path) -> list[str]:
    """The arguments with which bubblewrap runs a sandbox, before the command; `scratch` has the folders that are made for it.

    Nothing but these folders can be written, and they are on a disk, where what an agent writes can be counted.
    """
    line = ["--die-with-parent", "--as-pid-1", "--new-session", "--clearenv", "--hostname", "agent"]
    line += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if agent_user()[0] != os.getuid():
        line += [
            "--cap-add",
            "CAP_SETUID",
            "--cap-add",
            "CAP_SETGID",
        ]  # to become nobody, which gives them up
    line += [] if sandbox.network else ["--unshare-net"]
    if os.path.exists("/etc/resolv.conf"):  # noqa: PTH110 - it may be a link to where nothing is visible
        line += _bound(os.path.realpath("/etc/resolv.conf"), "/etc/resolv.conf")
    for path in map(Path, (*_SYSTEM, *(f"/etc/{name}" for name in _ETC))):
        if path.is_symlink():
            line += ["--dir", str(path.parent), "--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            line += _bound(str(path), str(path))
    line += ["--proc", "/proc", "--dev", "/dev"]
    for name, inside in (("tmp", "/tmp"), ("shm", "/dev/shm"), ("home", sandbox.home)):  # noqa: S108
        (scratch / name).mkdir()
        line += _bound(str(scratch / name), inside, "--bind")
    for ours in dict.fromkeys((sys.base_prefix, sys.prefix, sysconfig.get_paths()["stdlib"])):
        line += [] if is_of_system(ours) else _bound(ours, ours)
    for inside, outside, writable in sandbox.mounts():
        line += _bound(str(outside), inside, "--bind" if writable else "--ro-bind")
    for name, value in sandbox.environment().items():
        line += ["--setenv", name, value]
    for hidden in filter(os.path.exists, _HIDDEN):
        line += ["--ro-bind", "/dev/null", hidden]
    for each in ("/proc", "/dev", "/"):  # as root, an agent could write the settings of the kernel
        line += ["--remount-ro", each]
    return [*line, "--chdir", sandbox.folder]


def _bound(ours: str, inside: str, how: str = "--ro-bind") -> list[str]:
    """The arguments that mount a path. The folders that lead to it are open to all, even where ours are not (`/root`)."""
    return ["--dir", str(Path(inside).parent), how, ours, inside]


def is_of_system(path: str) -> bool:
    """Return whether a path is visible in every sandbox."""
    return f"{path}/".startswith(tuple(f"{each}/" for each in _SYSTEM))


def container(sandbox: Sandbox, name: str) -> list[str]:
    """The command line that runs a sandbox with docker or podman, in a container of that name."""
    user, group = agent_user()
    line = [sandbox.runtime, "run", "--rm", "--name", name, "--user", f"{user}:{group}"]
    line += ["--interactive", *(() if sandbox.network else ("--network", "none")), "--cap-drop", "ALL"]
    if sandbox.runtime == "podman" and os.getuid() != 0:
        line += ["--userns", "keep-id"]  # else what is mounted would be somebody else's
    line += ["--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
    line += [
        "--pids-limit",
        str(PROCESSES),
        "--memory",
        str(MEMORY_BYTES),
        "--memory-swap",
        str(MEMORY_BYTES),
    ]
    line += ["--workdir", sandbox.folder]
    if sandbox.runtime == "podman":  # else it hands on the addresses of proxies, with their passwords
        line += ["--http-proxy=false", "--env-host=false"]
    for inside, ours, writable in sandbox.mounts():
        line += ["--volume", f"{ours}:{inside}{'' if writable else ':ro'}"]
    unset = dict.fromkeys(_PROXIES, "") if sandbox.runtime == "docker" else {}  # its settings may have them
    for variable, value in {**unset, **sandbox.environment()}.items():
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
    """The result of running a runtime once: whether it works here, else the reason (`why`) and the `advice`."""

    runtime: str
    works: bool
    why: str = ""
    advice: str = ""


RUNTIMES = {
    "bwrap": (
        "bubblewrap",
        "--unshare-net --unshare-pid --ro-bind / / --dev /dev --proc /proc --remount-ro /proc true",
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


@dataclass(slots=True)
class Running:
    """A sandbox that was started: the process that waits for it, and what it uses.

    `handle` is a pidfd of its first process, which ends after all others have; None for a container.
    """

    process: "subprocess.Popen[bytes]"
    watch: Watch
    handle: int | None = None
    killed: bool = False

    def kill(self) -> None:
        """End all of it at once."""
        self.killed = True
        with suppress(OSError):
            if self.handle is not None:
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)


@contextmanager
def running(sandbox: Sandbox, stdin: bytes, folder: Path) -> Iterator[Running]:
    """A sandbox that was started, in a process group of its own; what it says is in `stdout.txt` and `log.txt` of the folder.

    At the end it is ended, with all that it started: asked first (SIGTERM), and killed if that does not help.
    """
    (folder / "stdin").write_bytes(stdin)
    with (
        (folder / "stdin").open("rb") as given,
        (folder / "stdout.txt").open("wb") as stdout,
        (folder / "log.txt").open("wb") as log,
    ):
        start = _in_bubblewrap if sandbox.runtime == "bwrap" else _in_container
        with start(sandbox, folder, {"stdin": given, "stdout": stdout, "stderr": log}) as made:
            yield made


@contextmanager
def _in_bubblewrap(sandbox: Sandbox, folder: Path, streams: Mapping[str, Any]) -> Iterator[Running]:
    """A sandbox in bubblewrap, which has no variable of ours: it is started with none, and its arguments are in memory."""
    arguments = "\0".join(bubblewrap(sandbox, folder)).encode(errors="surrogateescape")
    _hand_over(folder)
    reading, writing = os.pipe()
    passed = [writing, _in_memory(arguments)]
    line = [shutil.which("bwrap") or "bwrap", "--info-fd", str(writing), "--args", str(passed[1])]
    if (refused := refused_calls()) is not None:
        passed.append(_in_memory(refused))
        line += ["--seccomp", str(passed[2])]
    line += ["--", *sandbox.bridged()]
    try:
        process = subprocess.Popen(  # noqa: S603
            line, **streams, env={"PATH": _PATH}, pass_fds=passed, start_new_session=True
        )
    finally:
        for each in passed:
            os.close(each)
    with os.fdopen(reading, "rb") as file:
        found = re.search(rb'"child-pid": *(\d+)', file.read())
    first, handle = int(found[1]) if found else None, None
    with suppress(OSError):
        handle = os.pidfd_open(first) if first else None
    made = Running(process, Watch(folder, first), handle)
    try:
        yield made
    finally:
        if process.poll() is None and not made.killed:
            for each in processes(process.pid):
                if each not in (process.pid, first):
                    with suppress(OSError):
                        os.kill(each, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
        made.kill()
        process.wait()
        if handle is not None:  # readable once the first process is gone, and all others with it
            select.select([handle], [], [], _PROBE_SECONDS)
            os.close(handle)


def _in_memory(content: bytes) -> int:
    """An open file with a content, and without a name."""
    file = os.memfd_create("agenteval")
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


@contextmanager
def _in_container(sandbox: Sandbox, folder: Path, streams: Mapping[str, Any]) -> Iterator[Running]:
    """A sandbox in a container. Its runtime goes on without us: a guard removes it when this process ends, however it does."""
    name, note = f"agenteval-{secrets.token_hex(6)}", folder / CONTAINER
    _hand_over(folder)
    note.write_text(f"{sandbox.runtime} {name}")
    waits = ["/bin/sh", "-c", 'cat; exec "$@"', "sh", sandbox.runtime, "rm", "--force", name]
    guard = subprocess.Popen(  # noqa: S603
        waits,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    process = subprocess.Popen(container(sandbox, name), **streams, start_new_session=True)  # noqa: S603
    sized = [sandbox.runtime, "inspect", "--size", "--format", "{{.SizeRw}}", name]
    made = Running(process, Watch(folder, None, sized))
    try:
        yield made
    finally:
        with suppress(subprocess.TimeoutExpired):
            if process.poll() is None and not made.killed:
                stop = [sandbox.runtime, "stop", "--time", str(_GRACE_SECONDS), name]
                subprocess.run(stop, capture_output=True, timeout=_PROBE_SECONDS, check=False)  # noqa: S603
        try:
            guard.communicate(timeout=_PROBE_SECONDS)  # what it waits for ends here
            note.unlink(missing_ok=True)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        made.kill()
        process.wait()


def _hand_over(folder: Path) -> None:
    """Make all that is in a scratch folder the agent's, where it runs as another user; the folder itself stays closed to it."""
    user, group = agent_user()
    waiting = [str(folder)] if user != os.getuid() else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                os.chown(entry.path, user, group, follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
