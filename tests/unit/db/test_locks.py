"""Every advisory lock has a key of its own, and nothing takes one that is not listed."""

from __future__ import annotations

import re
from pathlib import Path

import kurabito
from kurabito.db import AdvisoryLock

SOURCE = Path(kurabito.__file__).parent
TAKES = SOURCE / "db" / "postgres" / "connection.py"


def test_every_lock_has_a_key_of_its_own_that_postgres_takes() -> None:
    # A member with the key of another would be an alias of that one.
    keys = [lock.value for lock in AdvisoryLock.__members__.values()]
    assert len(set(keys)) == len(keys) >= 7
    # One number of 64 bits, or two of 32.
    assert all(len(key) in (1, 2) and max(key) < 2 ** (63 if len(key) == 1 else 31) for key in keys)


def test_a_lock_is_taken_through_the_connection_only() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*") if path.suffix in (".py", ".sql")}
    taking = {path for path, text in texts.items() if re.search(r"pg_(try_)?advisory_\w*lock", text)}
    assert taking == {TAKES}
