"""The advisory locks of PostgreSQL: every key that is used, and what it guards.

`Connection.lock` takes one until the transaction ends. SQLite needs none: its transaction holds the write lock.
"""

from __future__ import annotations

from enum import Enum, unique


@unique
class AdvisoryLock(Enum):
    """What one transaction does at a time. The keys are the same in every version: an older program may run beside this one."""

    MIGRATIONS = (0x6B757261,)
    """Bringing the tables up to date."""
    JOBS = (4_705_112_002,)
    """Deciding which job has the slot."""
    ROLES = (4_705_112_003,)
    """Making the role of data planes: two that start together would change the same rows of the catalogue."""
    SCHEMAS = (4_705_112_004,)
    """Making the schema of a queue."""
    CATALOG = (4_705_112_005,)
    """Naming series and releases."""
    THUMBNAILS = (4_705_112_008,)
    """Admitting thumbnails up to the capacity."""
    DELETION = (1_802_858_081, 40)
    """Noting what is about to be removed: two at the same moment would not see each other's intents."""
