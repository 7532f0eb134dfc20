"""What is told of a record, for the API and the pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from kurabito.db import Connection, Database
from kurabito.metadata import records
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.franchises import episodes_known
from kurabito.metadata.stories.store import Story, story_of


@dataclass(frozen=True, slots=True)
class RecordStory:
    """What is told of a record, and its episodes."""

    told: Story
    episodes: list[KnownEpisode]


class StoryService:
    """What is told of the records of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def story(self, metadata_id: int) -> RecordStory:
        """What is told of a record; raises MetadataNotFound."""
        return await self._database.read(partial(_story, metadata_id=metadata_id))


def _story(conn: Connection, metadata_id: int) -> RecordStory:
    details = records.find(conn, metadata_id).details
    return RecordStory(story_of(conn, metadata_id), episodes_known(conn, details))
