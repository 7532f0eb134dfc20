"""Notifications over the API: an address is written and never shown, and a test says what is wrong."""

from __future__ import annotations

from tests.integration.api.conftest import Site
from tests.support.destinations import taking_messages

from kurabito.runtime.sql.queue import SqlQueue

PATH = "/api/v1/notifications"
TITLE = "Kurabito\N{FULLWIDTH COLON}テスト"


async def test_a_destination_is_added_tested_changed_and_removed(site: Site) -> None:
    async with taking_messages() as server:
        order = {"kind": "webhook", "name": "Hook", "url": f"http://{server.host}/geheim", "kinds": ["failed", "disk"]}
        made = await site.http.post(PATH, json={**order, "quiet": {"begin": "22:00", "end": "07:00"}})
        assert made.status_code == 201, made.text
        found = made.json()
        assert (found["shown_url"], found["kinds"], found["health"]) == (
            f"http://{server.host}",
            ["disk", "failed"],
            "new",
        )
        assert (await site.http.post(PATH, json=order)).status_code == 409
        own = f"{PATH}/{found['id']}"
        assert (await site.http.post(f"{own}/test")).json()["is_good"] is True
        changed = await site.http.patch(own, json={"quiet": None, "language": "ja"})
        assert (changed.json()["quiet"], changed.json()["language"], changed.json()["kinds"]) == (
            None,
            "ja",
            ["disk", "failed"],
        )
        server.status = "500 Internal Server Error"
        failed = (await site.http.post(f"{own}/test")).json()
        assert (failed["is_good"], failed["error_code"], failed["destination"]["failures"]) == (False, "bad_status", 1)
        history = (await site.http.get(f"{own}/deliveries")).json()["items"]
        assert [(one["status"], one["title"]) for one in history] == [
            ("failed", TITLE),
            ("sent", "Kurabito: test"),
        ]
        attention = (await site.http.get("/api/v1/attention")).json()["items"]
        assert "notifications_failing" in [one["code"] for one in attention]
        assert all("geheim" not in reply.text for reply in (made, changed, await site.http.get(PATH)))
        assert (await site.http.delete(own)).status_code == 204
        assert (await site.http.get(f"{own}/deliveries")).status_code == 404


REFUSED = (
    ({"url": "nas"}, "url"),
    ({"kind": "apprise", "url": "syslog://"}, "url"),
    ({"kind": "apprise", "url": "ntfy://[topic"}, "url"),
    ({"url": "http://[nas/hook"}, "url"),
    ({"language": "fr"}, "language"),
    ({"quiet": {"begin": "22:00"}}, "quiet.end"),
    ({"name": " "}, "name"),
)


async def test_what_cannot_be_used_is_refused_by_its_field(site: Site) -> None:
    for change, field in REFUSED:
        reply = await site.http.post(PATH, json={"kind": "webhook", "name": "A", "url": "http://nas/hook", **change})
        error = reply.json()["error"]
        assert (reply.status_code, error["message"].partition(":")[0]) == (422, field)


async def test_an_address_that_an_earlier_version_took_keeps_nobody_from_the_others(site: Site) -> None:
    made = await site.http.post(PATH, json={"kind": "apprise", "name": "A", "url": "ntfy://topic"})
    broken = {"id": made.json()["id"], "url": "ntfy://[topic"}
    assert isinstance(site.queue, SqlQueue)
    await site.queue.database.write(
        lambda conn: conn.run("UPDATE notification_destinations SET url = :url WHERE id = :id", broken)
    )
    (shown,) = (await site.http.get(PATH)).json()["items"]
    assert shown["shown_url"] == "ntfy://…"
