"""Programs of the tests that run as processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.commands import Command


@contextmanager
def spoken_to(program: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program that is told line by line what to do; it ends when its input does."""
    with Command(
        [sys.executable, str(program), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
