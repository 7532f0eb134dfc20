"""What an idle `kurabito serve` costs: idle_serve.py [SECONDS]

Starts it on a throw-away state, waits until it has settled, and prints the memory (PSS: what is shared counts in parts)
and the processor time of the control plane and the data plane. Linux only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

SETTLE: Final = 15.0
MOST_MEMORY: Final = 150.0
MOST_CPU: Final = 2.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> dict[int, str]:
    """The process and those that it started, by id, each with its part."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {pid: "control plane", **{int(child): "data plane" for child in started}}


def megabytes(pid: int) -> float:
    """The proportional set size."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return kilobytes / 1024


def cpu_seconds(pid: int) -> float:
    """The processor time used so far, in user and system mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure(pid: int, seconds: float) -> bool:
    """Print a line for each process and their sum; whether both stay within their limits."""
    processes = family(pid)
    began, before = time.monotonic(), {each: cpu_seconds(each) for each in processes}
    time.sleep(seconds)
    lasted = time.monotonic() - began
    memory = {each: megabytes(each) for each in processes}
    share = {each: 100 * (cpu_seconds(each) - before[each]) / lasted for each in processes}
    for each, part in processes.items():
        print(f"{part:14} {memory[each]:6.1f} MB PSS {share[each]:6.2f} % of one core")
    total, used = sum(memory.values()), sum(share.values())
    print(f"{'together':14} {total:6.1f} MB PSS {used:6.2f} % of one core (at most {MOST_MEMORY:g} MB, {MOST_CPU:g} %)")
    return len(processes) == 2 and total < MOST_MEMORY and used < MOST_CPU


def main() -> int:
    """Start, settle, measure, stop."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    with tempfile.TemporaryDirectory(prefix="kurabito-idle-") as state:
        environment = {**os.environ, "KURABITO_STATE": state, "KURABITO_LOG_LEVEL": "warning"}
        command = [sys.executable, "-m", "kurabito.cli", "serve", "--port", "0"]
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                return 1
            print(f"answered after {time.monotonic() - began:.2f} s")
            time.sleep(SETTLE)
            return 0 if measure(process.pid, seconds) else 1
        finally:
            began = time.monotonic()
            process.terminate()
            process.wait(30)
            print(f"stopped after {time.monotonic() - began:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
