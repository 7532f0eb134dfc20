"""Where we listen, and who may connect there."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final

from kurabito.access import is_guessable
from kurabito.errors import ConfigError
from kurabito.logs import get_logger
from kurabito.settings import Settings
from kurabito.site.addresses import networks
from kurabito.site.limits import ConnectionLimits, connection_limits

_BETTER_KEY: Final = (
    "make one with `kurabito key create`, or a long one with "
    "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
)

_log = get_logger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is changed."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"host cannot be {host}: {error.strerror}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Now, not when uvicorn does it: two sockets may be bound to a port until one of them listens.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"port {port} of {host} is in use: stop the program that has it, or choose another with KURABITO_PORT "
                "or --port"
            ) from None
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL under which this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_strangers(host: str, *, has_password: bool) -> None:
    """Let other machines in only where there is a password."""
    if not has_password and not is_loopback(host):
        raise ConfigError(
            f"host cannot be {host}: other machines may connect only with a password; set one with "
            "`kurabito user password`, or name a file that holds it in KURABITO_PASSWORD_FILE; or use 127.0.0.1"
        )


def refuse_guessable_key(settings: Settings) -> None:
    """Warn of a key in the settings that could be guessed, and take none where other machines may connect."""
    if (problem := weakness_of_key(settings)) is None:
        return
    if not is_loopback(settings.host):
        raise ConfigError(f"host cannot be {settings.host}: {problem}, and other machines may connect; {_BETTER_KEY}")
    _log.warning(f"{problem}; {_BETTER_KEY}")


def weakness_of_key(settings: Settings) -> str | None:
    """What is wrong with the key in the settings; None when it is long enough, or there is none."""
    if settings.api_key is None or not is_guessable(settings.api_key.get_secret_value()):
        return None
    return "KURABITO_API_KEY is short enough to be guessed"


def limits_of(settings: Settings) -> ConnectionLimits:
    """What connections may take, as the settings want it and the machine allows."""
    return connection_limits(
        most=settings.max_connections,
        per_address=settings.max_connections_per_address,
        header_seconds=settings.header_seconds,
        keep_alive_seconds=settings.keep_alive_seconds,
        trusted=networks(settings.trusted_proxies),
    )
