"""The job runtime: a typed, durable task queue in memory, on SQLite or on PostgreSQL, behind the same ports.

    port.py         what a program asks of a queue, and what a worker needs of it
    delegation.py   what a program needs whose own rows are in the queue's database
    model.py        what a queue takes and returns; states.py has the states and their moves, outcomes.py how a claim ends
    events.py       what happened to tasks; history.py reads it from a task's row
    reasons.py      why a task is where it is; errors.py has what goes wrong
    paging.py       keyset pages
    factory.py      from a URL to a queue
    tasks/          declaring tasks and asking for them
    schedules/      tasks that are enqueued at given times
    worker/         claims tasks, runs handlers, keeps leases
    memory/         the queue in the memory of one process
    sql/            the queue in SQLite or PostgreSQL

It knows nothing of media and can be used alone; `docs/tutorial/runtime.md` shows how.
"""

from kurabito.errors import LeaseLost
from kurabito.runtime.errors import PermanentError, TaskConflict, TaskFinished, TaskNotFound
from kurabito.runtime.factory import open_queue
from kurabito.runtime.model import NewTask, TaskEnvelope, TaskRecord
from kurabito.runtime.outcomes import Snooze
from kurabito.runtime.port import Queue
from kurabito.runtime.states import Priority, TaskState
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.registry import Registry
from kurabito.runtime.tasks.retry import Exponential, Fixed, RetryPolicy
from kurabito.runtime.worker.worker import Worker

__all__ = [
    "Exponential",
    "Fixed",
    "LeaseLost",
    "NewTask",
    "PermanentError",
    "Priority",
    "Queue",
    "Registry",
    "RetryPolicy",
    "Snooze",
    "TaskConflict",
    "TaskContext",
    "TaskEnvelope",
    "TaskFinished",
    "TaskNotFound",
    "TaskRecord",
    "TaskState",
    "Worker",
    "open_queue",
]
