"""Apprise sends, and its connections are judged like all others: no file is read, and no host reached that nobody named."""

from __future__ import annotations

from pathlib import Path

import httpcore2
import pytest
from tests.support.destinations import taking_messages

from kurabito.http import Outbound
from kurabito.notifications.errors import DestinationRefused
from kurabito.notifications.model import DestinationKind, DestinationSettings, Message
from kurabito.notifications.senders import Senders

MESSAGE = Message("Kurabito: 2 new episodes", "長月の家 · S01E01, E02")


def phone(url: str) -> DestinationSettings:
    return DestinationSettings(kind=DestinationKind.APPRISE, name="Phone", url=url)


async def test_a_message_goes_out_and_a_redirect_into_the_network_does_not(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"text": "secret"}', encoding="utf-8")
    async with taking_messages() as named, taking_messages("127.0.0.2") as inner:
        senders = Senders(Outbound(tls=httpcore2.default_ssl_context()))
        await senders.send(phone(f"json://{named.host}/hook"), MESSAGE)
        assert (named.sent[0]["title"], named.sent[0]["message"]) == (MESSAGE.title, MESSAGE.body)
        named.status, named.location = "307 Temporary Redirect", f"http://127.0.0.2:{inner.port}/"
        with pytest.raises(DestinationRefused, match=r"127\.0\.0\.2 is not fetched from"):
            await senders.send(phone(f"json://{named.host}/token-of-mine"), MESSAGE)
        with pytest.raises(DestinationRefused, match="reads a file"):
            await senders.send(phone(f"discord://123456789012345678/{'a' * 30}?template={secret}"), MESSAGE)
        assert inner.sent == []


async def test_a_refusal_has_no_secret_in_it() -> None:
    async with taking_messages() as named:
        named.status = "401 Unauthorized"
        with pytest.raises(DestinationRefused) as refused:
            await Senders(Outbound(tls=httpcore2.default_ssl_context())).send(
                phone(f"json://me:geheim99@{named.host}/very-secret-path"), MESSAGE
            )
    assert "401" in str(refused.value)
    assert not any(secret in str(refused.value) for secret in ("geheim99", "very-secret-path"))
