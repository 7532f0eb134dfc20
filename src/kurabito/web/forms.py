"""Forms as browsers send them. Ours are small and have no files, so the standard library reads them."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

_BIGGEST: Final = 2**63
_MOST_FIELDS: Final = 200


async def values_of(request: Request) -> dict[str, list[str]]:
    """The fields of a sent form, each with everything that was sent under its name."""
    body = await request.body()
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400) from None


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a sent form; of several with one name the last counts."""
    return {name: values[-1] for name, values in (await values_of(request)).items()}


def id_of(text: str) -> int:
    """The number in an address; what is no number of ours leads nowhere."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) >= _BIGGEST:
        raise HTTPException(404)
    return int(text)
