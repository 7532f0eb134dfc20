"""Numbering: which season and number an episode gets at TMDB, on shows whose numbers are public facts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import pytest

from kurabito.placements.naming.numbering import (
    EntryNumbers,
    NumberingScheme,
    NumberSpan,
    ShowEntry,
    SpecialNumber,
    TmdbShow,
    number_episodes,
    special_number,
    tmdb_spans,
)
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.plans import ListedFile, PlanContext, ShowContext, plan_files

TMDB, ENTRY, ABSOLUTE = NumberingScheme.TMDB, NumberingScheme.ENTRY, NumberingScheme.ABSOLUTE


@dataclass(frozen=True)
class Show:
    """Entries that lie in one season of TMDB, each with its first day and its length, and how many episodes came before."""

    name: str
    season: int
    entries: tuple[tuple[str, int], ...]
    starts: tuple[int, ...]
    """The number that the first episode of each entry has at TMDB."""
    before: int = 0

    def numbers(self) -> list[EntryNumbers]:
        entries = tuple(
            ShowEntry(key=key, tmdb_season=self.season, begins=date.fromisoformat(begins), episode_count=count)
            for key, (begins, count) in enumerate(self.entries)
        )
        # In which order they are known makes no difference.
        spans = tmdb_spans(TmdbShow(entries=entries[::-1]))
        found, before = [], self.before
        for key, (_, count) in enumerate(self.entries):
            found.append(EntryNumbers(season=key + 1, tmdb=spans[key], before=before))
            before += count
        return found


SHOWS = [
    # Cours of one season.
    Show("Shingeki no Kyojin 3", 3, (("2018-07-22", 12), ("2019-04-28", 10)), (1, 13), 37),
    Show("Shingeki no Kyojin The Final Season", 4, (("2020-12-06", 16), ("2022-01-09", 12)), (1, 17), 59),
    Show("JoJo Stardust Crusaders", 2, (("2014-04-04", 24), ("2015-01-09", 24)), (1, 25), 26),
    Show("JoJo Stone Ocean", 5, (("2022-01-07", 12), ("2022-10-07", 12), ("2023-01-06", 14)), (1, 13, 25), 152),
    Show("Shokugeki no Souma San no Sara", 3, (("2017-10-03", 12), ("2018-04-08", 12)), (1, 13), 37),
    Show("SAO War of Underworld", 4, (("2019-10-12", 12), ("2020-07-11", 11)), (1, 13), 73),
    Show("Haikyuu To the Top", 4, (("2020-01-10", 13), ("2020-10-02", 12)), (1, 14), 60),
    Show("Tensei Slime 2", 2, (("2021-01-12", 12), ("2021-07-06", 12)), (1, 13), 24),
    Show("Idolish7 Third Beat", 3, (("2021-07-04", 13), ("2022-10-02", 17)), (1, 14), 32),
    Show("Hataraku Maou-sama 2", 2, (("2022-07-14", 12), ("2023-07-13", 12)), (1, 13), 13),
    Show("DanMachi IV", 4, (("2022-07-08", 11), ("2023-01-05", 11)), (1, 12), 37),
    Show("Bleach Sennen Kessen", 2, (("2022-10-10", 13), ("2023-07-08", 13), ("2024-10-05", 14)), (1, 14, 27), 366),
    Show("Maou Gakuin II", 2, (("2023-01-07", 12), ("2024-04-12", 12)), (1, 13), 13),
    Show("Mahoutsukai no Yome 2", 2, (("2023-04-06", 12), ("2023-10-05", 12)), (1, 13), 24),
    Show("Dr. Stone New World", 3, (("2023-04-06", 11), ("2023-10-12", 11)), (1, 12), 35),
    Show("Dr. Stone Science Future", 4, (("2025-01-09", 12), ("2025-07-10", 12)), (1, 13), 57),
    Show("Mushoku Tensei II", 2, (("2023-07-02", 12), ("2024-04-07", 12)), (1, 13), 23),
    Show("Jibaku Shounen Hanako-kun 2", 2, (("2025-01-12", 12), ("2025-07-06", 12)), (1, 13), 12),
    Show("En'en no Shouboutai 3", 3, (("2025-04-04", 12), ("2026-01-09", 13)), (1, 13), 48),
    Show("Mushishi Zoku Shou", 2, (("2014-04-04", 10), ("2014-10-18", 10)), (1, 11), 26),
    Show("Hoozuki no Reitetsu 2", 2, (("2017-10-07", 13), ("2018-04-07", 13)), (1, 14), 13),
    Show("Souten no Ken Regenesis", 2, (("2018-04-09", 12), ("2018-10-08", 12)), (1, 13), 26),
    Show("Kinnikuman II Sei Ultimate Muscle", 3, (("2004-04-07", 13), ("2006-01-04", 13)), (1, 14), 51),
    Show("Spy x Family", 1, (("2022-04-09", 12), ("2022-10-01", 13)), (1, 13)),
    Show("Dead Mount Death Play", 1, (("2023-04-11", 12), ("2023-10-10", 12)), (1, 13)),
    Show("Sugar Apple Fairy Tale", 1, (("2023-01-06", 12), ("2023-07-07", 12)), (1, 13)),
    Show("Cardfight Vanguard overDress", 1, (("2021-04-03", 12), ("2021-10-05", 13)), (1, 13)),
    # Seasons that are one at TMDB.
    Show("Tokyo Revengers", 1, (("2021-04-11", 24), ("2023-01-08", 13), ("2023-10-04", 13)), (1, 25, 38)),
    Show(
        "Re Zero", 1, (("2016-04-04", 25), ("2020-07-08", 13), ("2021-01-06", 12), ("2024-10-02", 16)), (1, 26, 39, 51)
    ),
    # Seasons of their own, whose releases often count on.
    Show("Boku no Hero Academia 5", 5, (("2021-03-27", 25),), (1,), 88),
    Show("Boku no Hero Academia 7", 7, (("2024-05-04", 21),), (1,), 138),
    Show("Goblin Slayer II", 2, (("2023-10-06", 12),), (1,), 12),
    Show("Vinland Saga 2", 2, (("2023-01-10", 24),), (1,), 24),
    Show("Kage no Jitsuryokusha 2", 2, (("2023-10-04", 12),), (1,), 20),
    Show("Golden Kamuy 4", 4, (("2022-10-03", 13),), (1,), 36),
    Show("Yowamushi Pedal Limit Break", 5, (("2022-10-09", 25),), (1,), 112),
    Show("Komi-san 2", 2, (("2022-04-07", 12),), (1,), 12),
    Show("Muv-Luv Alternative 2", 2, (("2022-10-06", 12),), (1,), 12),
    Show("Aggressive Retsuko 5", 5, (("2023-02-16", 10),), (1,), 40),
    Show("Isekai Maou Omega", 2, (("2021-04-09", 10),), (1,), 12),
    Show("Youjo Senki II", 2, (("2026-01-09", 12),), (1,), 12),
    Show("Beastars Final Season", 3, (("2024-12-05", 12),), (1,), 24),
    Show("Fumetsu no Anata e 3", 3, (("2025-10-04", 22),), (1,), 40),
]


def test_there_are_enough_shows() -> None:
    assert len(SHOWS) >= 40


@pytest.mark.parametrize("show", SHOWS, ids=lambda show: show.name)
def test_every_entry_begins_and_ends_where_it_does_at_tmdb(show: Show) -> None:
    for entry, (_, count), start in zip(show.numbers(), show.entries, show.starts, strict=True):
        first, last = number_episodes([1], TMDB, entry), number_episodes([count], TMDB, entry)
        assert first is not None
        assert last is not None
        assert (first.season, first.episodes) == (show.season, (start,))
        assert (last.season, last.episodes) == (show.season, (start + count - 1,))
        assert number_episodes([count + 1], TMDB, entry) is None


@pytest.mark.parametrize("show", SHOWS, ids=lambda show: show.name)
def test_a_release_that_counts_on_gets_the_number_of_tmdb(show: Show) -> None:
    for entry, (_, count), start in zip(show.numbers(), show.entries, show.starts, strict=True):
        if not entry.before:
            continue
        context = PlanContext(
            shows=(ShowContext(names=(show.name,), episodes=frozenset(range(1, count + 1)), numbers=entry),),
            naming=PRESETS[Preset.JELLYFIN],
        )
        listed = [ListedFile(f"[Kura] {show.name} - {entry.before + number:03}.mkv") for number in (1, count)]
        found = plan_files([one for one in listed if entry.before > count or one is listed[-1]], context)
        last = start + count - 1
        assert str(found.files[-1].target).endswith(f" S{show.season:02}E{last:02}.mkv")


def test_what_is_not_known_has_no_number() -> None:
    cours = (
        ShowEntry(key=1, tmdb_season=2, begins=date(2020, 1, 1)),
        ShowEntry(key=2, tmdb_season=2, begins=date(2020, 7, 1), episode_count=12),
    )
    assert tmdb_spans(TmdbShow(entries=cours)) == {1: (NumberSpan(1, None, 2, 1),)}
    undated = tuple(ShowEntry(key=key, tmdb_season=1, episode_count=12) for key in (1, 2))
    assert tmdb_spans(TmdbShow(entries=undated)) == {}
    assert tmdb_spans(TmdbShow(entries=(ShowEntry(key=1, tmdb_season=None),))) == {}
    assert number_episodes([1], TMDB, EntryNumbers()) is None
    assert number_episodes([1], ABSOLUTE, EntryNumbers(season=2)) is None


def test_an_entry_that_is_longer_than_its_season_goes_on_in_the_next_one() -> None:
    long = TmdbShow(entries=(ShowEntry(key=1, tmdb_season=1, episode_count=50),), season_counts={1: 26, 2: 20})
    entry = EntryNumbers(tmdb=tmdb_spans(long)[1])
    assert [number_episodes([one], TMDB, entry) is None for one in (26, 27, 46, 47)] == [False, False, False, True]
    found = number_episodes([27], TMDB, entry)
    assert found is not None
    assert (found.season, found.episodes) == (2, (1,))
    # One file over the end of a season has no name.
    assert number_episodes([26, 27], TMDB, entry) is None


def test_a_season_with_an_entry_of_its_own_takes_no_other() -> None:
    entries = (
        ShowEntry(key=1, tmdb_season=1, episode_count=24),
        ShowEntry(key=2, tmdb_season=2, episode_count=12),
    )
    spans = tmdb_spans(TmdbShow(entries=entries, season_counts={1: 12, 2: 12}))
    assert spans[1] == (NumberSpan(1, 12, 1, 1),)
    assert spans[2] == (NumberSpan(1, 12, 2, 1),)


def test_the_three_schemes() -> None:
    entry = EntryNumbers(season=2, before=12, tmdb=(NumberSpan(1, 12, 1, 13),))
    found = [number_episodes([3, 4], scheme, entry) for scheme in (ENTRY, TMDB, ABSOLUTE)]
    assert [(one.season, one.episodes, one.absolute) for one in found if one] == [
        (2, (3, 4), (15, 16)),
        (1, (15, 16), (15, 16)),
        (1, (15, 16), (15, 16)),
    ]


def test_specials_have_the_number_that_the_record_gives_them() -> None:
    entry = EntryNumbers(specials=(SpecialNumber("12.5", 3), SpecialNumber("OVA 1", 4)))
    assert [special_number(label, entry) for label in ("12.5", "ova 1", "SP 1")] == [3, 4, None]
