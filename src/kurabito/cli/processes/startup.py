"""Loading a program that runs until it is stopped.

Python looks for garbage again and again while modules are loaded and routes are made, and there is none: all of it stays
until the process ends. Not to look makes a start markedly cheaper.
"""

from __future__ import annotations

import gc


def begin_loading() -> None:
    """Look for no garbage until everything is loaded."""
    gc.disable()


def end_loading() -> None:
    """Look for garbage from now on, but never in what is loaded by now."""
    gc.freeze()
    gc.enable()
