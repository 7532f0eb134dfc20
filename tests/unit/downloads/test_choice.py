"""Which release of an episode is downloaded, and why: one line for each case.

A line has the releases that came, how their subscription chooses, what the episode has already, and the choice.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.downloads.choice import (
    DEFAULT,
    Choice,
    ChoiceReason,
    CurrentDownload,
    ReleaseOption,
    ReleasePreferences,
    choose,
)
from kurabito.downloads.states import Status
from kurabito.feeds.preferences import Policy, Preferences, Term
from kurabito.protocol.enums import LibraryUpgrades

BEST, FIRST, ASK = DEFAULT, ReleasePreferences(policy=Policy.FIRST), ReleasePreferences(policy=Policy.ASK)
UPGRADE = ReleasePreferences(upgrade=True)
WAIT = ReleasePreferences(wait_minutes=30)
FAVOURITE = replace(WAIT, preferred=Preferences(groups=("Group2",), resolutions=(1080,)))


def prefers(**preferred: Any) -> ReleasePreferences:
    return ReleasePreferences(preferred=Preferences(**preferred))


def one(link_id: int, episode: int | None = 1, **fields: Any) -> ReleaseOption:
    """A release of one episode, of a group of its own."""
    known = {"group": f"group{link_id}", "version": 1, "resolution": 1080, "source": "web", "languages": ("en",)}
    return ReleaseOption(link_id, f"release {link_id}", episode, **{**known, **fields})


def batch(release: str, **episodes: int | None) -> list[ReleaseOption]:
    """A release with several links: `batch("b", l7=1, l8=2)` are link 7 of episode 1 and link 8 of episode 2."""
    links = {int(name.removeprefix("l")): episode for name, episode in episodes.items()}
    return [replace_key(one(link_id, episode), release) for link_id, episode in links.items()]


def replace_key(option: ReleaseOption, release: str) -> ReleaseOption:
    return option._replace(release_key=release)


def now(option: ReleaseOption, status: Status = Status.DOWNLOADING) -> CurrentDownload:
    """A download of a release; its id is a hundred times that of its link."""
    return CurrentDownload(option, option.link_id * 100, status)


def chosen(
    options: list[ReleaseOption],
    preferences: ReleasePreferences = BEST,
    current: list[CurrentDownload] | None = None,
    have: frozenset[int] = frozenset(),
    waits: bool = True,
) -> Choice:
    by_episode: dict[int, list[CurrentDownload]] = defaultdict(list)
    for download in current or ():
        assert download.option.episode_id is not None
        by_episode[download.option.episode_id].append(download)
    given_options = [option._replace(preferences=preferences) for option in options]
    return choose(given_options, by_episode, have, waits=waits)


def takes(*links: int, because: ChoiceReason, cancel: tuple[int, ...] = ()) -> Choice:
    return Choice(dispatch=list(links), cancel=list(cancel), reasons={1: because})


def nothing(because: ChoiceReason) -> Choice:
    return Choice(reasons={1: because})


ASKS = Choice(ask=[1], reasons={1: ChoiceReason.ASK})
WAITS = Choice(wait={1: 30}, reasons={1: ChoiceReason.WAIT})
R = ChoiceReason

NEW_EPISODE = {
    "the only release": ([one(1)], BEST, takes(1, because=R.BEST)),
    "a release that names no group, source or resolution": (
        [one(1, group=None, source=None, resolution=None, languages=())],
        BEST,
        takes(1, because=R.BEST),
    ),
    "of equals the one that came first": ([one(2), one(1)], BEST, takes(1, because=R.BEST)),
    "without preferences the larger picture": (
        [one(1, resolution=720), one(2, resolution=1080)],
        BEST,
        takes(2, because=R.BEST),
    ),
    "an unknown resolution comes last": (
        [one(1, resolution=None), one(2, resolution=480)],
        BEST,
        takes(2, because=R.BEST),
    ),
    "of equals the newer version": ([one(1), one(2, version=2)], BEST, takes(2, because=R.BEST)),
    "a preferred resolution before a larger one": (
        [one(1, resolution=2160), one(2, resolution=720)],
        prefers(resolutions=(720, 1080)),
        takes(2, because=R.BEST),
    ),
    "the resolution that is preferred more": (
        [one(1, resolution=1080), one(2, resolution=720)],
        prefers(resolutions=(720, 1080)),
        takes(2, because=R.BEST),
    ),
    "of two resolutions that are not preferred the first that came": (
        [one(1, resolution=480), one(2, resolution=2160)],
        prefers(resolutions=(720,)),
        takes(1, because=R.BEST),
    ),
    "the preferred group before a larger picture": (
        [one(1, group="kura", resolution=720), one(2, group="other", resolution=2160)],
        prefers(groups=("Kura",)),
        takes(1, because=R.BEST),
    ),
    "the group that is preferred more": (
        [one(1, group="second"), one(2, group="first")],
        prefers(groups=("First", "Second")),
        takes(2, because=R.BEST),
    ),
    "a group is compared by its letters and digits": (
        [one(1, group="other"), one(2, group="kurasubs")],
        prefers(groups=("Kura-Subs",)),
        takes(2, because=R.BEST),
    ),
    "the preferred language before a larger picture": (
        [one(1, languages=("ja",), resolution=2160), one(2, languages=("en",), resolution=480)],
        prefers(languages=("en",)),
        takes(2, because=R.BEST),
    ),
    "one preferred language among several is enough": (
        [one(1, languages=("ja",)), one(2, languages=("ja", "zh", "en"))],
        prefers(languages=("en",)),
        takes(2, because=R.BEST),
    ),
    "a language counts more than the resolution, and less than the group": (
        [one(1, group="kura", languages=("ja",)), one(2, languages=("en",))],
        prefers(groups=("kura",), languages=("en",)),
        takes(1, because=R.BEST),
    ),
    "the preferred source before a newer version": (
        [one(1, source="tv", version=2), one(2, source="bd")],
        prefers(sources=("bd",)),
        takes(2, because=R.BEST),
    ),
    "a larger picture before the preferred source": (
        [one(1, source="bd", resolution=720), one(2, source="tv")],
        prefers(sources=("bd",)),
        takes(2, because=R.BEST),
    ),
    "first takes the group that came first, not the best": (
        [one(1, resolution=480), one(2, resolution=2160)],
        FIRST,
        takes(1, because=R.FIRST),
    ),
    "first takes the newest version of that group": (
        [one(1, group="kura"), one(2, group="kura", version=2), one(3, group="kura", version=3), one(4, version=4)],
        FIRST,
        takes(3, because=R.FIRST),
    ),
    "first does not wait": ([one(1)], replace(FIRST, wait_minutes=30), takes(1, because=R.FIRST)),
    "ask takes the only release": ([one(1)], ASK, takes(1, because=R.BEST)),
    "ask asks where there are two": ([one(1), one(2)], ASK, ASKS),
    "ask does not wait": ([one(1)], replace(ASK, wait_minutes=30), takes(1, because=R.BEST)),
    "best waits for a better one": ([one(1)], WAIT, WAITS),
    "best waits also where two came": ([one(1), one(2)], WAIT, WAITS),
    "the first choice is not waited for": ([one(1), one(2)], FAVOURITE, takes(2, because=R.BEST)),
    "another group waits for the favourite": ([one(1)], FAVOURITE, WAITS),
    "so does the favourite in another resolution": ([one(2, resolution=720)], FAVOURITE, WAITS),
    "so does one without a term that is liked": (
        [one(2)],
        replace(FAVOURITE, preferred=replace(FAVOURITE.preferred, terms=(Term("HEVC", 5),))),
        WAITS,
    ),
    "with no resolution named a larger one may come": (
        [one(2)],
        replace(FAVOURITE, preferred=replace(FAVOURITE.preferred, resolutions=())),
        WAITS,
    ),
}


@pytest.mark.parametrize(("options", "preferences", "expected"), NEW_EPISODE.values(), ids=NEW_EPISODE)
def test_a_missing_episode(options: list[ReleaseOption], preferences: ReleasePreferences, expected: Choice) -> None:
    assert chosen(options, preferences) == expected


def test_nothing_waits_when_the_wait_is_over() -> None:
    assert chosen([one(1, resolution=720), one(2)], WAIT, waits=False) == takes(2, because=R.BEST)


KURA = one(1, group="kura")
BESIDE_A_DOWNLOAD = {
    "another release of the same quality": ([one(2)], BEST, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "a better release without upgrades": ([one(2, resolution=2160)], BEST, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "a better release with upgrades": (
        [one(2, resolution=2160)],
        UPGRADE,
        [now(KURA)],
        takes(2, because=R.UPGRADE, cancel=(100,)),
    ),
    "an equal release with upgrades": ([one(2)], UPGRADE, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "a worse release with upgrades": ([one(2, resolution=480)], UPGRADE, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "the best of several upgrades": (
        [one(2, resolution=1440), one(3, resolution=2160)],
        UPGRADE,
        [now(KURA)],
        takes(3, because=R.UPGRADE, cancel=(100,)),
    ),
    "an upgrade is better than every current release": (
        [one(3, resolution=1440)],
        UPGRADE,
        [now(KURA), now(one(2, resolution=2160))],
        nothing(R.CURRENT_STAYS),
    ),
    "an upgrade cancels what is under way, and keeps what is complete": (
        [one(4, resolution=2160)],
        UPGRADE,
        [now(KURA, Status.COMPLETED), now(one(2), Status.PENDING), now(one(3), Status.NO_DOWNLOADER)],
        takes(4, because=R.UPGRADE, cancel=(200, 300)),
    ),
    "upgrades do not wait": (
        [one(2, resolution=2160)],
        replace(UPGRADE, wait_minutes=30),
        [now(KURA)],
        takes(2, because=R.UPGRADE, cancel=(100,)),
    ),
    "a newer version of the same group, also without upgrades": (
        [one(2, group="kura", version=2)],
        BEST,
        [now(KURA)],
        takes(2, because=R.NEWER_VERSION, cancel=(100,)),
    ),
    "a newer version of what is complete": (
        [one(2, group="kura", version=2)],
        BEST,
        [now(KURA, Status.COMPLETED)],
        takes(2, because=R.NEWER_VERSION),
    ),
    "the newest of several versions": (
        [one(2, group="kura", version=2), one(3, group="kura", version=3)],
        BEST,
        [now(KURA)],
        takes(3, because=R.NEWER_VERSION, cancel=(100,)),
    ),
    "a newer version replaces only its own group": (
        [one(3, group="kura", version=2)],
        BEST,
        [now(KURA), now(one(2))],
        takes(3, because=R.NEWER_VERSION, cancel=(100,)),
    ),
    "the same version again": ([one(2, group="kura")], BEST, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "an older version": (
        [one(2, group="kura")],
        UPGRADE,
        [now(one(1, group="kura", version=2))],
        nothing(R.CURRENT_STAYS),
    ),
    "a newer version of another group": ([one(2, version=5)], BEST, [now(KURA)], nothing(R.CURRENT_STAYS)),
    "versions of releases without a group say nothing": (
        [one(2, group=None, version=2)],
        BEST,
        [now(one(1, group=None))],
        nothing(R.CURRENT_STAYS),
    ),
    "a newer version before a better release": (
        [one(2, group="kura", version=2), one(3, resolution=2160)],
        UPGRADE,
        [now(KURA)],
        takes(2, because=R.NEWER_VERSION, cancel=(100,)),
    ),
    "a newer version is not asked about": (
        [one(2, group="kura", version=2)],
        ASK,
        [now(KURA)],
        takes(2, because=R.NEWER_VERSION, cancel=(100,)),
    ),
    "ask asks whether another release is wanted instead": ([one(2)], ASK, [now(KURA)], ASKS),
    "ask with upgrades takes what is better": (
        [one(2, resolution=2160)],
        replace(ASK, upgrade=True),
        [now(KURA)],
        takes(2, because=R.UPGRADE, cancel=(100,)),
    ),
    "ask with upgrades asks about what is not better": ([one(2)], replace(ASK, upgrade=True), [now(KURA)], ASKS),
    "first keeps what it took": ([one(2, resolution=2160)], FIRST, [now(KURA)], nothing(R.CURRENT_STAYS)),
}


@pytest.mark.parametrize(
    ("options", "preferences", "current", "expected"), BESIDE_A_DOWNLOAD.values(), ids=BESIDE_A_DOWNLOAD
)
def test_an_episode_with_a_current_download(
    options: list[ReleaseOption],
    preferences: ReleasePreferences,
    current: list[CurrentDownload],
    expected: Choice,
) -> None:
    assert chosen(options, preferences, current) == expected


@pytest.mark.parametrize("preferences", [BEST, FIRST, ASK, UPGRADE, WAIT])
def test_an_episode_of_the_library_gets_nothing(preferences: ReleasePreferences) -> None:
    assert chosen([one(1), one(2)], preferences, have=frozenset({1})) == nothing(R.HAVE)


def test_a_complete_download_of_an_episode_of_the_library_still_gets_a_newer_version() -> None:
    current = [now(KURA, Status.COMPLETED)]
    choice = chosen([one(2, group="kura", version=2)], BEST, current, frozenset({1}))
    assert choice == takes(2, because=R.NEWER_VERSION)


TWO = batch("batch", l7=1, l8=2)
BATCHES = {
    "a batch of two missing episodes": (TWO, [], frozenset(), Choice([7, 8], reasons={1: R.BATCH, 2: R.BATCH})),
    "a batch for the one episode that is missing": (
        TWO,
        [now(KURA)],
        frozenset(),
        Choice([7, 8], reasons={2: R.BATCH}),
    ),
    "a batch of what the library has": (TWO, [], frozenset({1, 2}), Choice()),
    "a batch of what is being downloaded or in the library": (TWO, [now(KURA)], frozenset({2}), Choice()),
    "a batch beside a release of one of its episodes": (
        [*TWO, one(9, 1)],
        [],
        frozenset(),
        Choice([9, 7, 8], reasons={1: R.BEST, 2: R.BATCH}),
    ),
    "a batch beside releases of all its episodes": (
        [*TWO, one(9, 1), one(10, 2)],
        [],
        frozenset(),
        Choice([9, 10], reasons={1: R.BEST, 2: R.BEST}),
    ),
    "of two batches of the same episodes the first": (
        [*TWO, *batch("other", l17=1, l18=2)],
        [],
        frozenset(),
        Choice([7, 8], reasons={1: R.BATCH, 2: R.BATCH}),
    ),
    "of two batches both, where each has an episode that the other lacks": (
        [*TWO, *batch("other", l17=2, l18=3)],
        [],
        frozenset(),
        Choice([7, 8, 17, 18], reasons={1: R.BATCH, 2: R.BATCH, 3: R.BATCH}),
    ),
    "a release that names no episode": ([one(7, None)], [], frozenset(), Choice([7])),
    "two releases that name no episode": ([one(7, None), one(8, None)], [], frozenset(), Choice([7, 8])),
    "a release that names no episode beside a batch": (
        [*TWO, one(9, None)],
        [],
        frozenset({1, 2}),
        Choice([9]),
    ),
}


@pytest.mark.parametrize(("options", "current", "have", "expected"), BATCHES.values(), ids=BATCHES)
def test_batches(
    options: list[ReleaseOption], current: list[CurrentDownload], have: frozenset[int], expected: Choice
) -> None:
    assert chosen(options, BEST, current, have) == expected


def test_a_batch_comes_at_once_where_single_releases_wait() -> None:
    choice = chosen([*TWO, one(9, 1)], WAIT)
    assert choice == Choice([7, 8], wait={1: 30}, reasons={1: R.BATCH, 2: R.BATCH})


def test_each_episode_is_chosen_for_alone() -> None:
    options = [one(1, 1, resolution=720), one(2, 1), one(3, 2), one(4, 3), one(5, 4, group="kura", version=2)]
    choice = chosen(options, BEST, [now(one(6, 3)), now(one(7, 4, group="kura"))], frozenset({2}))
    assert choice == Choice(
        dispatch=[2, 5],
        cancel=[700],
        reasons={1: R.BEST, 2: R.HAVE, 3: R.CURRENT_STAYS, 4: R.NEWER_VERSION},
    )


def test_no_options_are_no_choice() -> None:
    assert chosen([], BEST, [now(KURA)], frozenset({2})) == Choice()


releases = st.builds(
    one,
    st.integers(1, 8),
    st.integers(1, 3),
    group=st.sampled_from(["kura", "other", None]),
    version=st.integers(1, 3),
    resolution=st.sampled_from([480, 1080, None]),
)
subscriptions = st.builds(
    ReleasePreferences,
    policy=st.sampled_from(Policy),
    upgrade=st.booleans(),
    wait_minutes=st.sampled_from([0, 30]),
    preferred=st.builds(
        Preferences, groups=st.sampled_from([(), ("kura",)]), resolutions=st.sampled_from([(), (480,)])
    ),
)


@given(
    options=st.lists(releases, unique_by=lambda option: option.link_id),
    preferences=subscriptions,
    have=st.frozensets(st.integers(1, 3)),
    order=st.randoms(use_true_random=False),
)
def test_the_order_of_the_options_changes_nothing(
    options: list[ReleaseOption], preferences: ReleasePreferences, have: frozenset[int], order: Any
) -> None:
    shuffled = list(options)
    order.shuffle(shuffled)
    before, after = (chosen(each, preferences, have=have) for each in (options, shuffled))
    assert (set(before.dispatch), before.reasons) == (set(after.dispatch), after.reasons)


@given(
    options=st.lists(releases, unique_by=lambda option: option.link_id),
    current=st.lists(releases.map(lambda option: now(option._replace(link_id=option.link_id + 10))), max_size=4),
    preferences=subscriptions,
    have=st.frozensets(st.integers(1, 3)),
)
def test_an_episode_gets_one_release_or_one_reason_why_not(
    options: list[ReleaseOption],
    current: list[CurrentDownload],
    preferences: ReleasePreferences,
    have: frozenset[int],
) -> None:
    choice = chosen(options, preferences, current, have)
    episodes = {option.link_id: option.episode_id for option in options}
    downloaded = [episodes[link_id] for link_id in choice.dispatch]
    assert len(downloaded) == len(set(downloaded))
    assert choice.reasons.keys() == set(episodes.values())
    passive = {R.HAVE, R.CURRENT_STAYS, R.ASK, R.WAIT}
    assert set(downloaded) == {episode for episode, why in choice.reasons.items() if why not in passive}
    assert set(choice.ask) == {episode for episode, why in choice.reasons.items() if why is R.ASK}
    assert set(choice.wait) == {episode for episode, why in choice.reasons.items() if why is R.WAIT}
    assert not choice.cancel or choice.dispatch


@pytest.mark.parametrize(
    ("upgrades", "option", "expected"),
    [
        (LibraryUpgrades.NONE, one(2, group="kura", version=2), nothing(R.UPGRADES_OFF)),
        (LibraryUpgrades.SAME_GROUP, one(2, group="kura", version=2), takes(2, because=R.NEWER_VERSION)),
        (LibraryUpgrades.SAME_GROUP, one(2, resolution=2160), nothing(R.UPGRADES_OFF)),
        (LibraryUpgrades.ANYTHING, one(2, resolution=2160), takes(2, because=R.UPGRADE)),
        (LibraryUpgrades.NONE, one(2), nothing(R.CURRENT_STAYS)),
    ],
)
def test_nothing_is_fetched_that_the_library_would_not_let_in(
    upgrades: LibraryUpgrades, option: ReleaseOption, expected: Choice
) -> None:
    options = [option._replace(preferences=UPGRADE)]
    current = {1: [now(KURA, Status.COMPLETED)]}
    assert choose(options, current, frozenset({1}), kept={1: upgrades}) == expected
