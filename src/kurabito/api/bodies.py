"""What clients send: taken as it is written or refused, never guessed at."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

# Something to see, and no NUL: PostgreSQL text cannot hold it.
_TEXT: Final = r"^[^\x00]*[^\s\x00][^\x00]*$"


def _whole(value: Any) -> Any:
    # To JSON 3.0 is an integer too, and some languages write it so.
    return int(value) if isinstance(value, float) and value.is_integer() else value


class StrictBody(BaseModel):
    """The body of a request: no field is converted, and none is unknown."""

    model_config = ConfigDict(strict=True, extra="forbid")


WHOLE: Final = BeforeValidator(_whole)
"""For integers, after their limits."""
ShortText = Annotated[str, Field(min_length=1, max_length=200, pattern=_TEXT)]
TaskId = Annotated[str, Path(description="the task's id, a UUID")]
