"""Secrets that we make ourselves: long enough that guessing is hopeless, so a plain hash keeps them safe at rest."""

from __future__ import annotations

import hashlib
import secrets


def new_token() -> str:
    """256 random bits as text that survives URLs, headers and shells."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What is stored of a token. Passwords, which people choose, are hashed slowly instead (`passwords.py`)."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
