"""The queue that keeps its tasks in the memory of one process.

queue.py         what a program asks; work.py is the worker's side, streams.py watches tasks
shared_state.py  what these share: one lock, the rows and the bells
table.py         the rows with their indexes; leases.py has the moves of a worker
ready_heap.py    where tasks wait, in the order in which they are claimed
worker_table.py  the living workers, and which task types they run
event_log.py     the events, in a ring of a fixed size
"""

from kurabito.runtime.memory.queue import MemoryQueue

__all__ = ["MemoryQueue"]
