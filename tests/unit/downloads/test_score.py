"""What a release is worth, part by part, and what is not wanted at all."""

from __future__ import annotations

from typing import Any

import pytest

from kurabito.downloads.choice import ChoiceReason, CurrentDownload, ReleaseOption, ReleasePreferences, choose
from kurabito.downloads.profiles.model import check
from kurabito.downloads.profiles.score import ScoreName, ScorePart, UnwantedReason, score, steps, unwanted
from kurabito.downloads.states import Status
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import Batches, Preferences, Term
from kurabito.titles import ReleaseKind

TITLE = "[Kura] Yoru no Kurabito - 07 [1080p][HEVC][FLAC]"


def release(**fields: Any) -> ReleaseOption:
    known = {
        "group": "kura", "version": 1, "resolution": 1080, "source": "web", "languages": ("zh-Hans",), "title": TITLE,
    }  # fmt: skip
    return ReleaseOption(1, "release", 1, **{**known, **fields})


def test_a_score_is_the_sum_of_its_parts() -> None:
    liked = Preferences(
        groups=("Kura", "Bito"), resolutions=(1080, 720), codecs=("HEVC",), terms=(Term("flac", 7), Term("hard.?sub", -90, True)),
    )  # fmt: skip
    worth = score(release(), liked)
    each = steps(liked)
    assert worth.parts == (
        ScorePart(ScoreName.GROUP, 2 * each[ScoreName.GROUP], "kura"),
        ScorePart(ScoreName.RESOLUTION, 2 * each[ScoreName.RESOLUTION], "1080p"),
        ScorePart(ScoreName.CODEC, each[ScoreName.CODEC], "h.265"),
        ScorePart(ScoreName.TERM, 7, "flac"),
    )
    assert worth.total == sum(part.points for part in worth.parts)
    hard = score(release(title=TITLE + " HardSub"), liked)
    assert hard.total == worth.total - 90


def test_a_list_outweighs_all_those_below_it() -> None:
    liked = Preferences(
        groups=("a", "b"), languages=("en", "ja"), resolutions=(2160, 1080), sources=("bd",), codecs=("av1",)
    )
    first = release(group="a", languages=(), resolution=None, source=None)
    best_of_the_rest = release(
        group="b", languages=("en",), resolution=2160, source="bd", version=9, title=TITLE.replace("HEVC", "AV1")
    )
    assert score(first, liked).total > score(best_of_the_rest, liked).total


def test_a_term_is_a_word_and_no_part_of_one() -> None:
    liked = Preferences(terms=(Term("FLA", 5), Term("07", 3)))
    assert [part.what for part in score(release(), liked).parts if part.name is ScoreName.TERM] == ["07"]


MB_A_MINUTE = 24 * 1_000_000


@pytest.mark.parametrize(
    ("fields", "liked", "episodes", "expected"),
    [
        ({}, {}, 1, None),
        ({"size_bytes": 10 * MB_A_MINUTE}, {"least_mb": 5, "most_mb": 20}, 1, None),
        ({"size_bytes": None}, {"least_mb": 5, "most_mb": 20}, 1, None),
        ({"size_bytes": 2 * MB_A_MINUTE}, {"least_mb": 5}, 1, UnwantedReason.TOO_SMALL),
        ({"size_bytes": 30 * MB_A_MINUTE}, {"most_mb": 20}, 1, UnwantedReason.TOO_LARGE),
        ({"size_bytes": 30 * MB_A_MINUTE}, {"most_mb": 20}, 12, None),
        ({"size_bytes": 30 * MB_A_MINUTE, "kind": ReleaseKind.MOVIE}, {"most_mb": 20}, 1, None),
        ({}, {"batches": Batches.SINGLE}, 12, UnwantedReason.BATCH),
        ({}, {"batches": Batches.BATCH}, 1, UnwantedReason.SINGLE),
        ({"kind": ReleaseKind.SPECIAL}, {"takes_specials": False}, 1, UnwantedReason.SPECIAL),
        ({"kind": ReleaseKind.MOVIE}, {"takes_specials": False}, 1, None),
        ({"number": 7.5}, {"takes_decimals": False}, 1, UnwantedReason.DECIMAL),
        ({"number": 7.0}, {"takes_decimals": False}, 1, None),
    ],
)
def test_what_is_not_wanted(
    fields: dict[str, Any], liked: dict[str, Any], episodes: int, expected: UnwantedReason | None
) -> None:
    why = unwanted(release(**fields), Preferences(**liked), episodes)
    assert (None if why is None else why.code) is expected


def test_what_is_not_wanted_is_not_chosen() -> None:
    liked = ReleasePreferences(preferred=Preferences(most_mb=20))
    large = release(size_bytes=30 * MB_A_MINUTE, preferences=liked)
    choice = choose([large], {}, frozenset())
    assert (choice.dispatch, choice.reasons) == ([], {1: ChoiceReason.UNWANTED})
    assert choice.unwanted[1].facts == {"mb": 30.0, "most": 20}
    small = release(size_bytes=10 * MB_A_MINUTE, preferences=liked)._replace(link_id=2, release_key="other")
    assert choose([large, small], {}, frozenset()).dispatch == [2]


def test_upgrades_stop_where_the_keeper_says() -> None:
    def chosen(stop_at: int | None) -> ChoiceReason:
        liked = ReleasePreferences(upgrade=True, preferred=Preferences(stop_at=stop_at))
        now = CurrentDownload(release(resolution=720, preferences=liked), 9, Status.COMPLETED)
        new = release(preferences=liked, group="other")._replace(link_id=2, release_key="other")
        return choose([new], {1: [now]}, frozenset({1})).reasons[1]

    has = score(release(resolution=720), Preferences()).total
    assert chosen(None) is ChoiceReason.UPGRADE
    assert chosen(has + 1) is ChoiceReason.UPGRADE
    assert chosen(has) is ChoiceReason.CURRENT_STAYS


def test_a_second_version_is_left_where_the_keeper_says() -> None:
    liked = ReleasePreferences(preferred=Preferences(takes_revisions=False))
    now = CurrentDownload(release(preferences=liked), 9, Status.COMPLETED)
    new = release(preferences=liked, version=2)._replace(link_id=2, release_key="other")
    assert choose([new], {1: [now]}, frozenset({1})).reasons[1] is ChoiceReason.CURRENT_STAYS


def test_preferences_are_stored_as_they_are() -> None:
    liked = Preferences(groups=("a",), terms=(Term("x", -3, True),), batches=Batches.BATCH, most_mb=2.5, stop_at=9)
    assert Preferences.read(liked.stored()) == liked
    # As earlier versions wrote them.
    assert Preferences.read('{"groups": ["a"], "languages": [], "resolutions": [720], "sources": []}') == Preferences(
        groups=("a",), resolutions=(720,)
    )


@pytest.mark.parametrize(
    ("liked", "field"),
    [
        ({"terms": (Term("(", 1, True),)}, "terms"),
        ({"terms": (Term(" ", 1),)}, "terms"),
        ({"terms": (Term("a", 10**9),)}, "terms"),
        ({"least_mb": 9.0, "most_mb": 3.0}, "most_mb"),
        ({"groups": tuple(map(str, range(101)))}, "groups"),
        ({"stop_at": 10**9}, "stop_at"),
    ],
)
def test_what_cannot_be_used_is_refused(liked: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(ReleasePreferences(preferred=Preferences(**liked)))
    assert refused.value.field == field
