"""What a person asks to be imported, and what would be done."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.catalog.corrections.moves import check_episode_kind
from kurabito.catalog.states import SeriesKind
from kurabito.errors import InvalidInput
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.adoption.reasons import AnyReason
from kurabito.placements.filing.reasons import FilingReason
from kurabito.placements.plans.model import FileAction
from kurabito.reasons import InputReason, Reason, refused
from kurabito.titles import ReleaseKind

MOST_EPISODES: Final = 6
LAST_EPISODE: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOrder:
    """Which files are given to which series."""

    path: str
    """A file or a folder, whole, as the core sees it."""
    series_id: int
    episodes: tuple[float, ...] = ()
    """Of a single video: what it is, whatever its name says. Empty: the names say it."""
    kind: ReleaseKind = ReleaseKind.TV
    """Of those episodes."""

    def __post_init__(self) -> None:
        check_episode_kind(self.kind)
        # Written like this because no comparison is true of what is no number.
        if len(self.episodes) > MOST_EPISODES or not all(0 <= number <= LAST_EPISODE for number in self.episodes):
            problem = f"must be {MOST_EPISODES} numbers at most, from 0 to {LAST_EPISODE:,}"
            raise InvalidInput("episodes", problem, refused(InputReason.EPISODES, most=MOST_EPISODES))

    def kind_in(self, series: SeriesKind) -> ReleaseKind:
        """The kind of what was said, in a series of this kind: all of a film is the film."""
        is_film = series is SeriesKind.MOVIE and self.kind is ReleaseKind.TV
        return ReleaseKind.MOVIE if is_film else self.kind


class ImportPlace(StrEnum):
    """Where the files lie."""

    LIBRARY = "library"
    """They stay, and are given to their episodes."""
    DOWNLOADS = "downloads"
    """They are placed into a library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """What becomes of one file."""

    path: str
    """Below the folder of the plan."""
    size: int
    action: FileAction
    reason: AnyReason | None = None
    target: str | None = None
    """Its path in the library, where it is put there."""
    episodes: tuple[HadEpisode, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """What would be done with the files of an order."""

    place: ImportPlace
    folder: str
    library_id: int | None = None
    files: tuple[ImportedFile, ...] = ()
    problem: Reason[FilingReason] | None = None
    """Why nothing can be done: no library was chosen."""
    file_ids: dict[str, int] = field(default_factory=dict)
    """The files of a library, by their paths."""

    @property
    def importable(self) -> tuple[ImportedFile, ...]:
        """The files with which something is done."""
        return tuple(file for file in self.files if file.action is FileAction.FILE)
