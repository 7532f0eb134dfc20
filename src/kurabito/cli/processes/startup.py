"""Loading a program that runs until it is stopped.

Python looks for garbage again and again while modules are loaded and routes are made, and there is none: all of it stays
until the process ends. Not to look makes a start markedly cheaper.
"""

from __future__ import annotations

import gc
import sys
from typing import Final

_TURN: Final = 0.001
"""Seconds that a thread may compute while others wait for their turn. Python's own 5 ms are paid at each change of threads,
and a request that writes has several: from the one that listens to the one that writes, and back."""


def begin_loading() -> None:
    """Look for no garbage until everything is loaded."""
    gc.disable()


def end_loading() -> None:
    """Look for garbage from now on, but never in what is loaded by now; and let threads take turns quickly."""
    gc.freeze()
    gc.enable()
    sys.setswitchinterval(_TURN)
