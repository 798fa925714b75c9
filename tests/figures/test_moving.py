"""Decoded films: each frame is the figure of its value on one colour scale; failures leave no file."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtGui import QImage

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError
from attnlab.base.formats import FILMS
from attnlab.figures.films import film_file
from attnlab.figures.films.film_frame import (
    Film,
    Survey,
    choose_film_colours,
    draw_frame,
    lay_out_film,
    make_film_spec,
    to_rgb,
)
from attnlab.figures.panels.figure_file import draw_figure
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.lessons.sweep import Sweep, make_sweep

pytestmark = pytest.mark.usefixtures("qapp")

Pixels = NDArray[np.uint8]
SMALL = make_film_spec(FigureSpec(("weights",)), 321, 120.0)


def frames_of(e: Experiment, sweep: Sweep, spec: FigureSpec) -> tuple[Film, list[bytes]]:
    traces = [attnlab.compute(sweep.at(e, i)) for i in range(len(sweep.values))]
    survey = Survey(spec)
    for trace in traces:
        survey.add(trace)
    film, last = survey.film(), len(traces) - 1
    return film, [to_rgb(draw_frame(film, trace, sweep.text(i), i / last)) for i, trace in enumerate(traces)]


def decoded(data: bytes, ending: str, size: tuple[int, int], tmp_path: Path) -> list[Pixels]:
    path = tmp_path / f"film{ending}"
    path.write_bytes(data)
    if ending == ".mp4":
        command = [
            film_file.find_ffmpeg(),
            "-loglevel",
            "error",
            "-i",
            str(path),
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-",
        ]
        raw = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, np.uint8)
        return list(raw.reshape(-1, size[1], size[0], 3))
    with Image.open(path) as film:
        found = []
        for i in range(getattr(film, "n_frames", 1)):
            film.seek(i)
            found.append(np.asarray(film.convert("RGB")))
    return found


def pixels(image: QImage) -> Pixels:
    return np.frombuffer(to_rgb(image), np.uint8).reshape(image.height(), image.width(), 3)


@pytest.mark.parametrize(
    ("ending", "mean", "most"), [(".apng", 0, 0), (".gif", 0.5, 40), (".mp4", 1.5, 255)], ids=["apng", "gif", "mp4"]
)
def test_each_frame_is_the_figure_of_its_value(ending: str, mean: float, most: int, tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    sweep = make_sweep(e, "temperature", 0.1, 2.0, 5)
    film, frames = frames_of(e, sweep, SMALL)
    assert film.size[0] == 322
    assert film.size[1] % 2 == 0
    data = film_file.encode(iter(frames), film.size, 5, 25, ending, choose_film_colours(film))
    shown = decoded(data, ending, film.size, tmp_path)
    assert len(shown) == 5
    for i, each in enumerate(shown):
        single = pixels(draw_figure(attnlab.compute(sweep.at(e, i)), SMALL))
        there = each[film.strip : film.strip + single.shape[0], : single.shape[1]].astype(int)
        apart = np.abs(there - single)
        assert apart.mean() <= mean
        assert apart.max() <= most
    texts = [each[: film.strip, :160].astype(int) for each in shown]
    assert all(np.abs(a - b).max() > 100 for a, b in pairwise(texts))  # another number in each


@pytest.mark.parametrize(("ending", "fps", "lasts_ms"), [(".gif", 30, 500), (".apng", 30, 500)])
def test_a_film_has_the_requested_duration_and_loops(ending: str, fps: int, lasts_ms: int, tmp_path: Path) -> None:
    size = (4, 2)
    frames = [bytes([i * 16] * 24) for i in range(15)]
    greys = tuple((i, i, i) for i in range(256))
    path = tmp_path / f"a{ending}"
    path.write_bytes(film_file.encode(frames, size, 15, fps, ending, greys))
    with Image.open(path) as film:
        assert film.info["loop"] == 0
        times = []
        for i in range(15):
            film.seek(i)
            times.append(film.info["duration"])
    assert sum(times) == pytest.approx(lasts_ms)


@pytest.mark.parametrize(
    "values", [(3.0, 1.0, 0.0, 0.5), (0.0, 3.0, 1.0, 0.5), (0.0, 0.5, 1.0, 3.0)], ids=["first", "within", "last"]
)
def test_one_colour_scale_applies_to_the_whole_film(values: tuple[float, ...]) -> None:
    e = attnlab.preset("journey")
    sweep = Sweep("W_q[0, 0]", values)
    spec = make_film_spec(FigureSpec(("scores", "queries")), 640, 120.0)
    film, _ = frames_of(e, sweep, spec)
    traces = [attnlab.compute(sweep.at(e, i)) for i in range(4)]
    for place, stage in enumerate(("scores", "queries")):
        each = [float(np.abs(trace.array(stage)).max()) for trace in traces]
        assert each.index(max(each)) == values.index(3.0), "the largest number is in that frame"
        assert sorted(each)[-2] < max(each)
        limits = [lay_out_film(film, trace).panels[place][2].data.limit for trace in traces]
        assert limits == [pytest.approx(max(each))] * 4


def test_numbers_that_are_small_in_some_frames_have_no_power_of_ten() -> None:
    e, survey = attnlab.preset("journey"), Survey(FigureSpec(("scores",)))
    small, large = (attnlab.compute(edits.with_table(e, "embeddings", e.embeddings * factor)) for factor in (1e-4, 1))
    for trace in (small, large):
        survey.add(trace)
    ((_, _, shown),) = lay_out_film(survey.film(), small).panels
    assert (shown.title, shown.data.power) == (("Scores",), "")


def test_frames_of_different_figures_have_one_size() -> None:
    e = attnlab.preset("journey")
    sizes = set()
    for ends in ((2, 6), (6, 2)):
        film, frames = frames_of(e, make_sweep(e, "T", *ends, 5), SMALL)
        assert {len(frame) for frame in frames} == {film.size[0] * film.size[1] * 3}
        sizes.add(film.size)
    assert len(sizes) == 1, "the largest figure counts, be it the first or the last"
    frames_of(e, Sweep("causal", (False, True)), make_film_spec(FigureSpec((), canvas=True), 400, 170.0))


def test_a_gif_uses_the_nearest_palette_colours() -> None:
    random = np.random.default_rng(1)
    colours = tuple(map(tuple, random.integers(0, 256, (200, 3)).tolist()))
    frame = random.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    entries = film_file._Nearest(colours).find_entries(frame.tobytes(), (50, 40))
    apart = ((frame[:, :, None].astype(int) - np.array(colours)) ** 2).sum(3)
    np.testing.assert_array_equal(np.take_along_axis(apart, entries[..., None].astype(int), 2)[..., 0], apart.min(2))


@pytest.mark.parametrize("ending", FILMS)
def test_a_cancelled_film_leaves_no_process_and_no_file(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    children: list[subprocess.Popen[bytes]] = []
    usual = subprocess.Popen

    def started(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        children.append(usual(*arguments, **options))  # type: ignore[call-overload]
        return children[-1]

    monkeypatch.setattr(film_file.subprocess, "Popen", started)

    def frames() -> Iterator[bytes]:
        yield bytes(64 * 64 * 3)
        yield bytes(64 * 64 * 3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film_file.encode(frames(), (64, 64), 9, 25, ending, ((0, 0, 0),))
    assert all(child.poll() is not None for child in children)
    films = [child for child in children if "rawvideo" in child.args]  # imageio-ffmpeg tries the program once too
    assert len(films) == (ending == ".mp4")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("size", "count", "fps", "ending", "sentence"),
    [
        ((64, 64), 5, 25, ".avi", "cannot have the ending '.avi'; it can be .mp4, .gif, .apng"),
        ((64, 64), 5, 0, ".gif", "A film cannot have 0 frames a second; it needs 1 to 50"),
        ((5000, 64), 5, 25, ".apng", "the maximum is 4096"),
        ((1000, 1000), 401, 25, ".gif", "fewer frames, or an MP4"),
        ((63, 63), 2, 25, ".mp4", "ffmpeg did not write the film: "),
    ],
)
def test_an_impossible_film_is_refused_in_one_sentence(
    size: tuple[int, int], count: int, fps: int, ending: str, sentence: str
) -> None:
    frames = (bytes(size[0] * size[1] * 3) for _ in range(count))
    with pytest.raises(AttnlabError) as caught:
        film_file.encode(frames, size, count, fps, ending)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_ffmpeg_writing_an_mp4_names_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AttnlabError, match=r'pip install "attnlab\[film\]"'):
        film_file.check_film((64, 64), 5, 25, ".mp4")
    film_file.check_film((64, 64), 5, 25, ".gif")


def test_a_film_has_no_transparent_ground() -> None:
    with pytest.raises(AttnlabError, match="cannot have a transparent background"):
        make_film_spec(FigureSpec(ground="transparent"), 640, 120.0)


def test_ffmpeg_does_not_load_the_libraries_of_a_frozen_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The launcher of a frozen program sets the library path, and saves the previous one."""
    said, real = tmp_path / "said", film_file.find_ffmpeg()
    wrapper = tmp_path / "ffmpeg"
    wrapper.write_text(f'#!/bin/sh\necho "$LD_LIBRARY_PATH" > "{said}"\nexec "{real}" "$@"\n')
    wrapper.chmod(0o700)
    monkeypatch.setattr(film_file, "find_ffmpeg", lambda: str(wrapper))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/attnlab/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/lib")
    film_file.encode(iter([bytes(12)] * 2), (2, 2), 2, 5, ".mp4")
    assert said.read_text() == "/opt/lib\n"
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG")
    film_file.encode(iter([bytes(12)] * 2), (2, 2), 2, 5, ".mp4")
    assert said.read_text() == "\n"


def test_a_frozen_program_does_not_suggest_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(AttnlabError, match="An MP4 needs ffmpeg: install it with your system’s packages; a GIF"):
        film_file.find_ffmpeg()
