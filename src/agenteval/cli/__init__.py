"""The command line: `main(argv) -> int` maps every outcome to an exit code.

`app` parses; each command is a function in one of the other modules, which take options and call the rooms that do the work.
"""

import sys
from collections.abc import Sequence

from agenteval import __version__


def entry() -> None:
    """Run the `agenteval` script, and leave without the interpreter's clean-up, which takes longer than a test."""
    import gc
    import os
    import signal

    # Modules and results stay alive until the end: looking for garbage among them costs a tenth of a run.
    gc.set_threshold(200_000, 10, 10)
    if sys.stdout is None or sys.stderr is None:  # started without them: `agenteval run tests >&-`
        nowhere = open(os.devnull, "w")  # noqa: PTH123, SIM115 - as long as the process
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be ended by CI is to be interrupted
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:  # whatever a plugin made of them
        os._exit(code)


def main(argv: Sequence[str]) -> int:
    """Run one command line and return the exit code; never raises, never exits."""
    if list(argv) == ["--version"]:
        try:
            print(f"agenteval {__version__}", flush=True)  # noqa: T201
        except OSError:
            pass  # the application meets the error again, and reports it
        else:
            return 0
    try:
        from agenteval.cli.app import run_app

        return run_app(argv)
    except KeyboardInterrupt:  # while modules are loaded
        print("interrupted", file=sys.stderr)  # noqa: T201
        return 2
