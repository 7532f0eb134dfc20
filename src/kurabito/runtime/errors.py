"""The errors of tasks and workers."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class TaskError(KurabitoError):
    """A task could not be moved as asked."""

    code = "task"


class TaskNotFound(TaskError, NotFound):
    """No task has that id."""

    code = "task_not_found"


class TaskFinished(TaskError):
    """The task is over: there is nothing left to cancel."""

    code = "task_finished"


class TaskConflict(TaskError, StateConflict):
    """The task cannot make that move now."""

    code = "task_conflict"


class WorkerFailed(KurabitoError):
    """A worker cannot go on, and has ended: its tasks go to another."""

    code = "worker_failed"


class PermanentError(KurabitoError):
    """Raise it in a handler when another attempt cannot help: the task is dead at once."""

    code = "permanent"


class PayloadError(PermanentError):
    """A payload does not decode as what the handler takes: another attempt would not either."""

    code = "payload"


class HandlerProcessDied(KurabitoError):
    """The process of an isolated handler ended before the handler did."""

    code = "handler_process_died"
