"""What goes into a plan and what comes out of it. No types of a database: both planes, the API and the CLI use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from kurabito.placements.naming.numbering import EntryNumbers
from kurabito.placements.naming.presets import DEFAULT_NAMING, NamingSettings
from kurabito.placements.naming.sidecars import TrackTag
from kurabito.placements.naming.tokens import NameFacts
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason
from kurabito.titles import Episode


class FileClass(StrEnum):
    """What a file is."""

    VIDEO = "video"
    SUBTITLE = "subtitle"
    AUDIO = "audio"
    FONT = "font"
    ARCHIVE = "archive"
    EXTRA = "extra"
    SAMPLE = "sample"
    EXECUTABLE = "executable"
    OTHER = "other"


class FileAction(StrEnum):
    """What is done with a file."""

    FILE = "file"
    """It goes to its target."""
    ASK = "ask"
    """A person says which of the candidates it is."""
    LEAVE = "leave"
    """It stays where it is."""
    REFUSE = "refuse"
    """It makes the whole download failed."""


class WorkKind(StrEnum):
    """What a video is."""

    EPISODE = "episode"
    SPECIAL = "special"
    FILM = "film"


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a download, by its path below the download's folder, with slashes."""

    path: str
    size: int = 0
    """Bytes; 0 where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Which episode, special or film a file is."""

    kind: WorkKind
    title: str | None = None
    """As the file or its folder says, or the series' own."""
    season: int | None = None
    episodes: tuple[Episode, ...] = ()
    """As the entry counts; one decimal for a recap."""
    label: str | None = None
    """What a special is called: `OVA 2`, `SP 1`, `12.5`."""
    year: int | None = None
    part: int | None = None
    """A film in several files."""
    series_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFacts:
    """What the name of a file says about how it was made."""

    group: str | None = None
    resolution: int | None = None
    source: str | None = None
    version: int = 1


NO_RELEASE: Final = ReleaseFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """What one file is, what is done with it, and why."""

    path: str
    size: int
    file_class: FileClass
    action: FileAction
    reason: Reason[PlanReason]
    work: Work | None = None
    release: ReleaseFacts = NO_RELEASE
    video: str | None = None
    """The path of the video that a subtitle or audio file belongs to."""
    tag: TrackTag | None = None
    candidates: tuple[Work, ...] = ()
    """What it may be, where a person has to say."""
    target: str | None = None
    """Its path below the library; only for what is filed."""
    replaces: str | None = None
    """The path below the library of the file whose place it takes, because it is better."""


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What is done with every file of a list, in the list's own order."""

    files: tuple[PlannedFile, ...] = ()
    refused: Reason[PlanReason] | None = None
    """Why the whole download is failed and not fetched again; nothing of it is filed."""

    def of(self, action: FileAction) -> tuple[PlannedFile, ...]:
        """The files with which this is done."""
        return tuple(file for file in self.files if file.action is action)


@dataclass(frozen=True, slots=True, kw_only=True)
class HadFile:
    """What a library has of an episode already."""

    release: ReleaseFacts
    replaceable: bool = False
    """A better file may take its place."""
    only_newer_version: bool = False
    """Only a newer version of the same group's release may."""
    path: str | None = None
    """Where it is below the library; None where it is not in the one that new files go into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRuling:
    """What a person said of a file."""

    work: Work | None
    """None: it stays where it is."""
    is_numbered: bool = False
    """Season and number are those that the library uses, and not as the entry counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowContext:
    """A series that the files may be of: one season of one show, or a film."""

    series_id: int | None = None
    names: tuple[str, ...] = ()
    """Every name that it is known by; the first is the one it is shown by."""
    season: int = 1
    is_film: bool = False
    episode_offset: int = 0
    """What releases count on from: their number 27 is episode 3 when it is 24."""
    episodes: frozenset[Episode] = frozenset()
    """The numbers that it is known to have; empty where that is not known."""
    had: Mapping[Episode, HadFile] = field(default_factory=dict)
    numbers: EntryNumbers = field(default_factory=EntryNumbers)
    facts: NameFacts = field(default_factory=NameFacts)
    """Titles, year and ids, as names need them."""
    titles: Mapping[Episode, str] = field(default_factory=dict)
    """The titles of its episodes, where names need them."""
    folder: str | None = None
    """The folder in the library that it was given once."""
    season_folders: Mapping[int, str] = field(default_factory=dict)
    """The folders that seasons have already in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """What is known before a name is read."""

    shows: tuple[ShowContext, ...] = ()
    """The series of the download first, then the other seasons of its show. None: the names alone say it."""
    seasons: tuple[ShowContext, ...] = ()
    """Other seasons of the same show: meant where the names say several seasons, or a person says one."""
    release_title: str | None = None
    """What the feed called it, or the folder's own name."""
    link_episodes: tuple[Episode, ...] = ()
    """The episodes that the download was fetched for, as the entry counts."""
    naming: NamingSettings = DEFAULT_NAMING
    said: Mapping[str, FileRuling] = field(default_factory=dict)
    """What a person said of files, by their paths; it outweighs their names."""


NO_CONTEXT: Final = PlanContext()


def because(code: PlanReason, **facts: Any) -> Reason[PlanReason]:
    """A reason of ours."""
    return Reason(code, facts)
