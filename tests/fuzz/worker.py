"""Fuzzes one target with one engine until its time is up: `python -m fuzz.worker TARGET ENGINE SECONDS FOLDER`.

What is found goes into FOLDER as one file per kind of failure, and the number of inputs tried into `stats.json`. An
input that takes longer than `HANG_S` ends the process; the input itself is then in `current`.
"""

import faulthandler
import hashlib
import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HANG_S = 10
"""How long one input may take, in seconds."""
HANG = 86
"""The exit code of a worker that met an input that takes too long."""


class Log:
    """Counts inputs, keeps failures apart by where they happened, and ends the process when an input hangs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inputs = 0
        self.slowest = 0.0
        self.written = 0.0
        self.current = (folder / "current").open("wb", buffering=0)
        self.stack = (folder / "stack").open("w", encoding="utf-8")

    def run(self, check: Callable[[bytes], None], given: bytes) -> None:
        """Try one input; whatever is raised is a finding, and raised on for the engine to shrink."""
        self.current.seek(0)
        self.current.truncate()
        self.current.write(given)
        faulthandler.dump_traceback_later(HANG_S, exit=True, file=self.stack)
        started = time.perf_counter()
        try:
            check(given)
        except Exception as error:
            self.keep(given, error)
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
            self.inputs += 1
            took = time.perf_counter() - started
            self.slowest = max(self.slowest, took)
            if started - self.written > 1:
                self.write()

    def keep(self, given: bytes, error: Exception) -> None:
        """Keep the shortest input for each place where something went wrong."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        name = hashlib.sha256(f"{type(error).__name__} {frame.filename}:{frame.lineno}".encode()).hexdigest()[
            :12
        ]
        path = self.folder / f"finding-{name}.input"
        if path.exists() and path.stat().st_size <= len(given):
            return
        path.write_bytes(given)
        told = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(told, encoding="utf-8", errors="backslashreplace")

    def close(self) -> None:
        """Close its files."""
        self.current.close()
        self.stack.close()

    def write(self) -> None:
        """Write down how far it has come."""
        self.written = time.perf_counter()
        told = {"inputs": self.inputs, "slowest_s": round(self.slowest, 3)}
        (self.folder / "stats.json").write_text(json.dumps(told), encoding="utf-8")


def with_hypothesis(target: Any, seconds: float, log: Log) -> None:
    """New random examples, batch by batch, until the time is up."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    until = time.monotonic() + seconds

    @settings(
        max_examples=200,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(st.binary(min_size=60, max_size=800))
    def batch(tape: bytes) -> None:
        if time.monotonic() < until:
            log.run(target.check, target.from_tape(tape))

    while time.monotonic() < until:
        try:
            batch()
        except Exception:  # noqa: BLE001 - the log has it
            continue
    log.write()


def with_atheris(target: Any, seconds: float, log: Log) -> None:
    """Inputs grown by what code they reach, from the seeds, or from tapes of random bytes."""
    import atheris

    def one(content: bytes) -> None:
        try:
            log.run(target.check, content)
        except Exception:  # noqa: BLE001 - the log has it, and there may be more
            return

    corpus = log.folder / "corpus"
    corpus.mkdir(exist_ok=True)
    rng = random.Random(0)
    for number, seed in enumerate(
        target.seeds() if target.seeds else [rng.randbytes(300) for _ in range(50)]
    ):
        (corpus / f"seed-{number:03}").write_bytes(seed)
    flags = [
        f"-max_total_time={max(int(seconds), 1)}",
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-max_len=20000",
        "-len_control=0",
    ]
    flags += [f"-artifact_prefix={log.folder}/", "-print_funcs=0"]
    atheris.Setup(["fuzz", *flags, str(corpus)], one)
    atheris.Fuzz()


def main(argv: list[str]) -> None:
    """Fuzz as the command line says."""
    name, engine, seconds, folder = argv
    log = Log(Path(folder))
    if engine == "atheris":
        import atheris

        with atheris.instrument_imports(include=["agenteval", "agenteval_nanoclaw"]):
            from fuzz.targets import targets
    else:
        from fuzz.targets import targets
    target = next(target for target in targets() if target.name == name)
    (with_atheris if engine == "atheris" else with_hypothesis)(target, float(seconds), log)


if __name__ == "__main__":
    main(sys.argv[1:])
