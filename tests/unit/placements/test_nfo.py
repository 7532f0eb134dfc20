"""NFO files, read back by an XML parser."""

from __future__ import annotations

from datetime import date
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from kurabito.placements.naming.nfo import WorkFacts, episode_nfo, film_nfo, season_nfo, show_nfo

SHOW = WorkFacts(
    title="Yoru no Kurabito",
    original_title="夜の蔵人",
    summary="Rice & <water>",
    year=2024,
    aired=date(2024, 4, 1),
    ids={"tmdb": 5, "bangumi": 7, "anidb": 9},
)


def test_a_show_has_its_titles_ids_and_named_seasons() -> None:
    root = ElementTree.fromstring(show_nfo(SHOW, {2: "The Second Pressing"}))
    assert root.tag == "tvshow"
    assert [root.findtext(name) for name in ("title", "originaltitle", "plot", "year", "premiered")] == [
        "Yoru no Kurabito",
        "夜の蔵人",
        "Rice & <water>",
        "2024",
        "2024-04-01",
    ]
    ids = [(one.get("type"), one.text, one.get("default")) for one in root.findall("uniqueid")]
    assert ids == [("anidb", "9", None), ("bangumi", "7", None), ("tmdb", "5", "true")]
    (named,) = root.findall("namedseason")
    assert (named.get("number"), named.text) == ("2", "The Second Pressing")


def as_servers_cut(text: str) -> list[ElementTree.Element]:
    """Each description of a file with several episodes: Jellyfin parses what lies between two ends, as it is."""
    end = "</episodedetails>"
    return [ElementTree.fromstring(part + end) for part in text.split(end)[:-1]]


def test_a_season_an_episode_and_a_film() -> None:
    season = ElementTree.fromstring(season_nfo(SHOW, 2))
    assert (season.tag, season.findtext("seasonnumber")) == ("season", "2")
    film = ElementTree.fromstring(film_nfo(WorkFacts(title="Ikiru", ids={"bangumi": 3})))
    assert (film.tag, film.find("plot"), film.find("uniqueid[@default='true']") is not None) == ("movie", None, True)
    both = episode_nfo([(WorkFacts(title="One", aired=date(2024, 4, 1)), 1, 1), (WorkFacts(title="Two"), 1, 2)])
    first, second = as_servers_cut(both)
    assert (first.tag, first.findtext("season"), first.findtext("episode")) == ("episodedetails", "1", "1")
    assert (first.findtext("aired"), second.findtext("title"), second.findtext("episode")) == ("2024-04-01", "Two", "2")


@given(st.text(st.characters(exclude_categories=()), min_size=1))
def test_whatever_a_record_contains_the_text_is_xml(text: str) -> None:
    found = film_nfo(WorkFacts(title=text, summary=text))
    assert ElementTree.fromstring(found.encode()).tag == "movie"
