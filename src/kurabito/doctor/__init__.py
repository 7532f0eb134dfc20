"""Health checks of an installation: what is wrong, and how to fix it.

A check is one function that looks and changes nothing. Adding one is one entry in `CHECKS`.

earlier.py  what is left of the earlier system whose database was taken over
findings.py what a check may say
machine.py  the machine: folder, disk, clock and port
outside.py  what is asked outside: TMDB and bgm.tv
stores.py   the database, and its file system
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from kurabito.attention import Severity
from kurabito.doctor import earlier, machine, outside, stores
from kurabito.doctor.findings import Check, CheckResult, broken
from kurabito.errors import DatabaseError, KurabitoError
from kurabito.settings import Settings
from kurabito.settings.store import stored_settings

__all__ = ["CHECKS", "CheckResult", "Checked", "Severity", "examine"]

CHECKS: Final[dict[str, Check]] = {
    "state folder": machine.state_folder,
    "state lock": machine.state_lock,
    "parts": machine.parts,
    "disk space": machine.disk_space,
    "clock": machine.clock,
    "port": machine.port,
    "API key": machine.api_key,
    "secrets": machine.secret_files,
    "file system": stores.file_system,
    "database": stores.opens,
    "integrity": stores.integrity,
    "migrations": stores.migrations,
    "earlier system": earlier.taken_over,
    "data plane role": stores.data_plane_role,
    "server version": stores.server_version,
    "server clock": stores.server_clock,
    "access": stores.access,
    "TMDB": outside.tmdb,
    "bgm.tv": outside.bgm,
}


class Checked(NamedTuple):
    """A check and what it found."""

    name: str
    finding: CheckResult


def examine(settings: Settings) -> Iterator[Checked]:
    """Make every check that has something to say here. One that cannot be made is broken itself."""
    settings = _effective(settings)
    for name, check in CHECKS.items():
        try:
            finding = check(settings)
        except KurabitoError as problem:
            finding = broken(str(problem))
        if finding is not None:
            yield Checked(name, finding)


def _effective(settings: Settings) -> Settings:
    try:
        return stored_settings(settings)
    except DatabaseError:
        # The checks of the database say what is wrong with it; the others look at what was set elsewhere.
        return settings
