"""The state of a subscription has one writer, so that two readings of a feed cannot contradict each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import kurabito

SOURCE: Final = Path(kurabito.__file__).parent
WRITES: Final = re.compile(r"\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+subscriptions\b", re.IGNORECASE)


def test_one_module_writes_subscriptions() -> None:
    files = (path for path in SOURCE.rglob("*") if path.suffix in (".py", ".sql"))
    writers = {path.relative_to(SOURCE).as_posix() for path in files if WRITES.search(path.read_text("utf-8"))}
    outside_migrations = {path for path in writers if not path.startswith("db/migrations/")}
    assert outside_migrations == {"feeds/subscription_store.sql"}
