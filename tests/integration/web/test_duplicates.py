"""*Duplicates* and *Trash*: a plan is made, shown, tried, applied and undone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kurabito.library.duplicates.groups import Duplicates

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.web.conftest import Opened, Site

SIZES = r"<b>([^<]+)</b><a href=\"/duplicates/groups/"


def tones(text: str) -> list[str]:
    return re.findall(r'class="entry step" id="step-\d+" data-tone="(\w+)"', text)


async def test_groups_are_shown_by_what_they_waste(shelf: Shelf, furnished: Site) -> None:
    assert "No duplicates" in (await furnished.get("/duplicates")).text
    for number in range(5):
        shelf.put(f"many small {number}", b"s" * 10)
    for number in range(2):
        shelf.put(f"few large {number}", b"l" * 3000, library=2)
    shelf.put("alone", b"a" * 9000)
    shelf.put("linked", b"h" * 500)
    shelf.path("link").hardlink_to(shelf.path("linked"))
    shelf.know("link")
    page = await furnished.get("/duplicates")
    assert re.findall(SIZES, page.text) == ["2.9 KiB", "40 B"]
    assert re.findall(r"<li><b>([^<]+)</b>", page.text) == ["3.0 KiB", "2"]
    assert "library 2" in page.text
    # Only some files of a group are shown with it; its own page has all.
    for number in range(5, 7):
        shelf.put(f"many small {number}", b"s" * 10)
    page = await furnished.get("/duplicates")
    assert "many small 6" not in page.text
    (group,) = set(re.findall(r'href="([^"]+)">1 more', page.text))
    page = await furnished.get(group)
    assert "many small 6" in page.text
    assert "Keeping one copy frees 60 B." in page.text
    linked = next(one for one in (await Duplicates(shelf.database).groups()).items if one.copies == 1)
    page = await furnished.get(f"/duplicates/groups/{linked.key}")
    assert "These are hard links to one file" in page.text
    assert "Create plan" not in page.text
    assert "no longer duplicates" in (await furnished.get("/duplicates/groups/blake3:" + 64 * "0")).text


async def test_a_plan_is_tried_applied_and_undone(shelf: Shelf, furnished: Site, plane: Callable[[], None]) -> None:
    for name, mtime in (("old", 1), ("middle", 2), ("new", 3)):
        shelf.put(name, mtime=mtime)
    plan = await furnished.post("/duplicates", keep="newest", mode="trash", scope="all")
    assert plan.url.path == "/duplicates/plans/1"
    assert "The other copy is newer." in plan.text
    assert tones(plan.text) == ["off", "off"]

    trying = await furnished.post("/duplicates/plans/1/check")
    assert 'data-every="1"' in trying.text
    assert "/duplicates/plans/1/apply" not in trying.text
    plane()
    tried = await furnished.get("/duplicates/plans/1")
    assert "2 possible, 0 would be refused." in tried.text
    assert tones(tried.text) == ["waiting", "waiting"]
    assert 'data-every="1"' not in tried.text

    # A button alone is no confirmation.
    assert (await furnished.post("/duplicates/plans/1/apply")).status_code == 422
    shelf.path("middle").write_bytes(b"not the same any more")
    await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    plane()
    applied = await furnished.get("/duplicates/plans/1")
    assert "1 done, 1 refused." in applied.text
    assert sorted(tones(applied.text)) == ["bad", "good"]
    assert "The file changed after the plan was created. Scan again and create a new plan." in applied.text
    assert not shelf.path("old").exists()
    again = await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    assert (again.status_code, "The plan was already applied" in again.text) == (409, True)
    assert "Plan 1" in (await furnished.get("/duplicates")).text

    trash = await furnished.get("/trash")
    (restore,) = re.findall(r'action="(/trash/\w+/restore)"', trash.text)
    shelf.path("old").write_bytes(b"in the way")
    leaving = await furnished.post(restore)
    assert "Restoring" in leaving.text
    assert 'data-every="1"' in leaving.text
    assert (await furnished.post(restore)).status_code == 409
    plane()
    refused = await furnished.get("/trash")
    assert "Another file is in its original place. Move that one first." in refused.text
    shelf.path("old").unlink()
    await furnished.post(restore)
    plane()
    assert "The trash is empty." in (await furnished.get("/trash")).text
    assert shelf.path("old").read_bytes() == b"the same"


async def test_a_plan_keeps_to_the_chosen_groups_and_away_from_protected_folders(shelf: Shelf, furnished: Site) -> None:
    for content in (b"one", b"two", b"six"):
        shelf.put(f"{content.decode()} a", content, mtime=1)
        shelf.put(f"best/{content.decode()} b", content, mtime=2)
    keys = [str(group.key) for group in (await Duplicates(shelf.database).groups()).items]
    best = str(shelf.path("best"))
    plan = await furnished.post("/duplicates", scope="chosen", group=keys[:2], protected=f"{best}\n\n", mode="hardlink")
    assert len(tones(plan.text)) == 2
    assert plan.text.count("The other copy is in a protected folder.") == 2
    assert "Replace with hard links" in plan.text
    plan = await furnished.post("/duplicates", keep="in_library:2", protected=str(shelf.path("")))
    assert "Nothing to remove" in plan.text

    for fields, says in (
        ({"scope": "chosen"}, "No group was chosen"),
        ({"scope": "chosen", "group": "nonsense"}, "These groups cannot be used"),
        ({"protected": "/elsewhere"}, "<bdi>/elsewhere</bdi> is in no library"),
        ({"protected": f"{best}er"}, "bester</bdi>, so nothing would be protected"),
        ({"protected": f"{best}/../../x"}, "is in no library"),
        ({"keep": "prettiest"}, "This rule cannot be used"),
        ({"keep": "in_library:"}, "This rule cannot be used"),
        ({"mode": "shred"}, "Choose one of the listed values"),
    ):
        page = await furnished.post("/duplicates", **fields)
        assert (page.status_code, says in page.text) == (422, True), says
        assert f"{fields.get('protected', '')}</textarea>" in page.text


async def test_the_copy_that_was_clicked_stays_and_exactly_the_ticked_groups_are_planned(
    shelf: Shelf, furnished: Site, plane: Callable[[], None]
) -> None:
    for content in (b"one", b"two"):
        for number, name in enumerate(("old", "new", "newer")):
            shelf.put(f"{content.decode()} {name}", content, mtime=number + 1)
    page = (await furnished.get("/duplicates", keep="newest")).text
    # The rule is only the default: its copy comes first, is chosen, and is sent empty.
    groups = re.findall(r'name="(stays-[^"]+)" value="" checked>.*?(one|two) newer', page, re.DOTALL)
    assert sorted(name for _, name in groups) == ["one", "two"]
    (one,) = [key.removeprefix("stays-") for key, name in groups if name == "one"]
    (old,) = re.findall(rf'name="stays-{one}" value="(\d+)">(?:(?!<label).)*?one old', page, re.DOTALL)
    fields = {"scope": "chosen", "group": one, "keep": "newest", f"stays-{one}": old}
    # What was clicked in a group that is not ticked changes nothing.
    others = {key: "999" for key, name in groups if name == "two"}
    plan = await furnished.post("/duplicates", **fields, **others)
    assert plan.text.count("You chose the other copy to stay.") == 2
    assert "Newest; 1 copy chosen by you" in await furnished.read(plan.url.path)
    await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    plane()
    left = [name for name in ("old", "new", "newer") if shelf.path(f"one {name}").exists()]
    assert (left, shelf.path("two old").exists()) == (["old"], True)

    # One click undoes it all.
    assert "2 files go back to their places." in await furnished.read("/duplicates/plans/1")
    undone = await furnished.post("/duplicates/plans/1/undo")
    assert undone.status_code == 200
    plane()
    assert all(shelf.path(f"one {name}").exists() for name in ("old", "new", "newer"))
    page = (await furnished.get("/duplicates/plans/1")).text
    assert "/undo" not in page
    assert "None of these files is in the trash any more" in page

    gone = await furnished.post("/duplicates", scope="chosen", group=one, **{f"stays-{one}": "999"})
    assert (gone.status_code, "Choose one of the listed values" in gone.text) == (422, True)


async def test_everything_in_the_trash_is_put_back(shelf: Shelf, furnished: Site, plane: Callable[[], None]) -> None:
    for number in range(3):
        shelf.put(f"a {number}", b"a", mtime=number)
        shelf.put(f"b {number}", b"b", mtime=number)
    await furnished.post("/duplicates", scope="all")
    await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    plane()
    shelf.path("a 1").write_bytes(b"in the way")
    ordered = await furnished.post("/api/v1/trash/restore")
    assert (ordered.status_code, ordered.json()["entries"]) == (202, 4)
    # They are on their way already.
    assert (await furnished.post("/api/v1/trash/restore")).json()["entries"] == 0
    plane()
    assert "Another file is in its original place" in (await furnished.get("/trash")).text
    assert [name for name in ("a 2", "b 1", "b 2") if not shelf.path(name).exists()] == []
    shelf.path("a 1").unlink()
    await furnished.post("/trash/restore")
    plane()
    assert "The trash is empty." in (await furnished.get("/trash")).text
    assert (await furnished.post("/api/v1/duplicates/plans/1/undo")).json() == {"entries": 0, "job_ids": []}
    assert (await furnished.post("/api/v1/duplicates/plans/9/undo")).status_code == 404


async def test_without_the_setting_nothing_can_be_applied_and_the_page_says_how_to_change_that(
    shelf: Shelf, url: str, tmp_path: Path, opened: Opened
) -> None:
    shelf.put("a")
    shelf.put("b")
    async with opened(url, tmp_path / "state", allow_delete=False) as site:
        plan = await site.post("/duplicates")
        assert "turn it on under Settings, Libraries" in plan.text
        assert 'action="/duplicates/plans/1/check"' in plan.text
        assert "/duplicates/plans/1/apply" not in plan.text
        forced = await site.post("/duplicates/plans/1/apply", confirm="yes")
        assert (forced.status_code, "Deletion is not allowed" in forced.text) == (403, True)
        assert "While “Allow deletion” is off" in (await site.get("/trash")).text


async def test_a_refused_restore_says_so_to_programs_too(
    shelf: Shelf, furnished: Site, plane: Callable[[], None]
) -> None:
    shelf.put("old", mtime=1)
    shelf.put("new", mtime=2)
    await furnished.post("/duplicates")
    await furnished.post("/duplicates/plans/1/apply", confirm="yes")
    plane()
    (entry,) = (await furnished.get("/api/v1/trash")).json()["items"]
    assert (entry["relative_path"], entry["is_leaving"], entry["refused"]) == ("new", False, None)
    shelf.path("new").write_bytes(b"in the way")
    job = (await furnished.post(f"/api/v1/trash/{entry['id']}/restore")).json()["job_id"]
    (leaving,) = (await furnished.get("/api/v1/trash")).json()["items"]
    assert leaving["is_leaving"]
    plane()
    shown = (await furnished.get(f"/api/v1/jobs/{job}")).json()
    assert (shown["status"], shown["error_code"]) == ("failed", "TARGET_EXISTS")
    (refused,) = (await furnished.get("/api/v1/trash")).json()["items"]
    assert (refused["is_leaving"], refused["refused"]["error_code"]) == (False, "TARGET_EXISTS")
    assert "move that one first" in refused["refused"]["error_message"]
    # Reset as it is, the job comes to the same end and does not call itself done.
    await furnished.post(f"/api/v1/jobs/{job}/reset")
    plane()
    assert (await furnished.get(f"/api/v1/jobs/{job}")).json()["status"] == "failed"


async def test_a_plan_that_waits_for_the_setting_says_so(
    shelf: Shelf, url: str, tmp_path: Path, opened: Opened
) -> None:
    shelf.put("a", mtime=1)
    shelf.put("b", mtime=2)
    async with opened(url, tmp_path / "state") as site:
        await site.post("/duplicates")
        await site.post("/duplicates/plans/1/apply", confirm="yes")
    shelf.allow_delete(False)
    async with opened(url, tmp_path / "state", allow_delete=False) as site:
        page = await site.read("/duplicates/plans/1")
        assert "On hold: nothing is removed while “Allow deletion” is off." in page
        (job,) = (await site.get("/api/v1/jobs")).json()["items"]
        assert (job["status"], job["may_run"]) == ("pending", False)
