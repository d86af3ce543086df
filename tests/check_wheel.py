"""Build the distributions, install the wheel into an empty environment, and use it away from the checkout.

Run by `make wheel`. The sdist is built first and the wheel from it, so that both are known to be complete. In
the new environment nothing is installed but the wheel and what it depends on, and the source is out of reach.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """The exit code: 0 when the installed wheel does what the checkout does."""
    with tempfile.TemporaryDirectory(prefix="agenteval-wheel-") as folder:
        place = Path(folder)
        wheel = build(place / "dist")
        command = install(wheel, place / "venv")
        away = place / "away"
        shutil.copytree(ROOT / "examples", away / "examples")
        expect_ok([command, "--version"], away)
        expect_ok([command, "schema", "trace"], away, quiet=True)
        expect_ok([command, "explain", "must_call_tool"], away, quiet=True)
        expect_ok([command, "init", "fresh"], away, quiet=True)
        expect_ok([command, "run", "examples", "-q"], away)
        add_extra(wheel, place / "venv", "html")
        expect_ok([command, "run", "examples", "-q", "--html", "report.html"], away, quiet=True)
    sys.stdout.write(f"{wheel.name} works when installed\n")
    return 0


def build(dist: Path) -> Path:
    """The wheel, built from the sdist that was built from the checkout."""
    options = ["--no-isolation", "--outdir", str(dist)]
    expect_ok([sys.executable, "-m", "build", *options, str(ROOT)], ROOT, quiet=True)
    (wheel,) = dist.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> str:
    """A new environment with the wheel in it; returns the path of its `agenteval` command."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    expect_ok([python, "-m", "pip", "install", "--quiet", str(wheel)], folder)
    return str(folder / "bin" / "agenteval")


def add_extra(wheel: Path, folder: Path, extra: str) -> None:
    """What the extra asks for, installed into the environment of the wheel."""
    python = str(folder / "bin" / "python")
    expect_ok([python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]"], folder)


def expect_ok(command: list[str], cwd: Path, *, quiet: bool = False) -> None:
    """Run a command; end the check with its output when it fails."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "AGENTEVAL_"))}
    done = subprocess.run(
        command, cwd=cwd, env=env, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if not quiet or done.returncode:
        sys.stdout.write(done.stdout)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} of {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
