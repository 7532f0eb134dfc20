"""The queue that keeps its tasks in the memory of one process.

queue.py    what a program asks; work.py is the worker's side, streams.py watches tasks
shared.py   what these share: one lock, the rows and the bells
table.py    the rows with their indexes; leasing.py has the moves of a worker
"""

from kurabito.runtime.memory.queue import MemoryQueue

__all__ = ["MemoryQueue"]
