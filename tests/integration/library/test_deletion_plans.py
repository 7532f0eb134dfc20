"""Plans: what would go is stored and shown before anything is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.errors import InvalidInput
from kurabito.library.deletion import plans as module
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepReason, KeepRule, KeepRules, Preference, ProtectedFolder
from kurabito.library.duplicates.groups import Duplicates
from kurabito.library.errors import DeletionNotAllowed, PlanApplied, PlanNotFound
from kurabito.protocol.deletion import DeleteMode

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

JOBS = "SELECT kind, status, dry_run, payload, total_items FROM jobs ORDER BY created_at, dry_run DESC"


@pytest.fixture
def plans(shelf: Shelf) -> DeletionPlans:
    return DeletionPlans(shelf.database, allowed=True)


async def test_a_plan_says_what_goes_what_stays_and_why(shelf: Shelf, plans: DeletionPlans) -> None:
    old, new = shelf.put("old", mtime=1), shelf.put("new", mtime=2)
    best = shelf.put("best/it", library=2, mtime=3)
    shelf.path("new again").hardlink_to(shelf.path("new"))
    again = shelf.know("new again")
    rules = KeepRules((Preference(KeepRule.OLDEST),), (ProtectedFolder(2, "best"),))
    made = await plans.make(rules, mode=DeleteMode.HARDLINK)
    assert (made.group_count, made.file_count, made.freed_bytes, made.is_complete) == (1, 3, 16, True)
    assert (made.mode, made.rules, made.applied_at, made.job_id) == (DeleteMode.HARDLINK, rules, None, None)
    page = await plans.steps(made.id)
    assert [(step.position, step.file_id, step.kept_file_id, step.reason) for step in page.items] == [
        (1, old, best, KeepReason.KEPT_IS_PROTECTED),
        (2, new, best, KeepReason.KEPT_IS_PROTECTED),
        (3, again, best, KeepReason.KEPT_IS_PROTECTED),
    ]
    assert (page.items[0].kept_library_id, page.items[0].kept_path) == (2, "best/it")
    assert await plans.get(made.id) == made
    # Only shown: no job was ordered.
    assert shelf.all(JOBS) == []


async def test_a_plan_can_be_about_some_groups_only(shelf: Shelf, plans: DeletionPlans) -> None:
    for content in (b"one", b"two", b"six"):
        shelf.put(f"{content!r} a", content)
        shelf.put(f"{content!r} b", content)
    groups = (await Duplicates(shelf.database).groups()).items
    key = str(groups[1].key)
    made = await plans.make(KeepRules(), group_keys=[key, key, "blake3:" + "0" * 64])
    assert (made.group_count, made.file_count) == (1, 1)
    with pytest.raises(InvalidInput, match=r"^group_keys: "):
        await plans.make(KeepRules(), group_keys=["nonsense"])


async def test_a_plan_takes_so_many_groups_and_says_when_there_are_more(
    shelf: Shelf, plans: DeletionPlans, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        shelf.put(f"a{number}", str(number).encode())
        shelf.put(f"b{number}", str(number).encode())
    monkeypatch.setattr(module, "MAX_GROUPS", 2)
    made = await plans.make(KeepRules())
    assert (made.group_count, made.is_complete) == (2, False)
    monkeypatch.setattr(module, "MAX_GROUPS", 3)
    made = await plans.make(KeepRules())
    assert (made.group_count, made.is_complete) == (3, True)
    monkeypatch.setattr(module, "MAX_STEPS", 3)
    made = await plans.make(KeepRules())
    assert (made.group_count, made.is_complete) == (2, False)


async def test_hard_links_to_one_file_are_no_reason_for_a_plan(shelf: Shelf, plans: DeletionPlans) -> None:
    shelf.put("a")
    shelf.path("b").hardlink_to(shelf.path("a"))
    shelf.know("b")
    assert (await plans.make(KeepRules())).file_count == 0


async def test_a_dry_run_is_what_applying_does_unless_told_otherwise(shelf: Shelf, plans: DeletionPlans) -> None:
    shelf.put("a")
    shelf.put("b")
    made = await plans.make(KeepRules())
    for _ in range(2):
        assert (await plans.apply(made.id)).applied_at is None
    applied = await plans.apply(made.id, dry_run=False, confirm=True)
    assert applied.applied_at is not None
    payload = f'{{"plan": {made.id}}}'
    assert shelf.all(JOBS) == [("delete", "pending", dry_run, payload, 1) for dry_run in (1, 1, 0)]
    for dry_run in (True, False):
        with pytest.raises(PlanApplied):
            await plans.apply(made.id, dry_run=dry_run, confirm=True)
    assert len(shelf.all(JOBS)) == 3


async def test_nothing_is_applied_without_the_setting_and_a_confirmation(shelf: Shelf, plans: DeletionPlans) -> None:
    shelf.put("a")
    shelf.put("b")
    made = await plans.make(KeepRules())
    with pytest.raises(InvalidInput, match=r"^confirm: "):
        await plans.apply(made.id, dry_run=False)
    careful = DeletionPlans(shelf.database, allowed=False)
    with pytest.raises(DeletionNotAllowed, match="KURABITO_ALLOW_DELETE"):
        await careful.apply(made.id, dry_run=False, confirm=True)
    assert shelf.all(JOBS) == []
    # To look does no harm.
    await careful.apply(made.id)


async def test_a_step_that_became_stale_is_shown_before_it_is_refused(shelf: Shelf, plans: DeletionPlans) -> None:
    for number in range(4):
        shelf.put(f"{number}", mtime=number + 1)
    made = await plans.make(KeepRules())
    shelf.run("UPDATE library_files SET mtime_ns = 7 WHERE relative_path = '1'")
    shelf.run("DELETE FROM library_files WHERE relative_path = '2'")
    assert [step.is_stale for step in (await plans.steps(made.id)).items] == [True, True, False]
    shelf.run("UPDATE library_files SET needs_hash = 1 WHERE relative_path = '0'")
    assert [step.is_stale for step in (await plans.steps(made.id)).items] == [True, True, True]


async def test_steps_come_page_by_page(shelf: Shelf, plans: DeletionPlans) -> None:
    for number in range(5):
        shelf.put(f"{number}", mtime=number)
    made = await plans.make(KeepRules())
    first = await plans.steps(made.id, limit=3)
    assert ([step.position for step in first.items], first.next_cursor) == ([1, 2, 3], "3")
    rest = await plans.steps(made.id, limit=3, cursor=first.next_cursor)
    assert ([step.position for step in rest.items], rest.next_cursor) == ([4], None)
    for cursor in ("x", "-1", "9" * 10):
        with pytest.raises(InvalidInput, match=r"^cursor: "):
            await plans.steps(made.id, cursor=cursor)


async def test_a_plan_that_is_not_there_is_said_not_to_be(plans: DeletionPlans) -> None:
    for ask in (plans.get, plans.apply):
        with pytest.raises(PlanNotFound):
            await ask(4711)


@pytest.mark.parametrize(
    ("rules", "field", "named"),
    [
        (KeepRules(protected=(ProtectedFolder(2, "bset"),)), "protected", "'bset'"),
        (KeepRules(protected=(ProtectedFolder(2, "best"), ProtectedFolder(2, "best/it"))), "protected", "'best/it'"),
        (KeepRules(protected=(ProtectedFolder(2, "gone"),)), "protected", "'gone'"),
        (KeepRules(protected=(ProtectedFolder(4711),)), "protected", "library 4711"),
        (KeepRules((Preference(KeepRule.IN_LIBRARY, 4711),)), "keep", "library 4711"),
    ],
)
async def test_a_rule_that_holds_for_nothing_is_named(
    shelf: Shelf, plans: DeletionPlans, rules: KeepRules, field: str, named: str
) -> None:
    shelf.put("old", mtime=1)
    shelf.put("best/it", library=2, mtime=2)
    shelf.put("gone/it", library=2, mtime=3)
    shelf.run("UPDATE library_files SET is_missing = 1 WHERE relative_path = 'gone/it'")
    with pytest.raises(InvalidInput, match=rf"^{field}: .*{named}"):
        await plans.make(rules)
    assert shelf.all("SELECT id FROM deletion_plans") == []
