"""What the benchmarks share: times, peaks of memory, the table of bars."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_info

from sqlvalid import show

SLOW = 5.0
# VmHWM and not ru_maxrss: the latter starts from the peak of the process that forked.
PEAK = """
{body}
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) // 1024)
"""

Row = tuple[str, str, str, bool]


def timed(work: Callable[[], object], repeats: int = 5) -> float:
    """Median seconds of a work; the first run warms up, unless it is slow and counts."""
    first = once(work)
    times = [first] if first > SLOW else []
    while len(times) < repeats:
        times.append(once(work))
    return median(times)


def once(work: Callable[[], object]) -> float:
    """Seconds of one run of a work."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak_mib(body: str) -> int:
    """The peak of a process of its own that runs a body and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(body=body)], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def report(rows: Sequence[Row]) -> None:
    """Print every bar with what was measured; end with an error if one was missed."""
    table = Table("work", "measured", "bar", "")
    for work, measured, bar, held in rows:
        table.add_row(work, measured, bar, "ok" if held else "MISSED")
    console: Console = show.console()
    console.print(table)
    for library in threadpool_info():
        console.print(
            f"{library['internal_api']} {library['version']}: {library['num_threads']} threads"
        )
    missed = [work for work, _, _, held in rows if not held]
    if missed:
        raise SystemExit(f"missed: {'; '.join(missed)}")
