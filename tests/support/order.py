"""The order in which files of tests are begun where several processes run them: those that wait between those that compute."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

WAITING: Final = (
    "browser/",
    "conformance/downloader/",
    "conformance/planes/",
    "conformance/workers/",
    "crash/",
    "integration/serve/",
    "integration/test_",
    "migration/",
)
"""Where tests start programs, and wait for them most of the time."""
BEGUN_BY: Final = 0.8
"""The share of the other files that has begun when the last of these begins: they are long, and should not come last."""

_TESTS: Final = Path(__file__).parents[1]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mix the kinds where tests run side by side.

    In the order of the folders all processes wait at the same time, with a core idle, and all compute at another.
    """
    if hasattr(config, "workerinput"):
        files = [(path, list(tests)) for path, tests in groupby(items, key=lambda item: item.path)]
        tests_of = dict(files)
        # A path that comes twice, as the command line may ask for it, keeps its order.
        if len(tests_of) == len(files):
            items[:] = [item for path in mixed(list(tests_of)) for item in tests_of[path]]


def mixed(files: list[Path]) -> list[Path]:
    """The files, with those that wait spread over the others. Each kind keeps its order."""
    waiting = [file for file in files if waits(file)]
    computing = [file for file in files if not waits(file)]
    places = [(number / len(waiting) * BEGUN_BY, file) for number, file in enumerate(waiting)]
    places += [(number / len(computing), file) for number, file in enumerate(computing)]
    return [file for _, file in sorted(places, key=lambda place: place[0])]


def waits(file: Path) -> bool:
    """Whether the tests in it mostly wait."""
    return file.is_relative_to(_TESTS) and file.relative_to(_TESTS).as_posix().startswith(WAITING)
