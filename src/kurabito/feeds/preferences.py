"""What a keeper likes better, where there are several releases of one episode."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Policy(StrEnum):
    """What decides between releases of one episode."""

    BEST = "best"
    FIRST = "first"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What is liked better, the best at the front."""

    groups: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    resolutions: tuple[int, ...] = ()
    """Without any, the larger is better."""
    sources: tuple[str, ...] = ()

    def stored(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def read(cls, text: str) -> Preferences:
        return cls(**{name: tuple(value) for name, value in json.loads(text).items()})


NO_PREFERENCES: Final = Preferences()
