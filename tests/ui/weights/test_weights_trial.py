"""Any choice of weights gives a computed experiment or one sentence, and can be cancelled."""

import threading
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.document.scene import Scene
from attnlab.files.weights.named_array import NamedArray, make_array
from attnlab.files.weights.projection_layouts import Part
from attnlab.files.weights.weights_in import Proposal
from attnlab.ui.base.jobs import GivenUpError, Progress
from attnlab.ui.weights.mapping_rows import FIELDS
from attnlab.ui.weights.trial import FINEST, Wish, run_trial

MATRICES = [(3, 2), (2, 3), (6, 3), (3, 6), (9, 3), (3, 9), (4, 4), (2, 2), (1, 1), (4, 3), (2, 3, 1), (1, 3, 4)]
SHAPES: list[tuple[int, ...]] = [*MATRICES, (2,), (6,), (9,)]
ARRAYS = {
    f"a{place}": make_array(f"a{place}", shape, "float32", partial(torch.full, shape, 0.3))
    for place, shape in enumerate(SHAPES)
}
ARRAYS["nan"] = make_array("nan", (3, 2), "float32", lambda: torch.full((3, 2), torch.nan))
ways = st.sampled_from([("", "", False), *(("qkv", x, by) for x in "qkv" for by in (False, True)), ("kv", "k", False)])


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Part]:
    made = {}
    for field in draw(st.sets(st.sampled_from(FIELDS), max_size=8)):
        fits = [a for a in ARRAYS.values() if (len(a.shape) < 3 if field[0] == "b" else len(a.shape) > 1)]
        array = draw(st.sampled_from(fits))
        fused, letter, by_head = draw(ways) if len(array.shape) < 3 else ("", "", False)
        turned = draw(st.booleans()) and field[0] == "W"
        made[field] = Part(array.name, turned, fused, by_head, draw(st.booleans()), letter)
    return made


heads = st.sampled_from([None, 1, 2, 3, 5])
embeddings = st.sampled_from(["keep", "drawn", *(a for a in ARRAYS.values() if len(a.shape) == 2)])


@given(parts(), heads, heads, embeddings, st.sampled_from(["journey", "multi-head-8", "padding-batch"]))
@settings(max_examples=300, deadline=None)
def test_every_choice_gives_an_experiment_or_one_sentence(
    chosen: dict[str, Part], n_heads: int | None, n_kv: int | None, rows: NamedArray | str, preset: str
) -> None:
    scene = Scene(attnlab.preset(preset))
    trial = run_trial(Wish(Proposal("", chosen), n_heads, n_kv, rows), ARRAYS, scene, Progress())  # type: ignore[arg-type]
    assert trial.scene is scene
    if trial.experiment is None:
        assert trial.sentence.endswith(".")
        assert "\n" not in trial.sentence
        assert trial.maps is None
    else:
        assert trial.sentence == ""
        assert trial.maps is not None
        expected = attnlab.compute(trial.experiment).array("weights")
        np.testing.assert_array_equal(trial.maps.values, expected)
    if trial.drawable:
        again = run_trial(Wish(Proposal("", chosen), n_heads, n_kv, "drawn"), ARRAYS, scene, Progress())
        assert again.experiment is not None
        assert again.experiment.d_model == trial.drawable


def test_large_matrices_are_reduced_without_losing_peaks() -> None:
    large = torch.zeros(700, 1000)
    large[613, 17] = -8.0
    arrays = {"W_q": make_array("W_q", (700, 1000), "float32", lambda: large)}
    trial = run_trial(Wish(Proposal("", {"W_q": Part("W_q")}), 1), arrays, Scene(attnlab.preset("journey")), Progress())
    (small,) = trial.matrices
    assert small.shape == (700, 1000)
    assert max(small.values.shape) <= FINEST
    assert small.values.min() == -8
    assert small.scale.limit == 8


def test_a_trial_is_computed_in_the_dtype_of_the_window() -> None:
    """Scores of 1e8 and 1e8 + 1 are equal in float32, where they lie 8 apart, and differ in float64."""
    rows = torch.tensor([[1e4, 0.0], [1e4, 1.0]], dtype=torch.float64)
    e = attnlab.Experiment(("a", "b"), rows, config=attnlab.AttentionConfig(scale=1.0))
    arrays = {"W_q": make_array("W_q", (2, 2), "float32", lambda: torch.eye(2))}
    wish = Wish(Proposal("", {"W_q": Part("W_q")}), 1)
    for dtype, last in (("float32", [0.5, 0.5]), ("float64", [1 / (1 + np.e), np.e / (1 + np.e)])):
        maps = run_trial(wish, arrays, Scene(e, dtype=dtype), Progress()).maps
        assert maps is not None
        np.testing.assert_allclose(maps.values[0], [[0.5, 0.5], last], rtol=1e-6)


def test_a_cancelled_trial_stops_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    progress, given_up = Progress(), threading.Event()
    monkeypatch.setattr(progress, "job", SimpleNamespace(given_up=given_up))

    def load(name: str) -> torch.Tensor:
        read.append(name)
        given_up.set()
        return torch.ones(3, 2)

    arrays = {f"W_{x}": make_array(f"W_{x}", (3, 2), "float32", partial(load, x)) for x in "qkv"}
    chosen = {name: Part(name) for name in arrays}
    with pytest.raises(GivenUpError):
        run_trial(Wish(Proposal("", chosen), 1), arrays, Scene(attnlab.preset("journey")), progress)
    assert read == ["q"]
