"""Which of several releases of one episode is downloaded. Pure: options and current downloads go in, a choice comes out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from kurabito.downloads.profiles.score import UnwantedReason, is_first_choice, score, unwanted
from kurabito.downloads.states import Status
from kurabito.feeds.preferences import NO_PREFERENCES, Policy, Preferences
from kurabito.protocol.enums import LibraryUpgrades
from kurabito.reasons import Reason
from kurabito.titles import ReleaseKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePreferences:
    """How a show or a subscription wants its releases chosen."""

    policy: Policy = Policy.BEST
    upgrade: bool = False
    """A better release replaces one that is downloaded already."""
    wait_minutes: int = 0
    """How long `best` waits for a better one to come; the first choice of all lists is not waited for."""
    preferred: Preferences = NO_PREFERENCES


DEFAULT: Final = ReleasePreferences()
NOTHING_KEPT: Final[Mapping[int, LibraryUpgrades]] = {}


class ReleaseOption(NamedTuple):
    """A link that could be downloaded, as far as choosing needs to know it."""

    link_id: int
    release_key: str
    episode_id: int | None
    group: str | None
    """As it is compared: letters and digits only."""
    version: int
    resolution: int | None
    source: str | None
    languages: tuple[str, ...]
    preferences: ReleasePreferences = DEFAULT
    title: str = ""
    size_bytes: int | None = None
    """Of the whole release."""
    kind: ReleaseKind = ReleaseKind.TV
    number: float | None = None

    def rank(self, preferred: Preferences) -> int:
        """The larger the better."""
        return score(self, preferred).total


class CurrentDownload(NamedTuple):
    """A release that is downloaded, or being downloaded."""

    option: ReleaseOption
    download_id: int
    status: Status


class ChoiceReason(StrEnum):
    """Why an episode gets a release, or none now."""

    BEST = "best"
    """The best of the releases that came."""
    FIRST = "first"
    """The subscription takes the first group that releases it."""
    NEWER_VERSION = "newer_version"
    """The group of the current release made a newer version."""
    UPGRADE = "upgrade"
    """It is better than the current release, and the subscription wants that."""
    BATCH = "batch"
    """Only a batch has it."""
    UPGRADES_OFF = "upgrades_off"
    """It is better than the file that a library has, and that library keeps its files."""
    UNWANTED = "unwanted"
    """No release of it is what its keeper wants."""
    CURRENT_STAYS = "current_stays"
    HAVE = "have"
    """The episode needs nothing."""
    ASK = "ask"
    """Its keeper chooses."""
    WAIT = "wait"
    """A better release may come."""


@dataclass(slots=True)
class Choice:
    """What is to be done, and why."""

    dispatch: list[int] = field(default_factory=list)
    """Links."""
    cancel: list[int] = field(default_factory=list)
    """Downloads that a better release replaces."""
    ask: list[int] = field(default_factory=list)
    """Episodes whose release the keeper has to choose."""
    wait: dict[int, int] = field(default_factory=dict)
    """Episodes that wait for a better release, and for how many minutes."""
    reasons: dict[int, ChoiceReason] = field(default_factory=dict)
    """By episode."""
    unwanted: dict[int, Reason[UnwantedReason]] = field(default_factory=dict)
    """Links that the preferences leave out, and why."""

    def replace(self, by: ReleaseOption, replaced: Iterable[CurrentDownload]) -> None:
        """Download a release in the place of others. A completed one keeps its files."""
        self.dispatch.append(by.link_id)
        self.cancel += [one.download_id for one in replaced if one.status is not Status.COMPLETED]


def choose(
    options: Sequence[ReleaseOption],
    current: Mapping[int, Sequence[CurrentDownload]],
    have: frozenset[int],
    *,
    kept: Mapping[int, LibraryUpgrades] = NOTHING_KEPT,
    waits: bool = True,
) -> Choice:
    """Choose among new releases; `current` is by episode, `have` are the episodes that need nothing.

    `kept` says by episode what may take the place of its file in a library; nothing is fetched that could not.
    """
    releases: dict[str, list[ReleaseOption]] = defaultdict(list)
    for option in options:
        releases[option.release_key].append(option)
    of_episode: dict[int, list[ReleaseOption]] = defaultdict(list)
    batches = []
    choice = Choice()
    for links in releases.values():
        if why := unwanted(links[0], links[0].preferences.preferred, len(links)):
            choice.unwanted |= {one.link_id: why for one in links}
            choice.reasons |= {one.episode_id: ChoiceReason.UNWANTED for one in links if one.episode_id is not None}
        elif len(links) == 1 and (episode_id := links[0].episode_id) is not None:
            of_episode[episode_id].append(links[0])
        else:
            batches.append(links)
    for episode_id, rivals in of_episode.items():
        downloads = current.get(episode_id, ())
        upgrades = kept.get(episode_id, LibraryUpgrades.ANYTHING)
        reason = _upgrades_off(rivals, downloads, upgrades)
        choice.reasons[episode_id] = reason or _choose_one(
            choice, episode_id, rivals, downloads, episode_id in have, waits
        )
    dispatched = set(choice.dispatch)
    covered = {one.episode_id for one in options if one.link_id in dispatched} | have | set(current)
    for links in batches:
        _choose_batch(choice, links, covered)
    return choice


def _upgrades_off(
    rivals: Sequence[ReleaseOption], current: Sequence[CurrentDownload], upgrades: LibraryUpgrades
) -> ChoiceReason | None:
    """Why nothing is fetched for an episode whose file in a library would not give way to it."""
    newer = _newer_version(rivals, current)
    if not current or upgrades is LibraryUpgrades.ANYTHING or (newer and upgrades is LibraryUpgrades.SAME_GROUP):
        return None
    preferences = rivals[0].preferences
    best = _best(rivals, preferences)
    ranks = [one.option.rank(preferences.preferred) for one in current]
    is_better = preferences.upgrade and best.rank(preferences.preferred) > max(ranks)
    return ChoiceReason.UPGRADES_OFF if newer or is_better else None


def _choose_one(
    choice: Choice,
    episode_id: int,
    rivals: Sequence[ReleaseOption],
    current: Sequence[CurrentDownload],
    is_had: bool,
    waits: bool,
) -> ChoiceReason:
    preferences = rivals[0].preferences
    if preferences.preferred.takes_revisions and (newer := _newer_version(rivals, current)):
        choice.replace(newer, [one for one in current if one.option.group == newer.group])
        return ChoiceReason.NEWER_VERSION
    if current:
        return _choose_beside(choice, episode_id, _best(rivals, preferences), current, preferences)
    if is_had:
        return ChoiceReason.HAVE
    if preferences.policy is Policy.ASK and len(rivals) > 1:
        choice.ask.append(episode_id)
        return ChoiceReason.ASK
    best = _best(rivals, preferences)
    may_wait = preferences.policy is Policy.BEST and preferences.wait_minutes > 0 and waits
    if may_wait and not is_first_choice(best, preferences.preferred):
        choice.wait[episode_id] = preferences.wait_minutes
        return ChoiceReason.WAIT
    choice.dispatch.append(best.link_id)
    return ChoiceReason.FIRST if preferences.policy is Policy.FIRST else ChoiceReason.BEST


def _choose_beside(
    choice: Choice,
    episode_id: int,
    best: ReleaseOption,
    current: Sequence[CurrentDownload],
    preferences: ReleasePreferences,
) -> ChoiceReason:
    preferred = preferences.preferred
    has = max(one.option.rank(preferred) for one in current)
    is_enough = preferred.stop_at is not None and has >= preferred.stop_at
    if preferences.upgrade and not is_enough and best.rank(preferred) > has:
        choice.replace(best, current)
        return ChoiceReason.UPGRADE
    if preferences.policy is Policy.ASK:
        choice.ask.append(episode_id)
        return ChoiceReason.ASK
    return ChoiceReason.CURRENT_STAYS


def _choose_batch(choice: Choice, links: Sequence[ReleaseOption], covered: set[int | None]) -> None:
    """Download a batch if it has an episode that is missing; one that names no episode may hold anything."""
    missing = [one.episode_id for one in links if one.episode_id is None or one.episode_id not in covered]
    if missing:
        choice.dispatch += [one.link_id for one in links]
        choice.reasons |= {one: ChoiceReason.BATCH for one in missing if one is not None}
        covered |= {one.episode_id for one in links}


def _best(rivals: Sequence[ReleaseOption], preferences: ReleasePreferences) -> ReleaseOption:
    if len(rivals) == 1:
        # What a score is made of is read from the title, which takes its time.
        return rivals[0]
    if preferences.policy is not Policy.FIRST:
        return max(rivals, key=lambda one: (one.rank(preferences.preferred), -one.link_id))
    first = min(rivals, key=lambda one: one.link_id)
    return max((one for one in rivals if one.group == first.group), key=lambda one: (one.version, -one.link_id))


def _newer_version(rivals: Iterable[ReleaseOption], current: Sequence[CurrentDownload]) -> ReleaseOption | None:
    """A release by which its own group replaces a current one."""
    versions = {one.option.group: one.option.version for one in current if one.option.group is not None}
    newer = [one for one in rivals if one.group in versions and one.version > versions[one.group]]
    return max(newer, key=lambda one: one.version, default=None)
