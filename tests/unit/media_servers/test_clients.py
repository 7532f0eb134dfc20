"""How each kind of media server is told, against a stand-in that speaks its wire format."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpcore2
import pytest
from tests.support.media_servers import LOGIN, TOKEN, MediaServerStandIn, standing_in

from kurabito.errors import InvalidInput
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, TimedOut
from kurabito.media_servers import clients
from kurabito.media_servers.clients import client_of
from kurabito.media_servers.errors import FolderUnknownThere, MediaServerRefused
from kurabito.media_servers.model import MediaServerKind, MediaServerSettings, address_of, as_server_sees
from kurabito.modules.path_maps import PathMap

TLS = httpcore2.default_ssl_context()
SHOW = "/media/Yoru no Kurabito/Season 01"
KINDS = [kind for kind in MediaServerKind if kind is not MediaServerKind.WEBHOOK]


@pytest.fixture
async def server() -> AsyncIterator[MediaServerStandIn]:
    async with standing_in() as found:
        yield found


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    async with Outbound(tls=TLS) as found:
        yield found


def settings(server: MediaServerStandIn, kind: MediaServerKind, token: str | None = None) -> MediaServerSettings:
    right = LOGIN if kind is MediaServerKind.KODI else TOKEN
    path = "/hook" if kind is MediaServerKind.WEBHOOK else ""
    return MediaServerSettings(kind=kind, name="here", url=server.url + path, token=token or right)


@pytest.mark.parametrize("kind", list(MediaServerKind))
async def test_a_server_hears_of_each_folder_once(
    server: MediaServerStandIn, outbound: Outbound, kind: MediaServerKind
) -> None:
    client = client_of(outbound, settings(server, kind))
    await client.tell([SHOW, "/media/Ikiru"])
    slash = "/" if kind is MediaServerKind.KODI else ""
    assert server.told == [SHOW + slash, "/media/Ikiru" + slash]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_test_says_who_answers_and_a_wrong_token_is_refused(
    server: MediaServerStandIn, outbound: Outbound, kind: MediaServerKind
) -> None:
    expected = "Kodi" if kind is MediaServerKind.KODI else "Living room"
    assert await client_of(outbound, settings(server, kind)).test() == expected
    stranger = client_of(outbound, settings(server, kind, "wrong"))
    for ask in (stranger.test(), stranger.tell([SHOW])):
        with pytest.raises(BadStatus) as refused:
            await ask
        assert refused.value.answered == 401
    assert server.told == []


@pytest.mark.parametrize("kind", list(MediaServerKind))
@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error"])
async def test_an_error_is_an_error(
    server: MediaServerStandIn, outbound: Outbound, kind: MediaServerKind, status: str
) -> None:
    server.status = status
    with pytest.raises(BadStatus):
        await client_of(outbound, settings(server, kind)).tell([SHOW])
    # The task tries again, not the call.
    assert server.calls == 1


async def test_a_server_that_does_not_answer_is_given_up(
    server: MediaServerStandIn, outbound: Outbound, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.is_silent = True
    monkeypatch.setattr(clients, "_CALL", Limits(redirects=0, attempts=1, seconds=0.2))
    with pytest.raises(TimedOut):
        await client_of(outbound, settings(server, MediaServerKind.JELLYFIN)).tell([SHOW])


async def test_plex_is_asked_only_about_folders_that_it_has(server: MediaServerStandIn, outbound: Outbound) -> None:
    with pytest.raises(FolderUnknownThere, match="/srv/media/Show"):
        await client_of(outbound, settings(server, MediaServerKind.PLEX)).tell(["/srv/media/Show", SHOW])
    assert server.told == [SHOW]


async def test_an_error_of_kodi_is_told_in_its_words(server: MediaServerStandIn, outbound: Outbound) -> None:
    with pytest.raises(MediaServerRefused, match="Invalid params"):
        await client_of(outbound, settings(server, MediaServerKind.KODI)).tell(["/refused"])


def test_folders_are_named_as_the_server_sees_them() -> None:
    maps = [PathMap("/srv/media", "/media"), PathMap("/srv/media/films", "\\\\nas\\films")]
    assert as_server_sees("/srv/media/Show/Season 01", maps) == "/media/Show/Season 01"
    assert as_server_sees("/srv/media/films/Ikiru", maps) == "\\\\nas\\films\\Ikiru"
    assert as_server_sees("/elsewhere", maps) == "/elsewhere"


@pytest.mark.parametrize("url", ["", "nas:8096", "ftp://nas", "http://", "http://me:pw@nas", "http://nas:99999"])
def test_an_address_that_cannot_be_called_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        address_of(url)
