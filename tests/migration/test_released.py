"""A released migration is never changed: every database that has it would refuse to start."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

RELEASED = Path(__file__).with_name("released.sha256")


def test_released_migrations_are_what_they_were() -> None:
    folder = files("kurabito.db").joinpath("migrations")
    listed = [line.split(maxsplit=1) for line in RELEASED.read_text(encoding="utf-8").splitlines()]
    assert listed
    changed = [
        name for checksum, name in listed if hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() != checksum
    ]
    assert changed == []
