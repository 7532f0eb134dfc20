"""How the tests run: where they write, without the developer's own settings. What they share is in `tests/support`."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    # First, because the others use it.
    "tests.support.waiting",
    "tests.support.commands",
    "tests.support.databases",
    "tests.support.order",
    "tests.support.pgbouncer",
    "tests.support.postgres",
]

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 4 * 2**30


def pytest_configure() -> None:
    """Keep what the tests write in memory, where it has room and no other place was chosen; answer to signals as usual.

    Nearly all of it is small databases that live for one test, and a disk takes longer to make one than to use it.
    """
    if "TMPDIR" not in os.environ and _holds_the_tests(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None
    _answer_to_signals()
    # A busy machine pauses any example, and how long one takes is no property of ours.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


def _answer_to_signals() -> None:
    """Take back that signals are ignored: a program started from here would ignore them too.

    A script starts what runs in the background with Ctrl-C ignored, and so do many CI systems.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are found: what is made stays, and to look through it takes a fifth of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Have the garbage collector pass by what every test stands on: it looked through all of it again and again."""
    gc.collect()
    gc.freeze()
    # The tests make and drop much, most of it without cycles.
    gc.set_threshold(20_000, 20, 20)


def _holds_the_tests(folder: Path) -> bool:
    return (
        os.access(folder, os.W_OK)
        and shutil.disk_usage(folder).free >= ROOM
        # Some tests write a program and start it.
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("KURABITO_") and name != "KURABITO_TEST_POSTGRES":
            monkeypatch.delenv(name)


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk, for files that are huge and empty: in memory, what is read of a hole through a mapping fills it."""
    with tempfile.TemporaryDirectory(prefix="kurabito-test-", dir="/var/tmp") as folder:
        yield Path(folder)
