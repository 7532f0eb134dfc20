"""How many connections there may be."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from kurabito.site.limits import connection_limits, raise_descriptor_limit, room_for_connections


@pytest.fixture(autouse=True)
def _descriptors_as_they_were() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(16, 8), (256, 64), (600, 150), (1024, 512), (4096, 3584), (65_536, 65_024)]
)
def test_most_descriptors_of_a_small_process_stay_for_everything_else(descriptors: int, connections: int) -> None:
    assert room_for_connections(descriptors) == connections


def test_as_many_descriptors_are_taken_as_are_wanted_and_allowed() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    assert raise_descriptor_limit(400) == 400
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (400, hard)
    # It is never lowered.
    assert raise_descriptor_limit(350) == 400


def test_the_usual_limits() -> None:
    limits = connection_limits()
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits.most == min(1000, room_for_connections(soft))
    assert limits.per_address == limits.most // 4


def test_what_is_asked_for_is_had_as_far_as_there_is_room() -> None:
    limits = connection_limits(most=40, per_address=12)
    assert (limits.most, limits.per_address) == (40, 12)
    assert connection_limits(most=20, per_address=100).per_address == 20
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    too_many = max(hard, 1024) * 2 if hard != resource.RLIM_INFINITY else None
    if too_many is not None:
        assert connection_limits(most=too_many).most == room_for_connections(hard)
