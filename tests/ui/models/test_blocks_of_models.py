"""A layer of a model, opened in the playground as a whole block, shows the numbers that transformers computes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.attention.stages.presence import find_last
from tests.pretrained.conftest import WORDS, make_model, save_tokenizer
from tests.ui.models.reader import ModelReader

LAYERS = {
    "gpt2": lambda model: model.transformer.h,
    "llama": lambda model: model.model.layers,
    "bert": lambda model: model.bert.encoder.layer,
}


def compute_layer(model: Any, layers: Any, at: int, ids: list[int]) -> np.ndarray:
    """Return what leaves a layer of a model of transformers, [T, d_model]."""
    found: list[torch.Tensor] = []
    hook = layers[at].register_forward_hook(lambda _, __, out: found.append(out[0] if isinstance(out, tuple) else out))
    with torch.no_grad():
        model(torch.tensor([ids]))
    hook.remove()
    numbers: np.ndarray = found[0].reshape(len(ids), -1).numpy()
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("family", LAYERS)
def test_the_last_card_shows_what_leaves_the_layer(reader: ModelReader, tmp_path: Path, family: str) -> None:
    model = make_model(family)
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path, family)
    reader.open(str(tmp_path), "the cat sat on the mat")
    reader.models.session.show(layer=1, head=1)
    reader.wait()
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()
    e = reader.experiment
    expected = compute_layer(model, LAYERS[family](model), 1, [WORDS.index(token) for token in e.tokens])
    np.testing.assert_allclose(reader.painted(find_last(e))[0], expected, atol=1e-5)
    reader.check_every_number()
