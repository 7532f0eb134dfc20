"""Every task of the product, and what follows what."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kurabito.access import Sessions
from kurabito.library.deletion.trash import Trash
from kurabito.maintenance.retention import Retention
from kurabito.runtime import Queue, Registry
from kurabito.runtime.followups import FollowUp, declare

FOLLOW_UPS: Final[tuple[FollowUp, ...]] = ()
"""What follows what in the product, and why. Nothing does yet."""


def product_registry(queue: Queue, sessions: Sessions, backups: Path, trash: Trash) -> Registry:
    """The handlers and schedules that the control plane runs."""
    registry = Registry()
    Retention(queue, sessions, backups).join(registry)
    trash.join(registry)
    declare(registry, FOLLOW_UPS)
    return registry
