"""A real qBittorrent on loopback, with a name and a password."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

USER = "keeper"
PASSWORD = "a password of the test"


@asynccontextmanager
async def running_qbittorrent(folder: Path) -> AsyncIterator[str]:
    """Its address, as long as the block runs."""
    program = shutil.which("qbittorrent-nox")
    assert program, "run tools/provision.sh"
    port = _free_port()
    settings = folder / "qBittorrent" / "config" / "qBittorrent.conf"
    settings.parent.mkdir(parents=True)
    salt = bytes(range(16))
    digest = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), salt, 100_000, 64)
    kept = f"@ByteArray({base64.b64encode(salt).decode()}:{base64.b64encode(digest).decode()})"
    settings.write_text(
        "[LegalNotice]\nAccepted=true\n"
        f"[BitTorrent]\nSession\\Port={_free_port()}\n"
        "Session\\DHTEnabled=false\nSession\\LSDEnabled=false\nSession\\PeXEnabled=false\n"
        "[Preferences]\n"
        "WebUI\\Address=127.0.0.1\nWebUI\\LocalHostAuth=true\nWebUI\\MaxAuthenticationFailCount=100\n"
        f'WebUI\\Username={USER}\nWebUI\\Password_PBKDF2="{kept}"\n'
        "Connection\\UPnP=false\n"
    )
    command = [program, f"--profile={folder}", f"--webui-port={port}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            async with asyncio.timeout(60):
                while not await _answers(url):
                    await asyncio.sleep(0.05)
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


async def _answers(url: str) -> bool:
    try:
        async with httpx2.AsyncClient(trust_env=False) as http:
            return (await http.get(url)).status_code < 500
    except httpx2.HTTPError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
