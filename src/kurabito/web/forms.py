"""Forms as browsers send them. Ours are small and have no files, so the standard library reads them."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a sent form; of several with one name the last counts."""
    body = await request.body()
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=20, errors="strict")
    except ValueError:
        raise HTTPException(400) from None
    return {name: values[-1] for name, values in fields.items()}
