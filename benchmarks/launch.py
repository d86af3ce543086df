"""Run one command and say what it cost: seconds of wall time, seconds of CPU time, bytes of peak memory.

A process of its own, and a small one: on Linux the peak memory of a program is never less than what the process
that started it used.
"""

import os
import sys
import time


def main() -> int:
    """Start the command given as arguments, wait, write the three figures to stdout, end as it ended."""
    command = sys.argv[1:]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    sys.stdout.write(f"{wall} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss * unit}\n")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
