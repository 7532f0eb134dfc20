"""What can be said of a file that is imported."""

from __future__ import annotations

import math

import pytest

from kurabito.errors import InvalidInput
from kurabito.placements.imports.model import ImportOrder
from kurabito.titles import ReleaseKind


@pytest.mark.parametrize("episodes", [(), (0.0,), (12.5, 13.0), (100_000.0,)])
def test_numbers_of_episodes_are_taken(episodes: tuple[float, ...]) -> None:
    assert ImportOrder(path="/srv/a.mkv", series_id=1, episodes=episodes).episodes == episodes


@pytest.mark.parametrize("episodes", [(math.nan,), (math.inf,), (-1.0,), (1e6,), tuple(map(float, range(7)))])
def test_what_is_no_number_of_an_episode_is_refused(episodes: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="episodes: must be 6 numbers at most"):
        ImportOrder(path="/srv/a.mkv", series_id=1, episodes=episodes)


def test_an_episode_is_of_a_kind_that_episodes_have() -> None:
    with pytest.raises(InvalidInput, match="kind: must be one of"):
        ImportOrder(path="/srv/a.mkv", series_id=1, kind=ReleaseKind.UNKNOWN)
