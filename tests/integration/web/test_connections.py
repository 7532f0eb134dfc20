"""A real qBittorrent, connected by the form of the page."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from tests.integration.web.conftest import KEY, Opened, Site
from tests.support.eavesdroppers import eavesdropping
from tests.support.qbittorrent import PASSWORD, USER, running_qbittorrent

from kurabito.http.errors import UrlNotAllowed
from kurabito.settings import load

PATH = "/downloads/downloaders"


def problem_in(html: str) -> str:
    (found,) = re.findall(r'data-problem id="([\w-]+)"><span dir="auto">(.*?)</span></p>', html, re.DOTALL)
    return f"{found[0]}: {unescape(re.sub('<[^>]*>', '', found[1]))}"


async def test_a_client_is_tested_connected_changed_and_removed(url: str, tmp_path: Path, opened: Opened) -> None:
    settings = load(state=tmp_path / "state", database=url, api_key=KEY)
    settings.state.mkdir(mode=0o700)
    async with running_qbittorrent(tmp_path / "client") as at, opened(url, tmp_path, settings=settings) as site:
        form = {"client": "qbittorrent", "url": at, "username": USER, "name": "nas"}
        wrong = await site.post(PATH, **form, password="a guess")
        assert wrong.status_code == 422
        assert problem_in(wrong.text) == "password-problem: qBittorrent refused the user name or the password."
        away = await site.post(f"{PATH}-test", **(form | {"url": "http://127.0.0.1:9"}), password=PASSWORD)
        assert problem_in(away.text).startswith("url-problem: No qBittorrent responds at this address.")
        good = await site.post(f"{PATH}-test", **form, password=PASSWORD)
        assert "Connected: the client responded." in good.text
        assert "nas" not in [one.registration.service_name for one in (await site.feeds.services.page()).items]
        added = await site.post(PATH, **form, password=PASSWORD)
        assert added.status_code == 200
        assert PASSWORD not in added.text
        (service,) = (await site.feeds.services.page()).items
        assert service.registration.service_name == "nas"
        taken = await site.post(PATH, **form, password=PASSWORD)
        assert problem_in(taken.text).startswith("name-problem: Another downloader has this name.")
        await removed(site, service.id, at)


async def removed(site: Site, module_id: int, at: str) -> None:
    """An empty password is the stored one; what is switched off or removed stays so."""
    own = f"{PATH}/{module_id}"
    kept = await site.post(f"{own}/connection", client="qbittorrent", url=at, username=USER, password="")
    assert kept.status_code == 200
    tested = await site.post(f"{own}/connection/test", client="qbittorrent", url=at, username="stranger", password="")
    assert problem_in(tested.text).startswith("password-problem")
    # A form that was refused is unfolded; the others need no look.
    folded = f'<details class="further" id="settings-of-{module_id}"'
    assert f"{folded}>" in (await site.get(PATH)).text
    assert f"{folded} open>" in (await site.post(own, priority="a lot")).text
    await site.post(own, priority="50")
    assert "<dd>50</dd>" in (await site.get(PATH)).text
    assert not (await site.feeds.services.get(module_id)).is_enabled
    await site.post(f"{own}/remove")
    assert not (await site.feeds.services.page()).items


async def test_what_is_typed_is_checked_and_opens_no_door_for_feeds(site: Site) -> None:
    for field, typed, said in (
        ("url", "ftp://nas", "Enter an address"),
        ("url", "http://me:secret@nas:8080", "without a user and a password"),
        ("name", "../x", "Use letters"),
        ("name", "built-in", "reserved"),
        ("client", "embedded", "Choose one of the listed values"),
    ):
        form = {"client": "aria2", "url": "http://nas:6800", "name": "nas", field: typed}
        assert said in problem_in((await site.post(PATH, **form, untested="yes")).text), (field, typed)
    await site.post(PATH, client="aria2", url="http://127.0.0.1:6800", name="nas", untested="yes")
    assert len((await site.feeds.services.page()).items) == 1
    try:
        await site.feeds.previews.look("http://127.0.0.1:6800/rss")
    except UrlNotAllowed:
        pass
    else:
        raise AssertionError("a feed was fetched from a private address")


async def test_the_password_is_sent_to_no_other_address_than_its_own(site: Site) -> None:
    form = {"client": "qbittorrent", "username": "me", "untested": "yes"}
    await site.post(PATH, **form, url="http://127.0.0.1:9", name="nas", password="hunter2")
    (service,) = (await site.feeds.services.page()).items
    own = f"{PATH}/{service.id}/connection"
    async with eavesdropping() as other:
        for path in (f"{own}/test", own):
            answer = await site.post(path, **form, url=other.url, password="")
            assert answer.status_code == 422
            assert problem_in(answer.text).endswith("The password was given for another address. Enter it again.")
        assert not other.heard
        await site.post(f"{own}/test", **form, url=other.url, password="another")
        assert b"another" in other.heard
    assert (await site.post(own, **form, url="http://127.0.0.1:9/below", password="")).status_code == 200


async def test_an_address_that_leads_nowhere_is_refused_and_leaves_nothing_behind(site: Site) -> None:
    for typed in ("http://x:99999", "http://x:0", "http://a b", "http://.", "http://x..y", "http://" + "a" * 300):
        for untested in ("", "yes"):
            form = {"client": "aria2", "url": typed, "name": "nas", "untested": untested}
            answer = await site.post(PATH, **form)
            assert (answer.status_code, problem_in(answer.text)[:11]) == (422, "url-problem"), typed
        assert (await site.post(f"{PATH}-test", client="aria2", url=typed)).status_code == 422
    assert not (await site.feeds.services.page()).items
    added = await site.post(PATH, client="aria2", url="http://127.0.0.1:9", name="nas", untested="yes")
    assert (added.status_code, len((await site.feeds.services.page()).items)) == (200, 1)
