"""Targets: whatever a torrent, a feed, a record or a template contains, the path stays in its library and is legal."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kurabito.placements.errors import InvalidTemplate
from kurabito.placements.naming.numbering import EntryNumbers, NumberingScheme
from kurabito.placements.naming.presets import PRESETS, NamingSettings, Preset
from kurabito.placements.naming.safe_names import is_safe, twin_key
from kurabito.placements.naming.template import read_template
from kurabito.placements.naming.tokens import TOKENS, NameFacts
from kurabito.placements.plans import FilePlan, ListedFile, PlanContext, ShowContext, plan_files
from kurabito.placements.plans.model import FileAction

WORDS = st.sampled_from(
    [
        *"../ ..\\ / : ? * <> con NUL.x \x00 \u202e \ufeff \ud800 é e\u0301 長長長長長長長長長長 👨\u200d👩 .hidden trailing. S01E99".split()
    ]
)
TEXT = st.lists(st.one_of(WORDS, st.text(st.characters(exclude_categories=()), max_size=80)), max_size=4).map("".join)
MAYBE = st.one_of(st.none(), TEXT)
NUMBER = st.one_of(st.none(), st.integers(0, 10**12))
FACTS = st.builds(
    NameFacts,
    title=MAYBE,
    title_en=MAYBE,
    title_ja=MAYBE,
    title_zh=MAYBE,
    year=NUMBER,
    episode_title=MAYBE,
    tmdb_id=NUMBER,
    bgm_id=NUMBER,
)
PIECES = st.one_of(
    st.sampled_from([f"{{{token}}}" for token in TOKENS]),
    st.sampled_from(
        ["{season:02}", "{episode:03}", "< [{group}]>", "< ({year})>", "{{", "}}", "..", ". ", " ", "CON", "/", "<"]
    ),
    TEXT,
)
TEMPLATE = st.lists(PIECES, max_size=6).map("".join)
NAMES = st.one_of(
    st.builds(
        "{}/{} - {:02}{}.{}".format,
        TEXT,
        TEXT,
        st.integers(0, 30),
        TEXT,
        st.sampled_from(["mkv", "MP4", "ass", "sc.ass", "flac", "ttf"]),
    ),
    TEXT,
    TEXT.map(lambda text: f"{text}.mkv"),
)


def check(plan: FilePlan) -> None:
    targets = [file.target for file in plan.files if file.target is not None]
    assert all(file.target is not None for file in plan.files if file.action is FileAction.FILE)
    assert all(is_safe(target) for target in targets), targets
    assert len({twin_key(target) for target in targets}) == len(targets)


def readable(text: str) -> bool:
    try:
        read_template(text)
    except InvalidTemplate:
        return False
    return True


@given(st.lists(NAMES, max_size=6), st.sampled_from(list(Preset)))
def test_whatever_a_torrent_contains_its_targets_are_legal(names: list[str], preset: Preset) -> None:
    check(plan_files([ListedFile(name) for name in names], PlanContext(naming=PRESETS[preset])))


@given(st.lists(NAMES, max_size=4), FACTS, MAYBE, st.lists(TEMPLATE.filter(readable), min_size=5, max_size=5))
def test_whatever_a_record_and_a_template_contain_the_targets_are_legal(
    names: list[str], facts: NameFacts, title: str | None, templates: list[str]
) -> None:
    naming = NamingSettings(
        series_folder=templates[0],
        season_folder=templates[1],
        episode_file=templates[2],
        film_folder=templates[3],
        film_file=templates[4],
        numbering=NumberingScheme.ENTRY,
    )
    show = ShowContext(names=(title,) if title else (), facts=facts, numbers=EntryNumbers(before=0))
    listed = [ListedFile(name) for name in [*names, "x - 01.mkv", "x - 01.sc.ass", "x - 02-03.mkv", "x NCOP.mkv"]]
    for film in (False, True):
        check(plan_files(listed, PlanContext(shows=(replace(show, is_film=film),), naming=naming)))


def test_names_that_no_system_has_are_planned_in_bounded_time() -> None:
    """Each would take minutes if a pattern went over all of it again from every place."""
    for piece in ("a", "[", " - ", "1", ".chs", "a/", "S01E01", "第", "&"):
        check(plan_files([ListedFile(f"{piece * 50_000}{ending}") for ending in (" - 01.mkv", " - 01.ass", ".mkv")]))


def test_subtitles_of_extras_of_one_name_lie_beside_their_own() -> None:
    listed = ["Koji/Season 1/Koji S01E01.mkv", "Koji/Season 2/Koji S02E01.mkv"]
    for season in (1, 2):
        listed += [f"Koji/Season {season}/Extras/Gag Reel.{ending}" for ending in ("mkv", "en.srt")]
    found = {file.target for file in plan_files([ListedFile(path) for path in listed]).files}
    extras = {f"Koji/extras/Season {season} - Gag Reel.{end}" for season in (1, 2) for end in ("mkv", "en.srt")}
    assert extras < found


def test_a_year_that_is_a_word_of_the_name_is_not_written_again_behind_it() -> None:
    plan = plan_files([ListedFile("밤의 양조장 1988/밤의 양조장 1988.E01.1080p.mkv")])
    dated = plan_files([ListedFile("밤의 양조장 (2015)/밤의 양조장 1988.E01.1080p.mkv")])

    assert plan.files[0].target == "밤의 양조장 1988/Season 01/밤의 양조장 1988 S01E01.mkv"
    assert dated.files[0].target == "밤의 양조장 1988 (2015)/Season 01/밤의 양조장 1988 S01E01.mkv"
