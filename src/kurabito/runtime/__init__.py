"""The job runtime: a typed, durable task queue in memory, on SQLite or on PostgreSQL, behind one port.

It knows nothing of media and can be used alone; `docs/tutorial/runtime.md` shows how.
"""

from kurabito.errors import LeaseLost, PermanentError, TaskConflict, TaskFinished, TaskNotFound
from kurabito.runtime.context import TaskContext
from kurabito.runtime.model import NewTask, TaskEnvelope, TaskRecord
from kurabito.runtime.opening import open_queue
from kurabito.runtime.outcomes import Snooze
from kurabito.runtime.port import Queue
from kurabito.runtime.registry import Registry
from kurabito.runtime.retry import Exponential, Fixed, RetryPolicy
from kurabito.runtime.states import Priority, TaskState
from kurabito.runtime.worker import Worker

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
