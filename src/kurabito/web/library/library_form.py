"""The form that says how a library is looked after: what was typed, what it means, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePath
from typing import Final

from kurabito.library.libraries import LibrarySettings
from kurabito.protocol.enums import HashAlgorithm, HashPolicy, LibraryIntake, LibraryUpgrades
from kurabito.protocol.leased.placements import PlacementMode
from kurabito.web.forms import CHECKED, Form, offered, one_of, seconds_of

INTERVALS: Final = tuple(timedelta(seconds=seconds) for seconds in (900, 3600, 6 * 3600, 86_400, 7 * 86_400))
"""What the form offers; a library may have any other."""
_DAILY: Final = timedelta(days=1)
MODES: Final = ("link copy", "link", "reflink copy", "copy")
"""Likewise for how downloads come into it."""


@dataclass(frozen=True, slots=True)
class LibraryForm(Form):
    """The fields as they are shown: as they are now, or as they were typed."""

    FIELDS = (
        "path",
        "name",
        "scan_interval",
        "watched",
        "algorithm",
        "hash_policy",
        "ignored",
        "accepts",
        "placement_modes",
        "upgrades",
        "writes_nfo",
        "writes_posters",
    )

    @classmethod
    def new(cls, path: str = "") -> LibraryForm:
        """The form for a folder to add: watched, and scanned once a day for what a watch does not see."""
        return cls({"watched": CHECKED, "scan_interval": f"{_DAILY.total_seconds():g}", "path": path})

    def named(self) -> LibraryForm:
        """The form of a folder that is called like itself unless a name was typed."""
        name = self.value("name").strip() or PurePath(self.value("path").strip()).name
        return LibraryForm({**self.typed, "name": name}, self.problem)

    @classmethod
    def of(cls, settings: LibrarySettings) -> LibraryForm:
        """The form as it looks for a library."""
        interval = settings.scan_interval
        return cls(
            {
                "name": settings.name,
                "scan_interval": "" if interval is None else f"{interval.total_seconds():g}",
                "watched": CHECKED if settings.watched else "",
                "algorithm": settings.algorithm.value,
                "hash_policy": settings.hash_policy.value,
                "ignored": "\n".join(settings.ignored),
                "accepts": settings.accepts.value,
                "placement_modes": " ".join(settings.placement_modes),
                "upgrades": settings.upgrades.value,
                "writes_nfo": CHECKED if settings.writes_nfo else "",
                "writes_posters": CHECKED if settings.writes_posters else "",
            }
        )

    def intervals(self) -> list[timedelta]:
        """The intervals to choose from, with the one that is set."""
        return offered(INTERVALS, "scan_interval", self.value("scan_interval"))

    def modes(self) -> tuple[str, ...]:
        """The modes to choose from, with those that are set."""
        chosen = self.value("placement_modes")
        is_known = chosen and set(chosen.split()) <= set(PlacementMode)
        return tuple(dict.fromkeys((*MODES, chosen if is_known else MODES[0])))

    def settings(self) -> LibrarySettings:
        """What the form asks for; raises InvalidInput naming the field."""
        interval = self.value("scan_interval")
        return LibrarySettings(
            name=self.value("name").strip(),
            scan_interval=seconds_of("scan_interval", interval) if interval else None,
            watched=self.is_checked("watched"),
            algorithm=one_of(HashAlgorithm, "algorithm", self.value("algorithm") or HashAlgorithm.BLAKE3.value),
            hash_policy=one_of(HashPolicy, "hash_policy", self.value("hash_policy") or HashPolicy.CANDIDATES.value),
            ignored=tuple(line.strip() for line in self.value("ignored").splitlines() if line.strip()),
            accepts=one_of(LibraryIntake, "accepts", self.value("accepts") or LibraryIntake.ANY.value),
            placement_modes=tuple(
                one_of(PlacementMode, "placement_modes", mode)
                for mode in (self.value("placement_modes") or MODES[0]).split()
            ),
            upgrades=one_of(LibraryUpgrades, "upgrades", self.value("upgrades") or LibraryUpgrades.SAME_GROUP.value),
            writes_nfo=self.is_checked("writes_nfo"),
            writes_posters=self.is_checked("writes_posters"),
        )
