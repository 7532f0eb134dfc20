"""Downloads: how far they are, who has them, and what their keeper wants of them."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.downloads.dispatch.attempts import Attempt
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.health.progress import DownloadProgressState, progress_state
from kurabito.downloads.items import Owner
from kurabito.downloads.states import Outcome, Status
from kurabito.downloads.store import Download
from kurabito.downloads.want_again import WantedAgain, Wanting
from kurabito.modules.services import BIGGEST_MODULE_ID
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import documented
from kurabito.site.routing import Router

EnglishReason = Annotated[str | None, BeforeValidator(sentence_of)]
EpisodeId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the episode's id")]
DownloadId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the download's id")]


class DownloadAnswer(BaseModel):
    """One dispatch of one link. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    link_id: int
    title: str
    series_id: int
    episode_id: int | None
    module_id: int | None
    downloader: str | None = Field(description="the name of the downloader that has it")
    status: Status
    hash: str | None
    save_path: str | None = Field(
        description="its folder, as the downloader sees it: where it really is, if the downloader tells"
    )
    progress: float = Field(description="from 0 to 1")
    size_bytes: int | None
    downloaded_bytes: int
    rate: int | None = Field(description="bytes a second")
    peers: int | None
    detail: str | None = Field(
        description="what the downloader does with it: a code such as paused, queued, seeding or no_room, with a colon and its own "
        "words behind it if it has any; or only its own words"
    )
    reason: EnglishReason = Field(description="why it is where it is, in words")
    why: WhyAnswer | None = Field(None, description="the same as a code with facts")
    owner: Owner | None = Field(
        description="who added it to the downloader: what the user did is only watched; null where that is not known"
    )
    is_stalled: bool = Field(description="it has made no progress for a long time")
    progress_state: DownloadProgressState = Field(
        description="its progress in one word: finer than `status`, as it also says what the downloader does with it"
    )
    retry_at: datetime | None = Field(None, description="when it is tried again, where something has to pass first")
    progressed_at: datetime | None
    completed_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, download: Download, is_stalled: bool = False) -> Self:
        state = progress_state(download, is_stalled)
        why = WhyAnswer.of(download.reason)
        known = {each.name: getattr(download, each.name) for each in fields(download)}
        return cls(**known, is_stalled=is_stalled, progress_state=state, why=why)


class AttemptAnswer(BaseModel):
    """What came of offering it to one downloader."""

    model_config = ConfigDict(from_attributes=True)

    module_id: int | None
    downloader: str = Field(validation_alias="module_name")
    outcome: Outcome
    reason: EnglishReason = Field(description="why it was not taken, in words")
    why: WhyAnswer | None = Field(None, description="the same as a code with facts")
    sent_at: datetime
    answered_at: datetime | None

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        return cls.model_validate(attempt).model_copy(update={"why": WhyAnswer.of(attempt.reason)})


class DownloadFileAnswer(BaseModel):
    """One file of a download."""

    model_config = ConfigDict(from_attributes=True)

    path: str = Field(description="below save_path, with slashes")
    size_bytes: int = Field(validation_alias="size")
    is_wanted: bool = Field(description="whether it was downloaded at all")
    is_complete: bool


class DownloadStory(DownloadAnswer):
    """A download, who was asked to take it, and what is in it."""

    attempts: list[AttemptAnswer] = Field(default_factory=list, description="the first at the front")
    files: list[DownloadFileAnswer] = Field(
        default_factory=list, description="once it is complete, as its downloader told them"
    )


class WantedAgainAnswer(BaseModel):
    """What came of wanting an episode again."""

    downloads: list[DownloadAnswer] = Field(
        description="what was begun; none where no release is known that can be taken"
    )
    is_asked: bool = Field(description="a release has to be chosen first: see /conflicts")

    @classmethod
    def of(cls, wanted: WantedAgain) -> Self:
        return cls(downloads=[DownloadAnswer.of(one) for one in wanted.downloads], is_asked=wanted.is_asked)


def router(downloads: Downloads, wanting: Wanting) -> Router:
    """The routes of the downloads."""
    routes = Router(prefix="/api/v1/downloads", tags=["downloads"])

    @routes.get("", responses=documented(422))
    async def list_downloads(
        status: Annotated[Status | None, Query(description="only those that are so far")] = None,
        module_id: Annotated[
            int | None, Query(ge=1, le=BIGGEST_MODULE_ID, description="only those that this downloader has")
        ] = None,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[DownloadAnswer]:
        """Downloads, the newest first."""
        page = await downloads.page(status=status, module_id=module_id, limit=limit, cursor=cursor)
        return PageAnswer[DownloadAnswer].of(page, lambda one: DownloadAnswer.of(*one))

    @routes.get("/{download_id}", responses=documented(404, 422))
    async def get_download(download_id: DownloadId) -> DownloadStory:
        """One download, who was asked to take it, and what is in it."""
        download, is_stalled, history = await downloads.get(download_id)
        files = await downloads.files(download_id)
        return DownloadStory.of(download, is_stalled).model_copy(
            update={
                "attempts": [AttemptAnswer.of(attempt) for attempt in history],
                "files": [DownloadFileAnswer.model_validate(file) for file in files],
            }
        )

    @routes.delete("/{download_id}", status_code=204, responses=documented(404, 409, 422))
    async def delete_download(
        download_id: DownloadId,
        delete_files: Annotated[bool, Query(description="delete what was downloaded, too")] = False,
    ) -> None:
        """Show a download no longer; its downloader forgets it as soon as it answers. What is the user's stays there."""
        await downloads.remove(download_id, delete_files=delete_files)

    _actions(routes, downloads, wanting)
    return routes


def _actions(routes: Router, downloads: Downloads, wanting: Wanting) -> None:
    """The routes of what can be done with a download."""

    @routes.post("/{download_id}/retry", status_code=202, responses=documented(404, 409, 422))
    async def retry_download(download_id: DownloadId) -> DownloadAnswer:
        """Try the link of a download that ended without files again. The answer is the new download."""
        return DownloadAnswer.of(await downloads.retry(download_id))

    @routes.post("/{download_id}/want-again", status_code=202, responses=documented(404, 409, 422, 502, 504))
    async def want_download_again(
        download_id: DownloadId,
        other_release: Annotated[bool, Query(description="take any release but this one")] = False,
    ) -> WantedAgainAnswer:
        """Want the episode of a completed download again. The best release that is known is taken, also the same one; without any
        the episode is wanted, and one that comes is taken. What lies on the disk stays there.
        """
        return WantedAgainAnswer.of(await wanting.want_download_again(download_id, other_release=other_release))

    @routes.post("/{download_id}/cancel", responses=documented(404, 409, 422))
    async def cancel_download(download_id: DownloadId) -> DownloadAnswer:
        """Give a download up. Its downloader is told as soon as it answers; what is the user's stays there as it is."""
        return DownloadAnswer.of(await downloads.cancel(download_id))

    @routes.post("/{download_id}/send-elsewhere", status_code=202, responses=documented(404, 409, 422))
    async def send_download_elsewhere(download_id: DownloadId) -> DownloadAnswer:
        """Take a download away from its downloader and offer it to the others. What is the user's stays there, too."""
        return DownloadAnswer.of(await downloads.send_elsewhere(download_id))

    @routes.post("/{download_id}/pause", responses=documented(404, 409, 422, 502, 504))
    async def pause_download(download_id: DownloadId) -> DownloadAnswer:
        """Let a download rest, unless it is the user's."""
        return DownloadAnswer.of(await downloads.pause(download_id))

    @routes.post("/{download_id}/resume", responses=documented(404, 409, 422, 502, 504))
    async def resume_download(download_id: DownloadId) -> DownloadAnswer:
        """Let a download go on, unless it is the user's."""
        return DownloadAnswer.of(await downloads.resume(download_id))


def episodes_router(wanting: Wanting) -> Router:
    """What is wished for an episode, whichever download it had."""
    routes = Router(prefix="/api/v1/episodes", tags=["downloads"])

    @routes.post("/{episode_id}/want-again", status_code=202, responses=documented(404, 409, 422, 502, 504))
    async def want_episode_again(episode_id: EpisodeId) -> WantedAgainAnswer:
        """Want an episode again whose files are gone. The best release that is known is taken."""
        return WantedAgainAnswer.of(await wanting.want_again(episode_id))

    @routes.post("/{episode_id}/not-wanted", status_code=204, responses=documented(404, 409, 422))
    async def want_episode_no_longer(episode_id: EpisodeId) -> None:
        """Want an episode no longer: nothing is searched or taken for it. What a library has of it stays."""
        await wanting.not_wanted(episode_id)

    return routes
