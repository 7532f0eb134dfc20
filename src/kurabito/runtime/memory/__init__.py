"""The queue that keeps its tasks in the memory of one process."""

from kurabito.runtime.memory.queue import MemoryQueue

__all__ = ["MemoryQueue"]
