"""Runs of the training as models: the same attention and predictions as the training's own, for every kind."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attnlab
from attnlab.base.errors import ArgumentError, FileError
from attnlab.compute.engine import compute
from attnlab.pretrained.model import Model, read_model
from attnlab.training import tasks
from attnlab.training.batch import BEGIN
from attnlab.training.look import Viewer
from attnlab.training.messages import Arrays
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.training.store import save

CASES = [
    ("induction", {}),
    ("induction", {"kind": "decoder", "norm": "after", "positions": "sinusoidal"}),
    ("induction", {"kind": "decoder", "norm": "none", "positions": "rope"}),
    ("induction", {"norm": "none", "positions": "t5"}),
    ("reverse", {}),
    ("reverse", {"kind": "encoder", "positions": "t5"}),
    ("reverse", {"kind": "encoder-decoder"}),
    ("reverse", {"kind": "encoder-decoder", "norm": "after", "positions": "t5"}),
    ("masked", {"norm": "after"}),
    ("characters", {"d_ff": 0}),
]
TEXTS = {"induction": "c a d b c a", "reverse": "d a c b", "masked": "the girl sees ▢ .", "characters": "Shall I"}


def make_spec(task: str, changes: dict[str, object]) -> RunSpec:
    spec = tasks.TASKS[task].settings(str(changes.get("kind", tasks.TASKS[task].kinds[0])))
    return replace(spec, model=replace(spec.model, **changes))  # type: ignore[arg-type]


def draw_weights(spec: RunSpec) -> Arrays:
    """Return weights far from the first ones, so that heads differ."""
    g = torch.Generator().manual_seed(1)
    state = Viewer(spec).model.state_dict()
    return {name: (x + 0.3 * torch.randn(x.shape, generator=g)).numpy() for name, x in state.items()}


def save_run(folder: Path, spec: RunSpec, weights: Arrays | None) -> Path:
    run = Run(spec, "a run")
    if weights is not None:
        run.recorder.add(Moment(0, weights, math.nan))
    save(run.state(), folder)
    return folder


@pytest.mark.parametrize(("task", "changes"), CASES)
def test_attention_and_predictions_are_those_of_the_training(
    tmp_path: Path, task: str, changes: dict[str, object]
) -> None:
    spec = make_spec(task, changes)
    weights = draw_weights(spec)
    model, viewer = read_model(save_run(tmp_path / "run", spec, weights)), Viewer(spec)
    text = TEXTS[task]
    both = "cross" in model.parts
    run = model.run(text, "d a" if both else None)
    viewer.load(weights)
    ids = torch.tensor([[model.tokenizer.number(token) for token in run.tokens]])
    written = torch.tensor([[BEGIN, *(model.tokenizer.number(token) for token in run.target_tokens[1:])]])
    with torch.no_grad(), attnlab.training.models.watch(viewer.model) as traces:
        memory = viewer.model.encode(ids) if both else None
        logits = viewer.model.decode(written if both else ids, memory)[0]
    for part in model.parts:
        for layer in range(model.stack(part).n_layers):
            name = f"{part if both else viewer.layers[0].split()[0]} {layer + 1}"
            expected = traces[name]["weights"][0].detach()
            torch.testing.assert_close(run.attention(layer, part), expected, atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(
                compute(run.experiment(layer, part)).array("weights"), expected.numpy(), atol=1e-5
            )
    for place in range(len(logits)):
        torch.testing.assert_close(run.probabilities(place), logits[place].softmax(-1), atol=1e-5, rtol=1e-4)


def test_a_head_that_is_off_gives_another_prediction(tmp_path: Path) -> None:
    spec = make_spec("reverse", {})
    model = read_model(save_run(tmp_path / "run", spec, draw_weights(spec)))
    run = model.run("d a c b ⟨")
    without = run.change([(0, 1)])
    assert float((run.probabilities() - without.probabilities()).abs().max()) > 1e-4
    assert repr(model).startswith("<Model run: GPT-style decoder, 2 layers × 4 heads")
    assert model.n_parameters == sum(array.size for array in draw_weights(spec).values())


def test_text_is_cut_as_the_task_cuts_it(tmp_path: Path) -> None:
    def read(task: str) -> Model:
        spec = make_spec(task, {})
        return read_model(save_run(tmp_path / task, spec, draw_weights(spec)))

    letters, characters, words = read("reverse"), read("characters"), read("masked")
    assert letters.run("dac b⟨").tokens == ("d", "a", "c", "b", "⟨")
    assert characters.run("a b").tokens == ("a", " ", "b")
    assert words.run("the  girl ▢").tokens == ("the", "girl", "▢")
    assert letters.tokenizer.append("d a", "c") == "d a c"
    assert characters.tokenizer.append("a ", "b") == "a b"
    assert words.tokenizer.append("the", "girl") == "the girl"
    with pytest.raises(ArgumentError, match=r"'z' is not a token of this model; its tokens are a, b, c, .*\.$"):
        letters.run("d z")


@pytest.mark.parametrize(
    ("task", "changes", "sentence"),
    [
        ("sum", {}, "reads rows of numbers, not tokens; open it in Train"),
        ("reverse", {"kind": "luong"}, "is a recurrent model, which has no layers of heads"),
        ("reverse", {"positions": "alibi"}, "has the positions alibi; a model here has one of none, learned"),
    ],
)
def test_a_run_without_such_layers_is_refused(
    tmp_path: Path, task: str, changes: dict[str, object], sentence: str
) -> None:
    spec = make_spec(task, changes)
    folder = save_run(tmp_path / "mine", spec, draw_weights(spec))
    with pytest.raises(FileError, match=f"^mine {sentence}"):
        read_model(folder)


def test_a_run_without_weights_or_with_others_is_refused(tmp_path: Path) -> None:
    spec = make_spec("reverse", {})
    with pytest.raises(FileError, match="has recorded no weights yet; train it for at least one step"):
        read_model(save_run(tmp_path / "new", spec, None))
    weights = draw_weights(spec)
    with pytest.raises(FileError, match=r"norm\.bias of less is missing; its settings need \[48\]\."):
        read_model(save_run(tmp_path / "less", spec, {k: v for k, v in weights.items() if k != "norm.bias"}))
    narrow = {**weights, "norm.bias": weights["norm.bias"][:3]}
    with pytest.raises(FileError, match=r"norm\.bias of narrow has shape \[3\]; its settings need \[48\]\."):
        read_model(save_run(tmp_path / "narrow", spec, narrow))


def test_a_run_on_a_text_that_nobody_allowed_does_not_read_it(tmp_path: Path) -> None:
    own = tmp_path / "private.txt"
    own.write_text("secret " * 100)
    spec = make_spec("characters", {})
    spec = replace(spec, options={**spec.options, "text": str(own)})
    weights = draw_weights(make_spec("characters", {}))
    with pytest.raises(FileError, match="which you have not chosen on this computer"):
        read_model(save_run(tmp_path / "run", spec, weights))
