"""A host in a process of its own, on a project made for it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

AGENT = "local.nanoclaw.agents.family-assistant"
SUITE = "local.nanoclaw.evals.family-assistant@1.0.0"
EXAMPLES = Path(__file__).parents[1] / "examples" / "openwop"
KEYS = {"acme": "acme-key-0123456789", "other": "other-key-0123456789"}
SERVE: dict[str, Any] = {
    "suites": ["suite.json"],
    "agents": {AGENT: {"replays": "replays", "model_class": "general", "judge": "recorded"}},
}


class Answer(NamedTuple):
    """An answer of HTTP: its status, headers by lower-case name, and body."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


class HostProcess:
    """A host that serves a project; `store` is the URL of another store than its own file."""

    def __init__(self, root: Path, *, store: str = "", options: tuple[str, ...] = ()) -> None:
        self.root = root
        self.store = store
        self.options = options
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "HostProcess":
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "agenteval", "serve", "--port", str(self.port), *self.options]
        command += ["--store", self.store] if self.store else []
        with (self.root / "host.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.root, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            with suppress(OSError):
                if self.ask("/.well-known/openwop").status == 200:
                    return self
            time.sleep(0.05)
        raise AssertionError((self.root / "host.log").read_text())

    def kill(self) -> None:
        """Kill it, with its workers, whatever they do."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it as Ctrl-C does; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(30)
        finally:
            self.kill()

    def ask(
        self, path: str, body: Any = None, *, method: str = "", key: str | None = None, **headers: str
    ) -> Answer:
        """Ask for something; `body` is sent as JSON, or as it is when it is bytes."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            named.setdefault("Content-Type", "application/json")
        if key:
            named["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self.url + path, data, named, method=method or None)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, _lower(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, _lower(error.headers), error.read().decode())

    def post(self, body: Any = None, **options: Any) -> str:
        """Ask for a run of the example suite; the path of the run."""
        wanted = {"mode": "eval", "evalSuiteRef": SUITE, "agentId": AGENT, **(body or {})}
        answer = self.ask("/runs", wanted, **options)
        assert answer.status == 201, answer
        return str(answer.body["statusUrl"])

    def ended(self, path: str, **options: Any) -> dict[str, Any]:
        """The snapshot of a run, once it has ended."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            found: dict[str, Any] = self.ask(path, **options).body
            if found["status"] in ("completed", "failed", "cancelled"):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{path} did not end")


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def host_project(root: Path, **serve: Any) -> Path:
    """A project with the example suite, and the settings of a host."""
    import hashlib
    import shutil

    for name in ("suite.json", "replays"):
        copy = shutil.copytree if (EXAMPLES / name).is_dir() else shutil.copy
        copy(EXAMPLES / name, root / name)
    keys = [
        {"sha256": hashlib.sha256(key.encode()).hexdigest(), "tenant": tenant, "subject": "ci"}
        for tenant, key in KEYS.items()
    ]
    settings = {**SERVE, **serve}
    if settings.get("keys") is True:
        settings["keys"] = keys
    (root / "agenteval.yaml").write_text(json.dumps({"serve": settings}), encoding="utf-8")
    return root


class Postgres:
    """A Postgres of its own in a new folder, which can be stopped and started."""

    def __init__(self, programs: str) -> None:
        made = subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout
        self.folder = Path(made.strip())
        self.url = f"postgresql+psycopg://wop@/postgres?host={self.folder}"
        self._as: list[str] = []
        if os.geteuid() == 0:  # which Postgres refuses to be run by
            shutil.chown(self.folder, "postgres")
            self._as = ["runuser", "-u", "postgres", "--"]
        self._programs, self._data = programs, str(self.folder / "data")
        self._do("initdb", "-D", self._data, "-A", "trust", "-U", "wop", "-N")
        self.start()

    @staticmethod
    def programs() -> str | None:
        """The folder of the newest Postgres's programs; None where there is none."""
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if os.name == "posix" else []
        return str(found[-1].parent) if found else None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        listening = f"-k {self.folder} -c listen_addresses=''"
        self._do("pg_ctl", "-D", self._data, "-w", "-l", str(self.folder / "log"), "-o", listening, "start")

    def stop(self) -> None:
        """End it, with all its connections."""
        self._do("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def _do(self, program: str, *words: str) -> None:
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(
            [*self._as, f"{self._programs}/{program}", *words], check=True, cwd=self.folder, **quiet
        )
