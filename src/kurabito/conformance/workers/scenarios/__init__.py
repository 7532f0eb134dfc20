"""What happens to a worker, and what it has to do then.

registry.py   which scenario is for which rules
work.py       ordinary tasks with every kind of end, long ones, and clocks that differ
losses.py     tasks that are cancelled, gone, or out of reach
trouble.py    a server that is restarted, answers slowly, or whose answer is lost; a wrong key
versions.py   another version, larger or smaller
processes.py  an idle worker, two of them, one that is killed, one that is asked to end
"""

from __future__ import annotations

from kurabito.conformance.workers.scenarios import losses, processes, trouble, versions, work
from kurabito.conformance.workers.scenarios.registry import WORKER_SCENARIOS, WorkerScenario, worker_rules

__all__ = [
    "WORKER_SCENARIOS",
    "WorkerScenario",
    "losses",
    "processes",
    "trouble",
    "versions",
    "work",
    "worker_rules",
]
