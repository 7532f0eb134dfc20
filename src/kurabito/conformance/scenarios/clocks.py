"""A machine whose clock is an hour off. Programs on one SQLite file share a clock; those of a server need not."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.stage import ScenarioStage

SKEWED: Final = "a skewed clock"
_OTHER_TIME: Final = "faketime/libfaketimeMT.so.1"
_LIBRARIES: Final = (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib"))


def skew(stage: ScenarioStage) -> None:
    """Have a library scanned by a plane that lives an hour ahead of the server."""
    stage.needs("scan")
    if stage.locks is not None:
        raise NotApplicable("on SQLite all programs go by the clock of their machine")
    library = _find_library()
    folder = stage.library(1)
    for number in range(3):
        trees.write(folder, f"{number}".encode(), b"same size")
    stage.start_plane(LD_PRELOAD=str(library), FAKETIME="+1h", FAKETIME_DONT_FAKE_MONOTONIC="1")
    stage.job("ahead", "scan", 1)
    stage.wait_for_job("ahead")
    stage.reach(SKEWED)


def _find_library() -> Path:
    places = chain.from_iterable((place, *place.glob("*-linux-*")) for place in _LIBRARIES)
    for place in places:
        if (path := place / _OTHER_TIME).exists():
            return path
    raise NotApplicable("the package libfaketime, which moves the clock of one program, is not installed")
