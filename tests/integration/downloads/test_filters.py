"""Filters decide which links are taken, and a change of them is seen before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.states import FilterReason
from kurabito.downloads.errors import DownloadConflict, FilterRuleNotFound
from kurabito.downloads.filters.model import Action, Fields, FilterRule, RuleScope, Target
from kurabito.errors import InvalidInput
from kurabito.reasons import Reason

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn


def release(number: int, *, group: str = "Kura", more: str = "[1080p]", hash_: int | None = None) -> tuple[str, str]:
    return (
        f"[{group}] Yoru no Kurabito - {number:02} {more}",
        f"magnet:?xt=urn:btih:{number if hash_ is None else hash_:040x}",
    )


def rule(action: Action, pattern: str | None = None, *, name: str = "a rule", **more: Any) -> FilterRule:
    return FilterRule(name=name, action=action, pattern=pattern, **more)


def excluding(pattern: str, **more: Any) -> FilterRule:
    return rule(Action.EXCLUDE, pattern, **more)


async def filtered(core: Core) -> list[tuple[Any, ...]]:
    return await core.told("SELECT is_filtered, filter_reason FROM anime_links ORDER BY id")


async def test_a_new_link_that_a_rule_excludes_is_not_downloaded_and_says_why(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.downloads.filters.add(excluding("720P", name="no small ones"))
    await core.downloads.filters.add(rule(Action.INCLUDE, r"\[Ku", name="only Ku", rule_order=5))
    await core.bring(release(1), release(2, more="[720p]"), release(3, group="Tōji"))
    await core.work()
    assert await filtered(core) == [(0, None), (1, "excluded by no small ones"), (1, "not included by only Ku")]
    assert a.added == [f"{1:040x}"]


async def test_a_rule_that_is_added_cancels_and_one_that_goes_fetches(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(release(1), release(2, more="[720p]"), release(3, more="[720p]"))
    await core.work()
    a.say(f"{3:040x}", "completed")
    await core.poll()
    draft = excluding("720p", name="no small ones")
    effect = await core.downloads.filters.preview(draft)
    assert [(one.link_id, one.download_id, one.reason) for one in effect.excluded] == [
        (2, 2, Reason(FilterReason.EXCLUDED, {"rule": "no small ones"}))
    ]
    assert await core.statuses() == ["downloading", "downloading", "completed"]
    stored = await core.downloads.filters.add(draft)
    assert await core.statuses() == ["downloading", "cancelled", "completed"]
    assert await filtered(core) == [(0, None), (1, "excluded by no small ones"), (0, None)]
    await core.work()
    assert set(a.has) == {f"{1:040x}", f"{3:040x}"}
    with pytest.raises(DownloadConflict):
        await core.downloads.downloads.retry(2)

    assert stored.id is not None
    back = await core.downloads.filters.preview(None, stored.id)
    assert (back.choice.dispatch, [one.id for one in back.freed], back.excluded) == ([2], [2], ())
    a.asked.clear()
    await core.downloads.filters.remove(stored.id)
    await core.work()
    assert await core.statuses() == ["downloading", "cancelled", "completed", "downloading"]
    assert len(a.posts()) == 1
    with pytest.raises(FilterRuleNotFound):
        await core.downloads.filters.remove(stored.id)


async def test_a_rule_that_excludes_what_was_chosen_has_the_next_best_taken(core: Core, a: StandIn) -> None:
    await core.register(a)
    big, small = release(1, more="[1080p]"), release(1, more="[720p]", hash_=9)
    await core.bring(big, small, release(2))
    await core.work()
    assert set(a.has) == {f"{1:040x}", f"{2:040x}"}
    draft = excluding(r"01 \[1080p")
    effect = await core.downloads.filters.preview(draft)
    assert ([one.link_id for one in effect.excluded], [one.id for one in effect.next_best]) == ([1], [2])
    assert (effect.choice.dispatch, effect.freed) == ([2], ())
    await core.downloads.filters.add(draft)
    await core.work()
    assert set(a.has) == {f"{9:040x}", f"{2:040x}"}


async def test_a_change_that_changes_no_decision_does_nothing(core: Core, a: StandIn) -> None:
    await core.register(a)
    await core.bring(release(1), release(2, more="[720p]"))
    await core.work()
    stored = await core.downloads.filters.add(excluding("720p"))
    await core.work()
    a.asked.clear()
    assert stored.id is not None
    await core.downloads.filters.change(stored.id, excluding(r"\[720"))
    await core.work()
    assert not a.asked
    assert await core.statuses() == ["downloading", "cancelled"]


async def test_every_state_but_completed_is_cancelled(core: Core, a: StandIn) -> None:
    await core.register(a)
    states = ("pending", "downloading", "completed", "failed", "cancelled", "downloader_error", "no_downloader")
    await core.bring(*[release(number) for number in range(1, 8)])
    await core.work()
    for number, state in enumerate(states, 1):
        await core.run("UPDATE downloads SET status = :state WHERE id = :id", state=state, id=number)
    await core.downloads.filters.add(excluding("Yoru"))
    assert await core.statuses() == [state if state == "completed" else "cancelled" for state in states]


async def test_a_filter_that_is_flipped_while_downloads_finish_neither_loses_nor_doubles(
    core: Core, a: StandIn
) -> None:
    await core.register(a)
    await core.bring(release(1), release(2))
    await core.work()
    for finished in (None, f"{1:040x}", f"{2:040x}"):
        stored = await core.downloads.filters.add(excluding("Yoru"))
        assert stored.id is not None
        await core.downloads.filters.remove(stored.id)
        # The dispatch of the way back and the clearing of the way there come in any order.
        await core.work()
        if finished:
            a.say(finished, "completed")
        await core.poll()
        await core.poll()
        await core.work()
    statuses = await core.all(
        "SELECT link_id, count(*) FROM downloads WHERE status = 'completed' GROUP BY link_id ORDER BY link_id"
    )
    assert statuses == [(1, 1), (2, 1)]
    assert await core.episodes() == ["have", "have"]
    assert await core.all("SELECT count(*) FROM downloads WHERE status NOT IN ('completed', 'cancelled')") == [(0,)]


async def test_only_what_a_rule_is_about_is_judged(core: Core) -> None:
    first = await core.subscribe()
    await core.bring(release(1), subscription_id=first)
    second = await core.subscribe()
    other = ("[Tōji] Asa no Kurabito - 01 [1080p]", f"magnet:?xt=urn:btih:{9:040x}")
    await core.bring(other, subscription_id=second)
    (module_id,) = [
        row[0]
        for row in await core.queue.database.write(
            lambda conn: conn.all(
                "INSERT INTO service_modules (service_type, service_name, host, port, instance_id, token, registered_at, "
                "last_seen_at) VALUES ('fetcher', 'F', 'h', 1, 'i', 't', 0, 0) RETURNING module_id"
            )
        )
    ]
    await core.run("UPDATE subscriptions SET module_id = :id WHERE id = :second", id=module_id, second=second)
    for target, ids in {
        Target.SERIES: (1, 2),
        Target.GROUP: (1, 2),
        Target.SUBSCRIPTION: (first, second),
        Target.FETCHER: (None, module_id),
    }.items():
        stored = await core.downloads.filters.add(excluding("Kurabito", scope=RuleScope(target, ids[0])))
        assert [is_filtered for is_filtered, _ in await filtered(core)] == [1, 0], target
        # A rule that moves is taken back where it was.
        assert stored.id is not None
        await core.downloads.filters.change(stored.id, excluding("Kurabito", scope=RuleScope(target, ids[1])))
        assert [is_filtered for is_filtered, _ in await filtered(core)] == [0, 1], target
        await core.downloads.filters.remove(stored.id)


async def test_rules_of_other_scopes_still_count_for_what_is_judged_again(core: Core) -> None:
    await core.bring(release(1))
    everywhere = await core.downloads.filters.add(excluding("Yoru", name="global"))
    of_series = await core.downloads.filters.add(excluding("Yoru", name="series", scope=RuleScope(Target.SERIES, 1)))
    assert everywhere.id is not None
    assert of_series.id is not None
    await core.downloads.filters.remove(of_series.id)
    assert await filtered(core) == [(1, "excluded by global")]


@pytest.mark.parametrize("pattern", ["(", r"(?=ahead)", r"(a)\1", "a" * 1001, "(a{1000}){1000}"])
def test_a_pattern_that_cannot_be_matched_in_bounded_time_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        excluding(pattern)


FIELDS: tuple[tuple[Fields, list[int]], ...] = (
    (Fields(groups=("KURA",)), [1]),
    (Fields(resolutions=(720, 480)), [2]),
    (Fields(title="yoru No"), [1, 2, 3]),
    (Fields(min_size=1), []),
    (Fields(max_size=10), []),
    (Fields(sources=("web-dl",)), [2]),
    (Fields(languages=("zh-hans",)), []),
    (Fields(groups=("Kura", "Tōji"), resolutions=(720,)), [2]),
)


async def test_fields_match_what_is_known_and_what_is_unknown_matches_nothing(core: Core) -> None:
    await core.bring(
        release(1), release(2, group="Tōji", more="[WEB-DL 720p]"), ("Yoru no Kurabito - 03", release(3)[1])
    )
    for fields, matches in FIELDS:
        effect = await core.downloads.filters.preview(rule(Action.EXCLUDE, fields=fields))
        assert [one.link_id for one in effect.excluded] == matches, fields
        # What an include does not find is left out, whatever the reason.
        effect = await core.downloads.filters.preview(rule(Action.INCLUDE, fields=fields))
        assert [one.link_id for one in effect.excluded] == [one for one in (1, 2, 3) if one not in matches], fields


async def test_a_rule_needs_something_to_match_and_a_target_of_its_kind() -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        rule(Action.EXCLUDE)
    with pytest.raises(InvalidInput, match="target_id"):
        excluding("x", scope=RuleScope(Target.SERIES))
    with pytest.raises(InvalidInput, match="target_id"):
        excluding("x", scope=RuleScope(Target.GLOBAL, 1))


async def test_a_rule_that_is_off_decides_nothing_and_case_counts_where_it_says_so(core: Core) -> None:
    await core.bring(release(1))
    for draft, hit in (
        (excluding("yoru", is_enabled=False), False),
        (excluding("(?-i)yoru"), False),
        (excluding("yoru"), True),
    ):
        assert bool((await core.downloads.filters.preview(draft)).excluded) is hit
