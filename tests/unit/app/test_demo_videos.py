"""The demo's videos are real ones, and copies of one are the same to the byte."""

from __future__ import annotations

from io import BytesIO

import av

from kurabito.demo.videos import film


def test_a_name_gives_the_same_video_each_time_and_another_name_another_one() -> None:
    video = film("The Lantern", 2)
    assert video == film("The Lantern", 2)
    assert video != film("The Gatekeepers", 2)
    with av.open(BytesIO(video), mode="r") as container:
        frames = list(container.decode(video=0))
        assert container.duration == 2_000_000
    assert {(frame.width, frame.height) for frame in frames} == {(320, 180)}
    # The camera moves.
    assert len({bytes(frame.planes[0]) for frame in frames}) > len(frames) // 2
