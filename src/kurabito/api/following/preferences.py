"""What is liked better, as subscriptions and profiles take it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Self

from pydantic import Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.downloads.profiles.model import MOST_LIKED, MOST_MB, MOST_POINTS, MOST_TERMS
from kurabito.feeds.preferences import Batches, Preferences, Term

Liked = Annotated[list[ShortText], Field(max_length=MOST_LIKED)]
Megabytes = Annotated[float, Field(ge=0, le=MOST_MB)]
Points = Annotated[int, Field(ge=-MOST_POINTS, le=MOST_POINTS), WHOLE]


class TermBody(StrictBody):
    """A text in the title that is worth points."""

    text: ShortText
    points: Points
    is_pattern: bool = Field(False, description="a regular expression; else a word or words")


class PreferencesBody(StrictBody):
    """What is liked better, the best at the front; and what is not wanted at all."""

    groups: Liked = Field(default_factory=list)
    languages: Liked = Field(default_factory=list, description="of the subtitles")
    resolutions: Annotated[list[Annotated[int, Field(ge=1, le=100_000), WHOLE]], Field(max_length=MOST_LIKED)] = Field(
        default_factory=list, description="heights, like 1080; without any, the larger is better"
    )
    sources: Liked = Field(default_factory=list)
    codecs: Liked = Field(default_factory=list, description="of the picture, like HEVC")
    audio: Liked = Field(default_factory=list, description="what titles say of the sound, like Dual Audio or FLAC")
    terms: Annotated[list[TermBody], Field(max_length=MOST_TERMS)] = Field(default_factory=list)
    batches: Annotated[Batches, Field(strict=False, description="releases of one episode, batches, or any")] = (
        Batches.ANY
    )
    least_mb: Megabytes | None = Field(None, description="megabytes for a minute; what is smaller is not taken")
    most_mb: Megabytes | None = Field(None, description="megabytes for a minute; what is larger is not taken")
    takes_specials: bool = True
    takes_decimals: bool = Field(True, description="episodes like 7.5")
    takes_revisions: bool = Field(True, description="the second version of a group replaces its first")
    stop_at: Points | None = Field(
        None, description="what is in the library is not upgraded any more from this score on"
    )

    @classmethod
    def of(cls, preferences: Preferences) -> Self:
        terms = [TermBody(**term._asdict()) for term in preferences.terms]
        liked: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(preferences).items()
        }
        return cls(**liked | {"terms": terms})

    def preferences(self) -> Preferences:
        liked: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in self.model_dump().items()
        }
        return Preferences(**liked | {"terms": tuple(Term(**term.model_dump()) for term in self.terms)})
