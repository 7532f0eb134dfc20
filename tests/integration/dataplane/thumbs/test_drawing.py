"""What thumbnails look like: upright, in their colours, and of something."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.picture import DecodeLimits, DrawnPicture, ThumbnailFailed, Wanted
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode

Draw = Callable[..., DrawnPicture]


@pytest.fixture(scope="module")
def draw() -> Iterator[Draw]:
    studios = {media_type: DecoderProcess(media_type) for media_type in MediaType}

    def drawn(
        content: bytes, media_type: MediaType = MediaType.IMAGE, form: str = "jpeg", side: int = 100
    ) -> DrawnPicture:
        return draw_with(studios[media_type], content, Wanted(media_type, ThumbnailFormat(form), side))

    yield drawn
    for decoder in studios.values():
        decoder.close()


def draw_with(decoder: DecoderProcess, content: bytes, wanted: Wanted) -> DrawnPicture:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        return decoder.draw(file.fileno(), wanted)


@pytest.mark.parametrize("form", ThumbnailFormat)
@pytest.mark.parametrize("side", [16, 100, 4096])
def test_the_longer_side_is_as_long_as_asked_and_never_longer_than_it_was(
    draw: Draw, art: Any, form: str, side: int
) -> None:
    picture = draw(art.jpeg(400, 300), form=form, side=side)
    assert (picture.width, picture.height) == (min(side, 400), min(side, 400) * 3 // 4)
    image = art.opened(picture.content)
    assert (image.width, image.height) == (picture.width, picture.height)
    assert image.get("vips-loader").startswith(form)
    assert picture.bytes_read == len(art.jpeg(400, 300))


@pytest.mark.parametrize("side", [40, 100, 250, 500])
def test_a_jpeg_keeps_its_shape_however_much_of_it_is_left_out(draw: Draw, art: Any, side: int) -> None:
    for width, height in ((1000, 10), (999, 501), (501, 999)):
        picture = draw(art.file_of(art.quarters(width, height), ".jpg"), side=side)
        larger = max(width, height)
        assert max(picture.width, picture.height) == side
        assert abs(picture.width - width * side / larger) <= 1
        assert abs(picture.height - height * side / larger) <= 1


# Where the red half and the darker half come to lie, for each value of the tag.
@pytest.mark.parametrize(
    ("orientation", "red", "blue"),
    [
        (1, (0.9, 0.1), (0.9, 0.9)),
        (3, (0.1, 0.9), (0.1, 0.1)),
        (6, (0.9, 0.9), (0.1, 0.9)),
        (8, (0.1, 0.1), (0.9, 0.1)),
    ],
)
def test_a_photograph_stands_upright(
    draw: Draw, art: Any, orientation: int, red: tuple[float, float], blue: tuple[float, float]
) -> None:
    picture = draw(art.jpeg(400, 300, orientation))
    assert (picture.width > picture.height) is (orientation in (1, 3))
    assert art.is_red(art.colour_at(picture.content, *red))
    assert art.is_blue(art.colour_at(picture.content, *blue))


def test_colours_of_another_profile_become_srgb(draw: Draw, art: Any) -> None:
    # The same numbers mean a stronger green in Display P3.
    p3 = art.quarters(100, 100).linear(0, [90, 200, 90]).cast("uchar").copy(interpretation="srgb")
    tagged = art.file_of(p3.icc_transform("p3", input_profile="srgb"), ".png", profile="p3")
    red, green, blue = art.colour_at(draw(tagged).content, 0.5, 0.5)
    assert abs(red - 90) < 6
    assert abs(green - 200) < 6
    assert abs(blue - 90) < 6
    assert "icc-profile-data" not in art.opened(draw(tagged).content).get_fields()


def test_what_can_be_seen_through_is_white_in_a_jpeg_and_stays_so_in_a_webp(draw: Draw, art: Any) -> None:
    clear = art.file_of(art.quarters(100, 100).bandjoin(0), ".png")
    assert all(part > 250 for part in art.colour_at(draw(clear).content, 0.5, 0.2))
    assert art.colour_at(draw(clear, form="webp").content, 0.5, 0.2)[3] == 0


@pytest.mark.parametrize("suffix", [".png", ".webp", ".tiff", ".avif", ".gif"])
def test_the_other_formats_are_drawn_too(draw: Draw, art: Any, suffix: str) -> None:
    picture = draw(art.file_of(art.quarters(300, 200), suffix))
    assert (picture.width, picture.height) == (100, 67)
    assert art.is_red(art.colour_at(picture.content, 0.9, 0.1))


def test_grey_cmyk_and_deep_images_are_drawn(draw: Draw, art: Any) -> None:
    image = art.quarters(60, 40)
    grey = draw(art.file_of(image.colourspace("b-w"), ".jpg"))
    cmyk = draw(art.file_of(image.colourspace("cmyk"), ".jpg"))
    deep = draw(art.file_of(image.colourspace("rgb16"), ".png"))
    assert art.opened(grey.content).bands == 3
    assert art.is_red(art.colour_at(cmyk.content, 0.9, 0.1))
    assert art.is_red(art.colour_at(deep.content, 0.9, 0.1))


def test_an_animation_is_shown_by_a_frame_with_something_on_it(draw: Draw, art: Any) -> None:
    assert art.is_red(art.colour_at(draw(art.animation()).content, 0.9, 0.1))


@pytest.mark.parametrize(("suffix", "codec"), [("mp4", "libx264"), ("matroska", "mpeg4"), ("webm", "libvpx")])
def test_a_video_is_shown_by_a_frame_near_a_tenth_of_it(draw: Draw, art: Any, suffix: str, codec: str) -> None:
    picture = draw(
        art.video([(art.BLUE, 5), (art.RED, 10), (art.BLUE, 35)], suffix=suffix, codec=codec), MediaType.VIDEO
    )
    assert (picture.width, picture.height) == (100, 56)
    assert art.is_red(art.colour_at(picture.content, 0.8, 0.5))


def test_a_frame_that_is_black_is_passed_over(draw: Draw, art: Any) -> None:
    picture = draw(art.video([(art.BLACK, 45), (art.RED, 55)]), MediaType.VIDEO)
    assert art.is_red(art.colour_at(picture.content, 0.8, 0.5))


def test_a_video_that_is_all_black_is_shown_black(draw: Draw, art: Any) -> None:
    assert max(art.colour_at(draw(art.video([(art.BLACK, 20)]), MediaType.VIDEO).content, 0.5, 0.5)) < 20


def test_pixels_that_are_not_square_are_made_so(draw: Draw, art: Any) -> None:
    def wide(stream: Any) -> None:
        stream.codec_context.sample_aspect_ratio = 2

    picture = draw(art.video([(art.RED, 20)], width=160, height=160, prepare=wide), MediaType.VIDEO)
    assert (picture.width, picture.height) == (100, 50)


def test_only_part_of_a_long_video_is_read(draw: Draw, art: Any) -> None:
    def rich(stream: Any) -> None:
        stream.codec_context.bit_rate = 4_000_000
        stream.codec_context.options = {"nal-hrd": "cbr", "x264-params": "vbv-maxrate=4000:vbv-bufsize=4000"}

    content = art.video([(art.RED, 5), (art.BLUE, 5)] * 20, prepare=rich)
    picture = draw(content, MediaType.VIDEO)
    assert len(content) > 8_000_000
    assert 0 < picture.bytes_read < len(content) / 3


def test_a_decoder_that_takes_too_long_is_killed_and_the_next_file_is_drawn(art: Any) -> None:
    decoder = DecoderProcess(MediaType.IMAGE, DecodeLimits(seconds=0.5))
    wanted = Wanted(MediaType.IMAGE, ThumbnailFormat.JPEG, 100)
    try:
        assert draw_with(decoder, art.jpeg(), wanted).width == 100
        with pytest.raises(ThumbnailFailed) as failed:
            draw_with(decoder, art.endless_png(17_000), wanted)
        assert failed.value.error_code is ErrorCode.THUMB_TIMEOUT
        assert draw_with(decoder, art.jpeg(), wanted).width == 100
    finally:
        decoder.close()


def test_a_decoder_that_dies_is_replaced(art: Any) -> None:
    decoder = DecoderProcess(MediaType.IMAGE)
    wanted = Wanted(MediaType.IMAGE, ThumbnailFormat.JPEG, 100)
    try:
        draw_with(decoder, art.jpeg(), wanted)
        decoder.interrupt()
        with pytest.raises(ThumbnailFailed, match="SIGKILL") as failed:
            draw_with(decoder, art.jpeg(), wanted)
        assert failed.value.error_code is ErrorCode.THUMB_DECODER_DIED
        assert draw_with(decoder, art.jpeg(), wanted).width == 100
    finally:
        decoder.close()


def test_a_decoder_that_takes_too_much_memory_is_refused_it_and_goes_on(art: Any) -> None:
    decoder = DecoderProcess(MediaType.IMAGE, DecodeLimits(memory=64 << 20))
    wanted = Wanted(MediaType.IMAGE, ThumbnailFormat.JPEG, 100)
    try:
        with pytest.raises(ThumbnailFailed) as failed:
            draw_with(decoder, art.endless_png(16_000), wanted)
        assert failed.value.error_code is ErrorCode.THUMB_OUT_OF_MEMORY
        assert draw_with(decoder, art.jpeg(), wanted).width == 100
    finally:
        decoder.close()


def test_a_file_cannot_have_another_one_shown(art: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where it looks for modules may be told from the folder that is left here.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.mp4").write_bytes(art.video([(art.RED, 20)]))
    decoder, wanted = DecoderProcess(MediaType.VIDEO), Wanted(MediaType.VIDEO, ThumbnailFormat.JPEG, 100)
    try:
        with pytest.raises(ThumbnailFailed) as failed:
            draw_with(decoder, b"ffconcat version 1.0\nfile secret.mp4\n", wanted)
        assert failed.value.error_code is ErrorCode.THUMB_UNKNOWN_FORMAT
    finally:
        decoder.close()
