"""Reasons as they leave through the API: a code with its facts, and a sentence in English."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Self, TypeAlias

from pydantic import BaseModel, Field

from kurabito.catalog.states import DoubtReason, FilterReason
from kurabito.downloads.items import TransferDetail
from kurabito.downloads.paths.tests import PathReason
from kurabito.downloads.profiles.score import UnwantedReason
from kurabito.downloads.reasons import SAID, DownloadReason
from kurabito.downloads.search.decisions import SearchReason
from kurabito.maintenance.wal import CheckpointReason
from kurabito.placements.adoption.reasons import AdoptionReason
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import TEXT, Reason, reason_of

_GIB: Final = 1 << 30
_UNTRIED: Final = "Whether {downloader} sees {core_folder} could not be tried: "
_Words: TypeAlias = Mapping[StrEnum, str | Callable[[Mapping[str, Any]], str]]


class WhyAnswer(BaseModel):
    """A reason as a code to translate, and what belongs into its sentence."""

    code: str
    facts: dict[str, Any] = Field(description="`said` has what each downloader said, as a reason of its own")

    @classmethod
    def of(cls, reason: Reason[Any] | None) -> Self | None:
        return None if reason is None else cls.model_validate(reason.as_facts())


def _said(facts: Mapping[str, Any]) -> str:
    answers = ((one["downloader"], reason_of(DownloadReason, one)) for one in facts.get(SAID, ()))
    return "; ".join(f"{name}: {in_english(reason)}" for name, reason in answers)


def _gave_up(facts: Mapping[str, Any]) -> str:
    return f"it stood still, and no other downloader takes it; {_said(facts)}".rstrip("; ")


def _no_room(facts: Mapping[str, Any]) -> str:
    needed, left = facts["needed_bytes"] / _GIB, facts["left_bytes"] / _GIB
    return f"not enough room: it needs {needed:.1f} GiB, and {left:.1f} GiB are left beside what is under way and the reserve"


def _transfer(facts: Mapping[str, Any]) -> str:
    said = f" ({facts[TEXT]})" if facts.get(TEXT) else ""
    detail = TransferDetail(facts["detail"])
    return _TRANSFERS.get(detail, detail.value) + said


def _removed(facts: Mapping[str, Any]) -> str:
    name = facts["downloader"] or "its downloader"
    return f"{name} was removed; it goes on when that registers again, or send it elsewhere"


def _path(words: str, else_said: str = "") -> Callable[[Mapping[str, Any]], str]:
    """Words about a path, with the problem of the test where there is one."""

    def words_of(facts: Mapping[str, Any]) -> str:
        problem = facts["problem"]
        said = f" ({problem})" if problem else ""
        return words.format(**facts, said=said, why=problem or else_said)

    return words_of


def _programs(facts: Mapping[str, Any]) -> str:
    return f"a program among videos is there to be started by mistake: {', '.join(facts['files'])}"


def _unsafe(facts: Mapping[str, Any]) -> str:
    return f"it brought programs where videos should be: {', '.join(facts['files'])}"


def _unsafe_removed(facts: Mapping[str, Any]) -> str:
    return f"{_unsafe(facts)}; it is deleted at its downloader with its files"


def _unsafe_kept(facts: Mapping[str, Any]) -> str:
    return f"{_unsafe(facts)}; it stays at its downloader until you remove it there"


def _and_others(words: str) -> Callable[[Mapping[str, Any]], str]:
    """Words about other files."""
    return lambda facts: words.format(others=", ".join(facts["others"]))


_TRANSFERS: Final = {
    TransferDetail.NO_SLOT: "torrents that seed hold all slots of aria2; start it with --bt-detach-seed-only=true",
    TransferDetail.NO_ROOM: "its disk is full; it goes on when there is room",
    TransferDetail.UNWRITABLE: "its folder cannot be written; make room, or check its rights",
    TransferDetail.FILES_MISSING: "its files are missing",
    TransferDetail.CONTENT_REFUSED: "the program does not take what is in the torrent",
    TransferDetail.CLIENT_ERROR: "the program has an error with it",
}
_FILTERS: Final[_Words] = {
    FilterReason.OTHER: "{text}",
    FilterReason.EXCLUDED: "excluded by {rule}",
    FilterReason.NOT_INCLUDED: "not included by {rule}",
}
_DOUBTS: Final[_Words] = {
    DoubtReason.OTHER: "{text}",
    DoubtReason.SEASON_IMPLAUSIBLE: "{season} is not plausible as a season",
    DoubtReason.RANGE_TOO_LONG: "it names more than {most} episodes",
    DoubtReason.EPISODE_IS_YEAR: "{episode} may be a year, not an episode",
    DoubtReason.SPLIT_NUMBER: "one number was read as season {season} and episode {episode}",
    DoubtReason.BEYOND_COUNT: "episode {episode} is far beyond the {known} that are known",
    DoubtReason.WHOLE_SEASON: "it is a whole season without episode numbers, and you have some of it already",
}
_DOWNLOADS: Final[_Words] = {
    DownloadReason.OTHER: "{text}",
    DownloadReason.NO_TYPE: "no downloader takes a URL of this kind",
    DownloadReason.NO_DOWNLOADER: "no downloader for {type} is registered and switched on",
    DownloadReason.NOT_TAKEN: _said,
    DownloadReason.GAVE_UP: _gave_up,
    DownloadReason.NO_ANSWER: _said,
    DownloadReason.NO_HASH: "{downloader} took it and did not say its hash",
    DownloadReason.REMOVED: "removed at the downloader",
    DownloadReason.REPORTED: "the downloader reports an error",
    DownloadReason.TRANSFER: _transfer,
    DownloadReason.STOOD_STILL: "it stood still",
    DownloadReason.DEAD: "no peer had it for {hours} hours",
    DownloadReason.NO_METADATA: "no peer sent the torrent info for {hours} hours",
    DownloadReason.DOWNLOADER_AWAY: "its downloader was away",
    DownloadReason.DOWNLOADER_REMOVED: _removed,
    DownloadReason.SWITCHED_OFF: "{downloader} is switched off; it goes on when you switch that on, or send it elsewhere",
    DownloadReason.ANOTHER_EPISODE: "the downloader has one torrent for this and for {title}, which is another episode",
    DownloadReason.UNSAFE_FILES: _unsafe_kept,
    DownloadReason.UNSAFE_REMOVED: _unsafe_removed,
    DownloadReason.REPLACED: "a better release took its place",
    DownloadReason.FILTERED: "a filter excludes it",
    DownloadReason.CANCELLED: "cancelled by its keeper",
    DownloadReason.SENT_ELSEWHERE: "sent elsewhere by its keeper",
    DownloadReason.NO_ROOM: _no_room,
    DownloadReason.UNEXPLAINED: "no reason given",
    DownloadReason.UNMENTIONED: "it said nothing about this one",
    DownloadReason.OUTCOME: "{outcome}",
    DownloadReason.OUTBOUND: "{text}",
    DownloadReason.URL_NOT_ALLOWED: "{text}",
    DownloadReason.HOST_NOT_ALLOWED: "{text}",
    DownloadReason.UNREACHABLE: "{text}",
    DownloadReason.TIMED_OUT: "{text}",
    DownloadReason.TOO_LARGE: "{text}",
    DownloadReason.BAD_STATUS: "{text}",
    DownloadReason.BAD_ANSWER: "{text}",
}
_CHECKPOINTS: Final[_Words] = {
    CheckpointReason.OTHER: "{text}",
    CheckpointReason.ASKED: "asked for",
    CheckpointReason.LOG_GREW: "the log grew to {size_bytes:,} bytes",
}
_PATHS: Final[_Words] = {
    PathReason.SAME_FOLDER: "Both see the same folder: {core_folder} here, {downloader_folder} at {downloader}.",
    PathReason.READ_ONLY_THERE: _path(
        "{downloader} sees {core_folder} as {downloader_folder}, but cannot write there{said}. Let it write into that folder."
    ),
    PathReason.READ_ONLY_HERE: _path(
        "What {downloader} writes into {downloader_folder} is seen here in {core_folder}, but nothing can be written here{said}."
    ),
    PathReason.UNTRIED: _path(_UNTRIED + "{why}.", "neither side can write"),
    PathReason.NO_TEST: _UNTRIED + "it cannot test paths ({status}).",
    PathReason.OTHER_FOLDER: _path(
        "{downloader} has another folder at {downloader_folder} than the one that is {core_folder} here{said}. Set a path map "
        "from {core_folder} to where {downloader} has it, or mount the same folder on both sides."
    ),
}
_PLANS: Final[_Words] = {
    PlanReason.OTHER: "{text}",
    PlanReason.EPISODE: "its name says the episode",
    PlanReason.SPECIAL: "its name says that it is a special",
    PlanReason.FILM: "its name says that it is a film",
    PlanReason.ONLY_VIDEO: "a video without a number that no other belongs to: a film, or a work of one part",
    PlanReason.ONLY_EPISODE: "the only video of a download for this episode",
    PlanReason.FOLDER_SEASON: "its name says the episode, and the folder {folder} the season",
    PlanReason.RUN: "the number that differs among the names of its folder is the episode",
    PlanReason.ABSOLUTE: "its number counts through all seasons",
    PlanReason.SAID: "a person said so",
    PlanReason.BETTER: "it takes the place of {path}, which is not as good",
    PlanReason.NOT_CHOSEN: "a person chose {other} for the same episode",
    PlanReason.WITH_VIDEO: "it belongs to {video}",
    PlanReason.EXTRA: "an extra: {word}",
    PlanReason.EXTRA_STAYS: "an extra, and the library leaves extras where they are: {word}",
    PlanReason.SAMPLE: "a sample",
    PlanReason.FONT: "a font; media servers read only fonts that are embedded, or their own",
    PlanReason.NOT_MEDIA: "neither a video nor anything that goes with one",
    PlanReason.MUSIC: "music, and not the sound of one of the videos",
    PlanReason.NO_VIDEO: "none of the videos is the one that it belongs to",
    PlanReason.HAD: "the library has this episode, and this file is not better",
    PlanReason.OLDER_VERSION: "{other} is a newer version of it",
    PlanReason.UNFINISHED: "its download is not finished",
    PlanReason.EXECUTABLE: _programs,
    PlanReason.ARCHIVE: "an archive; unpack it first",
    PlanReason.DISC: "a disc as it was pressed, without files of single episodes",
    PlanReason.NO_NUMBER: "its name says no episode",
    PlanReason.TWO_FILES: _and_others("the same episode as {others}; say which one stays"),
    PlanReason.OUTSIDE: "the series has no such episode",
    PlanReason.MAYBE_ABSOLUTE: "its number {number} may be of the season, or count through all seasons",
    PlanReason.TWO_SEASONS: "its name says one season, and the folder {folder} another",
    PlanReason.OTHER_SHOW: "its name says another show: {title}",
    PlanReason.MANY_EPISODES: "its name says more episodes than one file has",
    PlanReason.NO_MAPPING: "the season and number that this library would use are not known",
    PlanReason.NO_VALUE: "the template needs {{{token}}}, which is not known",
    PlanReason.SAME_NAME: _and_others("it would get the same name as {others}"),
    PlanReason.ONLY_TRACKS: "subtitles without a video",
}
_ADOPTIONS: Final[_Words] = {
    AdoptionReason.UNMATCHED_FOLDER: "it is not known which show the folder {folder} is; choose a match",
    AdoptionReason.UNKNOWN_SHOW: "it is not in the folder of a show, and no single show is known as {title}",
    AdoptionReason.NO_TITLE: "it is not in the folder of a show, and its name does not say which show it is",
    AdoptionReason.UNNUMBERED_SPECIAL: "a special without a number: {label}",
}
_UNWANTED: Final[_Words] = {
    UnwantedReason.TOO_SMALL: "it has {mb} MB for a minute, and at least {least} are wanted",
    UnwantedReason.TOO_LARGE: "it has {mb} MB for a minute, and at most {most} are wanted",
    UnwantedReason.BATCH: "it is a batch, and single episodes are wanted",
    UnwantedReason.SINGLE: "it is a single episode, and batches are wanted",
    UnwantedReason.SPECIAL: "it is a special, and those are not wanted",
    UnwantedReason.DECIMAL: "it is an episode between two others, and those are not wanted",
}
_SEARCHES: Final[_Words] = {
    SearchReason.BLOCKED: "it failed, and is blocked",
    SearchReason.WORSE: "it is worth {score} points, and the release that you have {has}",
    SearchReason.UPGRADES_OFF: "it is better than your file, which its library does not replace",
    SearchReason.USENET: "it is for Usenet, which no downloader takes",
    SearchReason.UNREADABLE: "no series can be read from its title",
    SearchReason.FEW_SEEDERS: "it has {seeders} seeders, and its indexer should have at least {least}",
    SearchReason.NO_EPISODE: "its title names no episode",
    SearchReason.IN_DOUBT: "it may be of several series",
    SearchReason.DOUBTFUL_READING: "what was read from its title is not plausible",
    SearchReason.SERIES_NEW: "the series is new, and not followed",
    SearchReason.SERIES_ASKED: "the series is not followed yet",
    SearchReason.SERIES_IGNORED: "the series is ignored",
    SearchReason.HAVE: "you have it",
    SearchReason.UNDER_WAY: "it is being downloaded",
    SearchReason.EXCLUDED: "excluded by {rule}",
    SearchReason.NOT_INCLUDED: "not included by {rule}",
}
ENGLISH: Final[Mapping[type[StrEnum], _Words]] = {
    FilterReason: _FILTERS,
    DoubtReason: _DOUBTS,
    DownloadReason: _DOWNLOADS,
    CheckpointReason: _CHECKPOINTS,
    PathReason: _PATHS,
    PlanReason: _PLANS,
    AdoptionReason: _ADOPTIONS,
    SearchReason: _SEARCHES,
    UnwantedReason: _UNWANTED,
}
"""The sentence of each code, or what makes it of the facts."""


def in_english(reason: Reason[Any]) -> str:
    """The reason as a sentence."""
    words = ENGLISH[type(reason.code)][reason.code]
    return words.format(**reason.facts) if isinstance(words, str) else words(reason.facts)


def sentence_of(reason: Reason[Any] | None) -> str | None:
    """The same, where there may be none."""
    return None if reason is None else in_english(reason)
