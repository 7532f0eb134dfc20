"""Profiles: how releases are chosen."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, Field

from kurabito.api.bodies import ShortText, StrictBody
from kurabito.api.following.catalog import SeriesId
from kurabito.api.following.preferences import PreferencesBody
from kurabito.api.following.subscriptions import Choosing, WaitMinutes
from kurabito.api.paging import PageAnswer
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.profiles.model import ReleaseProfile
from kurabito.downloads.profiles.score import steps
from kurabito.downloads.profiles.service import ReleaseProfiles
from kurabito.feeds.preferences import Policy
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

ProfileId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the profile's id")]


class ReleasePreferencesBody(StrictBody):
    """How releases are chosen."""

    conflict_policy: Choosing = Policy.BEST
    upgrade: bool = Field(False, description="whether a better release replaces one that is there already")
    wait_minutes: WaitMinutes = 0
    preferences: PreferencesBody = Field(default_factory=PreferencesBody)

    def chosen(self) -> ReleasePreferences:
        return ReleasePreferences(
            policy=self.conflict_policy,
            upgrade=self.upgrade,
            wait_minutes=self.wait_minutes,
            preferred=self.preferences.preferences(),
        )


class ProfileBody(ReleasePreferencesBody):
    """A profile under a name."""

    name: ShortText
    is_default: bool = Field(False, description="it holds for every show that has no other")


class SeriesProfileBody(StrictBody):
    """Which profile a show uses: one with a name, its own, or with neither the default."""

    profile_id: Annotated[int, Field(ge=1, le=BIGGEST_ID)] | None = None
    own: ReleasePreferencesBody | None = None


class ProfileAnswer(BaseModel):
    """A profile. Times are UTC."""

    id: int
    name: str | None = Field(description="null for the own one of a show")
    series_id: int | None
    is_default: bool
    conflict_policy: Policy
    upgrade: bool
    wait_minutes: int
    preferences: PreferencesBody
    steps: dict[str, int] = Field(description="what a place in each list adds to the score of a release")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, profile: ReleaseProfile) -> Self:
        chosen = profile.preferences
        return cls(
            id=profile.id,
            name=profile.name,
            series_id=profile.series_id,
            is_default=profile.is_default,
            conflict_policy=chosen.policy,
            upgrade=chosen.upgrade,
            wait_minutes=chosen.wait_minutes,
            preferences=PreferencesBody.of(chosen.preferred),
            steps={name.value: points for name, points in steps(chosen.preferred).items()},
            created_at=profile.created_at,
            updated_at=profile.updated_at,
        )


def router(profiles: ReleaseProfiles) -> Router:
    """The routes of profiles."""
    routes = Router(prefix="/api/v1", tags=["finding"])

    @routes.get("/profiles", responses=documented())
    async def list_profiles() -> PageAnswer[ProfileAnswer]:
        """Every profile that has a name."""
        return PageAnswer[ProfileAnswer].whole(ProfileAnswer.of(one) for one in await profiles.everything())

    @routes.post("/profiles", status_code=201, responses=documented(409, *WITH_BODY))
    async def add_profile(body: ProfileBody) -> ProfileAnswer:
        """Add a profile."""
        made = await profiles.add(body.name, body.chosen())
        return await _settled(made, body)

    @routes.put("/profiles/{profile_id}", responses=documented(404, 409, *WITH_BODY))
    async def put_profile(profile_id: ProfileId, body: ProfileBody) -> ProfileAnswer:
        """Change a profile. It counts for what is chosen from now on."""
        return await _settled(await profiles.change(profile_id, body.name, body.chosen()), body)

    @routes.delete("/profiles/{profile_id}", status_code=204, responses=documented(404, 422))
    async def delete_profile(profile_id: ProfileId) -> None:
        """Forget a profile. Its shows use the default then."""
        await profiles.remove(profile_id)

    @routes.get("/series/{series_id}/profile", responses=documented(404, 422))
    async def get_series_profile(series_id: SeriesId) -> ProfileAnswer | None:
        """The profile that a show uses; null where it has none and there is no default."""
        found = await profiles.of_series(series_id)
        return None if found is None else ProfileAnswer.of(found)

    @routes.put("/series/{series_id}/profile", responses=documented(404, *WITH_BODY))
    async def put_series_profile(series_id: SeriesId, body: SeriesProfileBody) -> ProfileAnswer | None:
        """Say which profile a show uses, or give it preferences of its own."""
        if body.own is not None:
            return ProfileAnswer.of(await profiles.set_own(series_id, body.own.chosen()))
        found = await profiles.use(series_id, body.profile_id)
        return None if found is None else ProfileAnswer.of(found)

    async def _settled(profile: ReleaseProfile, body: ProfileBody) -> ProfileAnswer:
        if body.is_default != profile.is_default:
            await profiles.make_default(profile.id if body.is_default else None)
        return ProfileAnswer.of(await profiles.get(profile.id))

    return routes
