"""How much of a show is there, by the states of its episodes."""

from __future__ import annotations

from collections import Counter

from kurabito.catalog.states import EpisodeState
from kurabito.catalog.summaries import ShowExtent


def test_what_is_downloaded_is_had_before_it_is_in_a_library() -> None:
    counted = Counter({EpisodeState.HAVE: 3, EpisodeState.DOWNLOADED: 1, EpisodeState.MISSING: 1})
    assert ShowExtent.of(counted) == ShowExtent(had=4, aired=5, under_way=0)


def test_what_is_not_shown_yet_or_not_wanted_is_not_missed() -> None:
    counted = Counter(
        {EpisodeState.WANTED: 2, EpisodeState.DOWNLOADING: 1, EpisodeState.UNAIRED: 6, EpisodeState.UNWANTED: 3}
    )
    assert ShowExtent.of(counted) == ShowExtent(had=0, aired=3, under_way=1)


def test_of_a_show_without_episodes_nothing_is_missed() -> None:
    assert ShowExtent.of({}) == ShowExtent(had=0, aired=0, under_way=0)
