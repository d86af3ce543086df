"""`agenteval serve`: serves the OpenWOP protocol (RFC 0081) over HTTP, until it is stopped."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenteval.contracts.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from agenteval.loading.config import ServeConfig
    from agenteval.serve.host import Host
    from agenteval.serve.run_evaluation import Catalogue

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def command(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8431,
    store: Annotated[
        str,
        typer.Option(metavar="URL", help="Where runs are kept; by default a SQLite file in the artifacts."),
    ] = "",
    conformance: Annotated[
        bool, typer.Option("--conformance", help="Add what public conformance tests need.")
    ] = False,
    new_key: Annotated[
        str, typer.Option(metavar="TENANT", help="Print a new key and the line for agenteval.yaml, and end.")
    ] = "",
) -> ExitCode:
    """Serve an OpenWOP eval host: suites are run on request, by recordings or live.

    What it offers stands in agenteval.yaml, under serve. Needs the extra `serve`.
    Exit codes: 0 stopped, 2 it cannot run, 3 a file is invalid.
    """
    from agenteval.loading.project import open_project

    if new_key:
        return _new_key(new_key)
    project = open_project()
    serve = project.config.serve
    _refuse_open(serve, host)
    try:
        import uvicorn

        from agenteval.serve.app import create_app
        from agenteval.serve.host import Host
        from agenteval.serve.run_evaluation import Catalogue
        from agenteval.serve.store import Store
        from agenteval.serve.wire import TimedProtocol
        from agenteval.serve.workers import Workers, log_to
    except ImportError as error:
        raise UsageError(
            f"the host needs packages that are not installed ({error.name})",
            reason_code="serve.not_installed",
            next_step="pip install 'agenteval[serve]'",
        ) from None
    catalogue = Catalogue.of(project)
    url = store or _sqlite(project.root / project.config.artifacts_dir)
    kept = Store(url)
    answering = Host(kept, catalogue, conformance)
    app = create_app(answering, lambda: Workers(serve.limits.runs_at_once, kept, project.root))
    log_to(sys.stderr)
    _print_start(serve, catalogue, f"http://{host}:{port}/")
    _read_anew_on_hangup(answering)
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=TimedProtocol,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
    )
    return ExitCode.PASSED


def _read_anew_on_hangup(host: "Host") -> None:
    """Read suites and settings anew at SIGHUP. If a file is invalid, log the error and go on with the old ones."""
    import logging
    import signal

    from agenteval.contracts.errors import AgentEvalError
    from agenteval.loading.project import open_project
    from agenteval.serve.run_evaluation import Catalogue

    log = logging.getLogger("agenteval.serve")

    def read_anew(*_: object) -> None:
        try:
            host.catalogue = Catalogue.of(open_project())
        except AgentEvalError as error:
            log.error("suites and settings stay as they were: %s", error.message)  # noqa: TRY400
            return
        if host.workers:
            host.workers.read_anew()
        log.info("suites and settings were read anew")

    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, read_anew)


def _new_key(tenant: str) -> ExitCode:
    import hashlib
    import re
    import secrets

    from agenteval.reporters.terminal import Terminal

    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", tenant):
        raise UsageError(f"--new-key {tenant}: a tenant has up to 64 letters, digits, '.', '_' and '-'")
    key = secrets.token_urlsafe(32)
    digest = hashlib.sha256(key.encode()).hexdigest()
    terminal = Terminal(sys.stdout)
    terminal.emit(f"key, shown only now:  {key}")
    terminal.emit("in agenteval.yaml, under serve.keys:")
    terminal.emit(f"    - {{sha256: {digest}, tenant: {tenant}, subject: key}}")
    terminal.flush()
    return ExitCode.PASSED


def _refuse_open(serve: "ServeConfig", host: str) -> None:
    if not serve.keys and host not in LOOPBACK:
        raise UsageError(
            f"--host {host}: without keys a host is open to everybody who reaches it",
            reason_code="serve.no_keys",
            next_step="make one with agenteval serve --new-key TENANT, or stay on 127.0.0.1",
        )


def _print_start(serve: "ServeConfig", catalogue: "Catalogue", address: str) -> None:
    from agenteval.reporters.terminal import Terminal
    from agenteval.text.fitting import counted

    terminal = Terminal(sys.stdout)
    terminal.emit(
        f"{address}  {counted(len(catalogue.suites), 'suite')}, {counted(len(serve.agents), 'agent')}, modes {', '.join(catalogue.modes(None))}"
    )
    if not serve.keys:
        terminal.emit("no keys: everybody on this machine may ask, as the tenant local")
    terminal.flush()


def _sqlite(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{(folder / 'host.sqlite').resolve()}"
