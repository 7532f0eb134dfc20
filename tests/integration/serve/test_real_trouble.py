"""Trouble that really happens is on *Home* and in the API when it is noticed, its button helps, and it goes when it is over."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import httpx2
import pytest
from tests.support.waiting import Until

from kurabito.demo.feeds import MadeUpEntry
from kurabito.demo.seeder import Seeder

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands, Served

KEY = "a key for the tests"
RELEASE = "[Kura] The Lantern - 01 [1080p].mkv"
TWICE = "[Kura] Paper Boats - 03 [1080p].mkv"
FEED = (
    '<rss version="2.0"><channel><title>Lantern</title><item><title>{title}</title>'
    "<guid>1</guid><link>{url}</link></item></channel></rss>"
)
INDEX = {
    "siteMeta": {},
    "items": [
        {
            "title": "ひとりぼっちの灯台",
            "titleTranslate": {"en": ["A Lonely Lighthouse"]},
            "type": "tv",
            "lang": "ja",
            "begin": "2026-04-05T15:00:00.000Z",
            "end": "",
            "sites": [{"site": "bangumi", "id": "900001"}],
        }
    ],
}


class Outside(ThreadingHTTPServer):
    """A feed and the ID index, as long as they answer."""

    status = 200
    twice = ""
    """Where a release of two files for one episode is."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Outside

    def do_GET(self) -> None:
        is_feed = self.path.startswith("/feed")
        release = (
            (TWICE, self.server.twice) if self.path == "/feed/twice" else (RELEASE, f"magnet:?xt=urn:btih:{'a' * 40}")
        )
        feed = FEED.format(title=release[0], url=escape(release[1]))
        content = (feed if is_feed else json.dumps(INDEX)).encode()
        self.send_response(self.server.status if is_feed else 200)
        self.send_header("Content-Type", "application/rss+xml" if is_feed else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def outside() -> Iterator[Outside]:
    server = Outside(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Keeper:
    """Somebody who looks at *Home*, and at the same list over the API."""

    def __init__(self, served: Served, until: Until) -> None:
        self.api = httpx2.Client(base_url=f"{served.url}/api/v1", headers={"X-Api-Key": KEY}, timeout=60)
        self.web = httpx2.Client(base_url=served.url, timeout=60, follow_redirects=True, headers={"Origin": served.url})
        self.web.get(served.login)
        # A look asks every part, so it is not repeated as fast as it can be.
        self.until: Until = lambda true: until(lambda: true() or threading.Event().wait(0.1))

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()
        self.web.close()

    def codes(self) -> dict[str, Any]:
        return {one["code"]: one for one in self.api.get("/attention").json()["items"]}

    def sees(self, code: str) -> Any:
        """Waits until it is in the list, and on the page with a button."""
        self.until(lambda: code in self.codes())
        item = self.codes()[code]
        page = self.web.get("/").text
        row = re.search(rf'id="notice-{item["key"]}".*?</li>', page, re.DOTALL)
        assert row is not None, f"{code} is not on the page"
        assert 'class="button"' in row[0]
        assert f'action="/notices/{item["key"]}/hide"' in row[0]
        return item

    def place_of(self, code: str) -> str:
        """Where the button of what is seen leads."""
        row = re.search(rf'id="notice-{self.sees(code)["key"]}".*?</li>', self.web.get("/").text, re.DOTALL)
        link = row and re.search(r'class="button" href="([^"]+)"', row[0])
        assert link is not None, f"{code} has no button that leads anywhere"
        return link[1]

    def presses(self, code: str) -> None:
        """Presses the button that does something."""
        assert self.web.post(f"/notices/{self.sees(code)['key']}/fix", data={"next": "/"}).status_code == 200

    def sees_no_more(self, code: str) -> None:
        self.until(lambda: code not in self.codes())


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that says it has much room, and takes none."""
    folder = tmp_path / "media"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def resize(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def test_each_trouble_comes_to_home_has_a_button_and_goes(
    commands: Commands, until: Until, disk: Path, tmp_path: Path
) -> None:
    (disk / "A Lonely Lighthouse").mkdir()
    (disk / "A Lonely Lighthouse" / "01.mkv").write_bytes(b"a light")
    with (
        ExitStack() as stack,
        outside() as site,
        commands.serving(
            "--no-downloader",
            KURABITO_API_KEY=KEY,
            KURABITO_OFFLINE_IDS_URL=f"{site.url}/data.json",
            KURABITO_ALLOW_PRIVATE_HOSTS="127.0.0.1",
            KURABITO_DOWNLOAD_ROOT=str(tmp_path / "downloads"),
            DOWNLOAD_POLL_INTERVAL="0.5",
        ) as served,
    ):
        keeper = stack.enter_context(Keeper(served, until))
        _an_unmatched_folder_and_the_missing_index(keeper, disk)
        _a_full_disk(keeper, disk)
        _a_feed_that_fails(keeper, site)
        seeder = Seeder(tmp_path / "swarm")
        seeder.open()
        stack.callback(seeder.close)
        # Which of the two files is the episode cannot be told from their names.
        files = (TWICE, TWICE.replace(".mkv", " (Fireworks uncut).mkv"))
        site.twice = seeder.link(MadeUpEntry(TWICE, 1, 1, files=files)).url
        with _a_downloader_that_is_killed(keeper, commands, served, tmp_path):
            _a_file_that_could_be_another(keeper, site, disk)


def _an_unmatched_folder_and_the_missing_index(keeper: Keeper, disk: Path) -> None:
    library = keeper.api.post("/libraries", json={"name": "shows", "path": str(disk)}).json()["id"]
    keeper.api.post(f"/libraries/{library}/scan")
    assert keeper.sees("matches_open")["facts"]["count"] == 1
    # The index knows the folder, so fetching it is all that is needed.
    keeper.presses("index_missing")
    keeper.sees_no_more("index_missing")
    for match in keeper.api.get("/matches").json()["items"]:
        keeper.web.post(f"/matches/{match['id']}/ignore", data={"next": "/"})
    keeper.sees_no_more("matches_open")


def _a_full_disk(keeper: Keeper, disk: Path) -> None:
    assert "disk_full" not in keeper.codes()
    resize(disk, "20m")
    assert keeper.sees("disk_full")["facts"]["folder"] == str(disk)
    resize(disk, "4g")
    keeper.sees_no_more("disk_full")


def _a_feed_that_fails(keeper: Keeper, site: Outside) -> None:
    order = {"name": "Lantern", "url": f"{site.url}/feed", "allows_private": True}
    made = keeper.api.post("/subscriptions", json=order)
    assert made.status_code == 201, made.text
    feed = made.json()["id"]
    site.status = 500
    keeper.api.post(f"/subscriptions/{feed}/fetch")
    assert keeper.sees("feed_failing")["facts"]["error_code"] == "bad_status"
    site.status = 200
    keeper.presses("feed_failing")
    keeper.sees_no_more("feed_failing")


@contextmanager
def _a_downloader_that_is_killed(keeper: Keeper, commands: Commands, served: Served, tmp_path: Path) -> Iterator[None]:
    """It is killed, comes back, and is there as long as the block."""
    options = ("downloader", "--client", "embedded", "--core", served.url)
    places = {
        "KURABITO_STATE": str(tmp_path / "attic"),
        "KURABITO_API_KEY": KEY,
        "KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"),
        "KURABITO_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
    }

    def is_known() -> bool:
        return any(one["health"] == "healthy" for one in keeper.api.get("/services").json()["items"])

    with commands.started(*options, **places) as (process, _):
        keeper.until(is_known)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert keeper.sees("downloader_unreachable")["facts"]["waiting"] == 0
    with commands.started(*options, **places):
        keeper.presses("downloader_unreachable")
        keeper.sees_no_more("downloader_unreachable")
        yield


def _a_file_that_could_be_another(keeper: Keeper, site: Outside, disk: Path) -> None:
    """A download that is complete, with two files for one episode: its keeper says which is which."""
    order = {"name": "Boats", "url": f"{site.url}/feed/twice", "allows_private": True}
    made = keeper.api.post("/subscriptions", json={**order, "new_series": "add", "start_with": "missing"})
    assert made.status_code == 201, made.text
    assert keeper.sees("files_unclear")["facts"]["count"] == 2
    page = keeper.web.get(keeper.place_of("files_unclear")).text
    assert "(Fireworks uncut)" in page
    asked = re.findall(r'action="/downloads/questions/(\d+)/answer"', page)
    first, other = sorted(set(asked), key=int)
    answers: dict[str, dict[str, str]] = {
        first: {"choice": "file", "kind": "episode", "season": "1", "episodes": "3"},
        other: {"choice": "leave"},
    }
    for question, answer in answers.items():
        assert keeper.web.post(f"/downloads/questions/{question}/answer", data=answer).status_code == 200
    keeper.sees_no_more("files_unclear")
    keeper.until(lambda: any(path.suffix == ".mkv" for path in disk.glob("Paper Boats*/**/*")))
