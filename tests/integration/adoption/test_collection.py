"""An existing collection in mixed styles: nothing on the disk changes, nearly every episode is had, the rest says why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.collection import Show, read_entries, shows_of

if TYPE_CHECKING:
    from tests.integration.adoption.conftest import Collection

LEAST = 0.97
MOST_WRONG = 0.005
"""`K-On!!` is read as `K-On!`: names that differ by nothing but marks are one to the index."""


async def take_in(made: Collection, shows: list[Show], turn: int, *, counts: bool = True) -> None:
    made.shows = shows
    made.write(turn)
    before = made.fingerprint()
    made.know(counts=counts)
    await made.scan()
    await made.adopt()
    assert made.fingerprint() == before
    found = made.outcome()
    assert found.share >= LEAST, found.missed
    assert len(found.wrong) <= MOST_WRONG * found.total, found.wrong
    listed = {path for path, _ in made.unadopted()}
    assert listed == {line.partition(": ")[2] for line in found.missed}
    states = {state for (state,) in made.shelf.all("SELECT DISTINCT state FROM series")}
    assert states == {"ignored"}
    assert made.shelf.all("SELECT count(*) FROM episodes WHERE state <> 'have'") == [(0,)]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_collection_in_every_style_is_adopted_where_it_lies(made: Collection) -> None:
    # Those with several seasons, and one of every other style.
    shows = shows_of(read_entries())
    await take_in(made, [*shows[:12], *shows[44:66], *shows[136:140]], 0)


@pytest.mark.soak
@pytest.mark.parametrize("turn", [0, 4, 8])
@pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)
async def test_a_library_of_300_shows_is_adopted_where_it_lies(made: Collection, turn: int) -> None:
    await take_in(made, shows_of(read_entries()), turn)
