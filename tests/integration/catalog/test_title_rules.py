"""A user's rules come first, and help what could not be read before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.catalog.errors import TitleRuleConflict, TitleRuleNotFound
from kurabito.catalog.rules import checked
from kurabito.errors import InvalidInput
from kurabito.feeds.results import FeedItem

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

NAMELESS = FeedItem(title="[720p][07]", download_url="https://feeds.example/7.torrent")
BROKEN = FeedItem(title="[720p][08]", download_url=None)
RULE = checked(name="nameless", condition=r"^\[720p\]", parse=r"\[(?P<episodes>\d+)\]$", fields={"title": "The Cellar"})


async def test_a_new_rule_makes_links_of_what_could_not_be_read(desk: Desk) -> None:
    feed = desk.subscribe()
    receipt = await desk.bring(feed, NAMELESS, BROKEN)
    assert (receipt.items_parsed, receipt.items_failed) == (0, 2)
    assert [one.title for one in await desk.rules.preview(RULE)] == ["[720p][07]"]

    await desk.rules.add(RULE)
    assert desk.all("SELECT status, reason FROM raw_anime_items ORDER BY title") == [
        ("parsed", None),
        ("failed", "no_url"),
    ]
    found = desk.all(
        "SELECT series.title, episode.number, link.release_key = item.release_key FROM anime_links AS link "
        "JOIN series ON series.id = link.series_id JOIN episodes AS episode ON episode.id = link.episode_id "
        "JOIN raw_anime_items AS item ON item.id = link.raw_item_id"
    )
    assert [(title, number, bool(same)) for title, number, same in found] == [("The Cellar", 7.0, True)]
    assert len(desk.taken.ids) == 1
    # Nothing is left to help, and nothing is made twice.
    assert await desk.intake.read_again() == 0
    assert (await desk.bring(feed, NAMELESS, BROKEN)).items_parsed == 1


async def test_the_rule_of_the_larger_priority_is_tried_first_and_one_that_is_off_never(desk: Desk) -> None:
    feed = desk.subscribe()
    for name, priority, is_enabled in (("low", 10, True), ("high", 90, True), ("off", 99, False)):
        rule = checked(name=name, condition="Show", parse="Show", fields={"title": name}, priority=priority)
        await desk.rules.add(rule, is_enabled=is_enabled)
    await desk.bring(feed, FeedItem(title="[Kura] Show - 01", download_url="https://feeds.example/1.torrent"))
    assert desk.all("SELECT title FROM series") == [("high",)]
    assert [stored.rule.name for stored in await desk.rules.everything()] == ["off", "high", "low"]


async def test_a_rule_can_be_changed_and_taken_away(desk: Desk) -> None:
    stored = await desk.rules.add(RULE, is_enabled=False)
    await desk.bring(desk.subscribe(), NAMELESS)
    assert desk.all("SELECT status FROM raw_anime_items") == [("failed",)]
    changed = await desk.rules.change(stored.id, RULE)
    assert changed.is_enabled
    assert desk.all("SELECT status FROM raw_anime_items") == [("parsed",)]
    with pytest.raises(TitleRuleConflict, match="nameless"):
        await desk.rules.add(RULE)
    await desk.rules.remove(stored.id)
    for gone in (desk.rules.remove(stored.id), desk.rules.change(stored.id, RULE)):
        with pytest.raises(TitleRuleNotFound):
            await gone
    assert await desk.rules.everything() == []


async def test_a_preview_says_what_a_rule_would_do_and_does_nothing(desk: Desk) -> None:
    titles = ["[Kura] Show - 01", "[720p][09]"]
    first, second = await desk.rules.preview(RULE, titles)
    assert (first.before, first.after.rule) == (first.after, None)
    assert (second.before.title, second.after.title, second.after.episodes) == (None, "The Cellar", (9,))
    assert await desk.rules.everything() == []


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ("condition", {"condition": "(", "parse": "x", "fields": {"title": "x"}}),
        ("parse", {"condition": "x", "parse": r"(?=x)", "fields": {"title": "x"}}),
        ("fields.colour", {"condition": "x", "parse": "x", "fields": {"colour": "red"}}),
        ("fields.season", {"condition": "x", "parse": "x", "fields": {"season": "two"}}),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_by_the_name_of_its_part(part: str, rule: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(name="bad", **rule)  # type: ignore[arg-type]
    assert refused.value.field == part
