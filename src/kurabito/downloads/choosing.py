"""Which of several releases of one episode is taken. Pure: what is known goes in, what is to be done comes out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kurabito.catalog.releases import Name
from kurabito.downloads.states import Status
from kurabito.feeds.preferences import NO_PREFERENCES, Policy, Preferences


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePreferences:
    """How a subscription wants its releases chosen."""

    policy: Policy = Policy.BEST
    upgrade: bool = False
    """A better release replaces one that is there already."""
    wait_minutes: int = 0
    """How long `best` waits for a better one to come."""
    preferences: Preferences = NO_PREFERENCES


DEFAULT: Final = ReleasePreferences()


class ReleaseOption(NamedTuple):
    """A link that could be taken."""

    link_id: int
    release_key: str
    episode_id: int | None
    group: str | None
    """As it is compared: letters and digits only."""
    version: int
    resolution: int | None
    source: str | None
    languages: tuple[str, ...]
    wishes: ReleasePreferences = DEFAULT

    def rank(self, wishes: ReleasePreferences) -> tuple[int, ...]:
        """The larger the better, by what is preferred."""
        liked = wishes.preferences
        groups = [Name.of(group).folded for group in liked.groups]
        resolution = _place(self.resolution, liked.resolutions) if liked.resolutions else self.resolution or 0
        return (
            _place(self.group, groups),
            max((_place(one, liked.languages) for one in self.languages), default=-len(liked.languages)),
            resolution,
            _place(self.source, liked.sources),
            self.version,
        )


class CurrentDownload(NamedTuple):
    """A release that is downloaded, or on its way."""

    option: ReleaseOption
    download_id: int
    status: Status


@dataclass(slots=True)
class Choice:
    """What is to be done."""

    dispatch: list[int] = field(default_factory=list)
    """Links."""
    cancel: list[int] = field(default_factory=list)
    """Downloads that something better replaces."""
    ask: list[int] = field(default_factory=list)
    """Episodes of which the keeper has to choose a release."""
    wait: dict[int, int] = field(default_factory=dict)
    """Episodes that wait for a better release, and for how many minutes."""


def choose(
    options: Sequence[ReleaseOption],
    standing: Mapping[int, Sequence[CurrentDownload]],
    there: frozenset[int],
    *,
    waits: bool = True,
) -> Choice:
    """Choose among new releases; `standing` is by episode, `there` are the episodes that need nothing."""
    choice = Choice()
    releases: dict[str, list[ReleaseOption]] = defaultdict(list)
    for one in options:
        releases[one.release_key].append(one)
    by_episode: dict[int, list[ReleaseOption]] = defaultdict(list)
    for links in releases.values():
        if len(links) == 1 and links[0].episode_id is not None:
            by_episode[links[0].episode_id].append(links[0])
    for episode_id, rivals in by_episode.items():
        _choose_one(choice, episode_id, rivals, standing.get(episode_id, ()), episode_id in there, waits)
    served = set(choice.dispatch)
    covered = {one.episode_id for one in options if one.link_id in served} | there | set(standing)
    for links in releases.values():
        is_single = len(links) == 1 and links[0].episode_id is not None
        # What names no episode may hold anything; a batch is worth it for one episode that is missing.
        if not is_single and any(one.episode_id is None or one.episode_id not in covered for one in links):
            choice.dispatch += [one.link_id for one in links]
            covered |= {one.episode_id for one in links}
    return choice


def _choose_one(
    choice: Choice,
    episode_id: int,
    rivals: Sequence[ReleaseOption],
    standing: Sequence[CurrentDownload],
    is_there: bool,
    waits: bool,
) -> None:
    wishes = rivals[0].wishes
    best = _best(rivals, wishes)
    if newer := _newer_version(rivals, standing):
        _replace(choice, newer, [one for one in standing if one.option.group == newer.group])
    elif standing:
        if wishes.upgrade and best.rank(wishes) > max(one.option.rank(wishes) for one in standing):
            _replace(choice, best, standing)
        elif wishes.policy is Policy.ASK:
            choice.ask.append(episode_id)
    elif is_there:
        return
    elif wishes.policy is Policy.ASK and len(rivals) > 1:
        choice.ask.append(episode_id)
    elif wishes.policy is Policy.BEST and wishes.wait_minutes and waits:
        choice.wait[episode_id] = wishes.wait_minutes
    else:
        choice.dispatch.append(best.link_id)


def _best(rivals: Sequence[ReleaseOption], wishes: ReleasePreferences) -> ReleaseOption:
    if wishes.policy is not Policy.FIRST:
        return max(rivals, key=lambda one: (one.rank(wishes), -one.link_id))
    first = min(rivals, key=lambda one: one.link_id)
    return max((one for one in rivals if one.group == first.group), key=lambda one: (one.version, -one.link_id))


def _newer_version(rivals: Iterable[ReleaseOption], standing: Sequence[CurrentDownload]) -> ReleaseOption | None:
    """A release that its own group put in the place of one that stands."""
    versions = {one.option.group: one.option.version for one in standing if one.option.group is not None}
    newer = [one for one in rivals if one.group in versions and one.version > versions[one.group]]
    return max(newer, key=lambda one: one.version, default=None)


def _replace(choice: Choice, by: ReleaseOption, replaced: Iterable[CurrentDownload]) -> None:
    choice.dispatch.append(by.link_id)
    choice.cancel += [one.download_id for one in replaced if one.status is not Status.COMPLETED]


def _place(value: str | int | None, liked: Sequence[str | int]) -> int:
    """0 for the most liked, less for the others."""
    return -liked.index(value) if value in liked else -len(liked)
