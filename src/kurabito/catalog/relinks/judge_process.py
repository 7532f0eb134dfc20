"""The process of a judge. It gives way to others before it loads what it judges by: that takes longer than all else of its start."""

from __future__ import annotations

import gc
import os
from multiprocessing.connection import Connection as Pipe
from typing import Any, Final

_NICE: Final = 10


def main(pipe: Pipe[Any, Any], url: str) -> None:
    """Judge what is asked for through a pipe, until it ends."""
    os.nice(_NICE)
    # Of many titles nothing refers to itself, and to look for that took a tenth of the time; the process ends with its task.
    gc.disable()
    from kurabito.catalog.relinks.judge import answer

    answer(pipe, url)
