"""The names of the Jellyfin preset, read back by an independent parser and by the expressions that Jellyfin documents."""

from __future__ import annotations

import re

import pytest
from guessit import guessit

from kurabito.placements.naming.numbering import NumberingScheme
from kurabito.placements.naming.presets import DEFAULT_NAMING
from kurabito.placements.naming.targets import episode_stem
from kurabito.placements.naming.tokens import NameFacts

TITLES = [
    "Yoru no Kurabito",
    "86",
    "91 Days",
    "Mob Psycho 100",
    "Ranma 1-2",
    "3-gatsu no Lion",
    "Kaguya-sama wa Kokurasetai - Ultra Romantic",
    "Re-Zero",
    "Steins;Gate 0",
    "Dr. Stone",
    "K-ON!!",
    "葬送的芙莉莲",
    "鬼滅の刃",
    "무빙",
    "Hibike! Euphonium 3",
    "2.43 Seiin Koukou Danshi Volley-bu",
    "Fate-stay night [Unlimited Blade Works]",
    "'Oshi no Ko'",
    "11eyes",
    "Kimetsu no Yaiba Season of Blades",
    "Log Horizon 2nd Season",
    "S.W.A.T.",
    "The 100",
    "24",
    "Gintama°",
    "Kono Oto Tomare! 2",
    "Nisekoi (False Love)",
    "D.Gray-man",
    "Idolmaster SideM",
    "Bang Dream! 2nd Season",
]
NUMBERS = [(1, (1,)), (1, (12,)), (2, (3, 4)), (0, (5,)), (1, (105,)), (1, (1071,)), (10, (1, 2, 3))]

SEASON_AND_EPISODE = re.compile(r"[Ss](\d+)[\[\] ._-]*[Ee](\d+)((?:-?[Ee]\d+)*)", re.ASCII)
SEASON_FOLDER = re.compile(r"Season (\d+)")
# The expressions that find a number where no season stands beside it.
BARE = [
    re.compile(r"[._ -][Ee][Pp]_?(\d+)", re.ASCII),
    re.compile(r"^[\w\s]+?\s(\d{1,4})(?:-\d{2,4})*[^x]*$"),
    re.compile(r"[._ \[(-](\d+)x(\d+)", re.ASCII),
    re.compile(r"[Ee]pisode (\d+)", re.ASCII),
    re.compile(r"(\d+)-(\d+)", re.ASCII),
    re.compile(r"^(\d{1,3})(?:-\d{2,3})*\s?[-.]", re.ASCII),
    re.compile(r" - (\d{1,3})(?:-\d{2,3})*", re.ASCII),
    re.compile(r"[._ -](\d+)(\d\d)[._ -]", re.ASCII),
]


def as_jellyfin_reads(path: str) -> tuple[int, tuple[int, ...]] | None:
    """Season and episodes of a path, by the expressions in their order: the pair first, bare numbers after it."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    if found := SEASON_AND_EPISODE.search(name):
        ends = [int(found[2]), *map(int, re.findall(r"\d+", found[3]))]
        return int(found[1]), tuple(range(ends[0], ends[-1] + 1))
    folder = SEASON_FOLDER.search(path)
    bare = next(filter(None, (pattern.search(name) for pattern in BARE)), None)
    return (int(folder[1]) if folder else 1, (int(bare[1]),)) if bare else None


def target(title: str, season: int, episodes: tuple[int, ...]) -> str:
    facts = NameFacts(title=title, year=2020, tmdb_id=7, season=season, episode=episodes)
    return f"{episode_stem(DEFAULT_NAMING, facts)}.mkv"


@pytest.mark.parametrize("title", TITLES)
def test_guessit_reads_season_and_episodes_back(title: str) -> None:
    for season, episodes in NUMBERS:
        path = target(title, season, episodes)
        found = guessit(path.rpartition("/")[2], {"type": "episode"})
        read = found.get("episode")
        assert (found.get("season"), tuple(read) if isinstance(read, list) else (read,)) == (season, episodes), path


@pytest.mark.parametrize("title", TITLES)
def test_the_expressions_of_jellyfin_read_season_and_episodes_back(title: str) -> None:
    for season, episodes in NUMBERS:
        path = target(title, season, episodes)
        assert as_jellyfin_reads(path) == (season, episodes), path
        folder = SEASON_FOLDER.search(path)
        assert folder is not None
        assert int(folder[1]) == season


@pytest.mark.parametrize("label", ["12.5", "OVA", "OVA 2", "SP 11", "0", "Picture Drama 3", "特别篇"])
def test_a_special_without_a_number_is_not_read_as_an_episode(label: str) -> None:
    facts = NameFacts(title="Yoru no Kurabito", season=0, special=label)
    path = f"{episode_stem(DEFAULT_NAMING, facts)}.mkv"
    assert path.startswith("Yoru no Kurabito/Season 00/")
    assert as_jellyfin_reads(path) is None


def test_the_presets_of_servers_use_the_numbers_of_tmdb() -> None:
    assert DEFAULT_NAMING.numbering is NumberingScheme.TMDB
