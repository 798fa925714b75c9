"""The bench of films writes a real film, and compares the time with the film's duration."""

import pytest

from attnlab.bench import export

pytestmark = pytest.mark.usefixtures("qapp")


def test_writing_a_film_is_compared_with_its_duration() -> None:
    film = export.measure_film(frames=5)
    assert (film.case, film.unit, film.baseline) == ("MP4, 5 frames", "ms", 200.0)
    assert film.ours > 0
