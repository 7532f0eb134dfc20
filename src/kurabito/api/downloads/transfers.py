"""What a downloader service is asked, and what it answers."""

from __future__ import annotations

import base64
from typing import Annotated, Final

from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.downloads.items import (
    CancelResult,
    CancelStatus,
    DownloadItem,
    DownloadItemResult,
    DownloadStatus,
    ItemStatus,
    Owner,
    TransferDetail,
    TransferFile,
    TransferStatus,
)
from kurabito.errors import InvalidInput

MOST_ITEMS: Final = 2000
"""How many items one request may bring."""
LONGEST_TORRENT: Final = 14 << 20
"""Of 10 MiB, in Base64."""
_DETAIL: Final = (
    f"what it does, or what went wrong: {', '.join(one for one in TransferDetail if one != TransferDetail.OTHER)}; behind "
    "one of these words and a colon, or alone, what the program itself says"
)

Hash = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{40}$")]


class ItemBody(StrictBody):
    """Something to download."""

    url: Annotated[str, Field(min_length=1, max_length=20_000)]
    save_path: Annotated[str, Field(min_length=1, max_length=4_000)] = Field(description="as this downloader sees it")
    seed_ratio: Annotated[float, Field(ge=0, le=1000)] | None = Field(
        None, description="seed until so much was given back; null is as the program does it"
    )
    seed_minutes: Annotated[int, Field(ge=0, le=10_000_000)] | None = Field(
        None, description="or for so long, whichever is first"
    )
    torrent: Annotated[str, Field(min_length=1, max_length=LONGEST_TORRENT)] | None = Field(
        None, description="the torrent file in Base64, where the URL leads to none: that of a private torrent"
    )


class ItemsBody(StrictBody):
    """The items to download."""

    items: Annotated[list[ItemBody], Field(max_length=MOST_ITEMS)]


class ItemAnswer(BaseModel):
    """Whether one item was taken."""

    url: str
    hash: str | None
    status: ItemStatus
    reason: str | None = None
    owner: Owner | None = Field(None, description="who added it to the program; null if unknown")
    may_pass: bool = Field(False, description="it was rejected, and may be taken later")


class ItemsAnswer(BaseModel):
    """One result for each item, in their order."""

    results: list[ItemAnswer]


class HashesBody(StrictBody):
    """The downloads to cancel."""

    hashes: Annotated[list[Hash], Field(max_length=MOST_ITEMS)]


class CancelAnswer(BaseModel):
    """What became of one download."""

    hash: str
    status: CancelStatus


class CancelsAnswer(BaseModel):
    """One result for each hash."""

    results: list[CancelAnswer]


class TransferFileAnswer(BaseModel):
    """One file of a download."""

    path: str = Field(description="below content_path, with slashes")
    size: int = Field(ge=0, description="bytes")
    wanted: bool = Field(True, description="whether it is downloaded at all")
    complete: bool = False


class StatusAnswer(BaseModel):
    """How one download is doing."""

    hash: str
    status: TransferStatus
    progress: float = Field(ge=0, le=1)
    size: int = Field(ge=0, description="bytes; 0 while unknown")
    rate: int | None = Field(None, description="bytes a second that arrive")
    peers: int | None = None
    detail: str | None = Field(None, description=_DETAIL)
    owner: Owner | None = Field(None, description="who added it to the program; null if unknown")
    content_path: str | None = Field(None, description="the folder in which its files really lie")
    files: list[TransferFileAnswer] | None = Field(None, description="once it is complete, if the program tells them")


class StatusesAnswer(BaseModel):
    """Those of the hashes that are there."""

    statuses: list[StatusAnswer]


def wanted_item(body: ItemBody) -> DownloadItem:
    given = body.model_dump()
    if body.torrent is not None:
        try:
            given["torrent"] = base64.b64decode(body.torrent, validate=True)
        except ValueError:
            raise InvalidInput("torrent", "must be a torrent file in Base64") from None
    return DownloadItem(**given)


def item_answer(result: DownloadItemResult) -> ItemAnswer:
    return ItemAnswer(
        url=result.url,
        hash=result.hash,
        status=result.status,
        reason=result.reason,
        owner=result.owner,
        may_pass=result.may_pass,
    )


def cancel_answer(result: CancelResult) -> CancelAnswer:
    return CancelAnswer(hash=result.hash, status=result.status)


def status_answer(status: DownloadStatus) -> StatusAnswer:
    return StatusAnswer(
        hash=status.hash,
        status=status.status,
        progress=status.progress,
        size=status.size or 0,
        rate=status.rate,
        peers=status.peers,
        detail=status.detail,
        owner=status.owner,
        content_path=status.content_path,
        files=None if status.files is None else [_file(file) for file in status.files],
    )


def _file(file: TransferFile) -> TransferFileAnswer:
    return TransferFileAnswer(path=file.path, size=file.size, wanted=file.is_wanted, complete=file.is_complete)
