"""Settings of config.json that few models have: each is computed as the transformers library does, or refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.base.errors import FileError
from attnlab.pretrained.model import open_model, read_model
from tests.pretrained.conftest import MODELS, Make, make_model, save_tokenizer
from tests.pretrained.test_families import agree, ask_transformers, text_of

LIST = {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Return a function that compares a model of a family with other settings to that of transformers."""

    def check(name: str, text: str = text_of(12), **changes: Any) -> None:
        kind, config, sizes = MODELS[name]
        monkeypatch.setitem(MODELS, f"odd {name}", (kind, config, sizes | changes))
        theirs = make_model(f"odd {name}")
        theirs.save_pretrained(tmp_path)
        save_tokenizer(tmp_path, name)
        run = read_model(tmp_path).run(text)
        found = ask_transformers(theirs, run.model, run)
        for layer, each in enumerate(found.attentions):
            agree(run.attention(layer), each[0])
            agree(run.hidden(layer), found.hidden_states[layer][0])
        agree(run.probabilities(-len(run.tokens)), found.logits[0, 0].softmax(-1))

    return check


@pytest.mark.parametrize("more", [{"use_sliding_window": False}, LIST])
def test_mistral_has_its_window_in_every_layer(compare: Callable[..., None], more: dict[str, Any]) -> None:
    compare("mistral", sliding_window=3, **more)


def test_llama_has_no_window(compare: Callable[..., None]) -> None:
    compare("llama", sliding_window=3, use_sliding_window=True, **LIST)


@pytest.mark.parametrize("family", ["qwen2", "qwen3"])
def test_qwen_lists_the_layers_with_a_window(compare: Callable[..., None], family: str) -> None:
    compare(family, use_sliding_window=True, sliding_window=3, **LIST)


def test_the_epsilon_of_distilbert_is_fixed(compare: Callable[..., None]) -> None:
    compare("distilbert", layer_norm_eps=0.5)


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert"])
def test_an_output_layer_that_is_not_tied_has_a_bias_of_its_own(compare: Callable[..., None], name: str) -> None:
    compare(name, tie_word_embeddings=False)


def test_roberta_leaves_tokens_of_padding_out_of_its_positions(compare: Callable[..., None]) -> None:
    compare("roberta", "the [PAD] cat [PAD] [PAD] sat on it")


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("qwen2", {"layer_types": ["odd_attention"] * 3}, "'odd_attention' for layer 2 of layer_types; it needs full_"),
        ("qwen2", {"layer_types": []}, "config.json has None for layer 2 of layer_types"),
        ("qwen3", {"layer_types": 7, "use_sliding_window": True, "sliding_window": 3}, "None for layer 2 of layer_typ"),
        ("llama", {"rope_parameters": {"full_attention": {"rope_theta": 5.0}}}, "has a RoPE of its own for full_atten"),
        (
            "llama",
            {"rope_parameters": {"partial_rotary_factor": 0.5}},
            "has 0.5 for partial_rotary_factor; attnlab run",
        ),
        (
            "roberta",
            {"pad_token_id": 309},
            "config.json has 310 positions, and none of them is after that of padding, 309",
        ),
        (
            "roberta",
            {"pad_token_id": 400},
            "config.json has 310 positions, and none of them is after that of padding, 400",
        ),
    ],
)
def test_what_would_be_ignored_is_refused(
    make: Make, tmp_path: Path, name: str, changes: dict[str, Any], told: str
) -> None:
    for file in make(name)[1].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(FileError) as raised:
        read_model(tmp_path).run(text_of(3)).attention(2)
    assert told in str(raised.value)


def test_a_qwen3_without_the_norms_of_queries_is_refused(make: Make, tmp_path: Path) -> None:
    theirs, folder = make("qwen3")
    state = {key: value.clone() for key, value in theirs.state_dict().items() if "q_norm" not in key}
    torch.save(state, tmp_path / "pytorch_model.bin")
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(FileError, match=r"has no tensor model\.layers\.0\.self_attn\.q_norm\.weight"):
        read_model(tmp_path).run(text_of(3)).attention(0)


def test_a_mistral_without_a_window_in_its_config_has_the_usual_one(tmp_path: Path) -> None:
    make_model("mistral").save_pretrained(tmp_path)
    save_tokenizer(tmp_path, "mistral")
    config = json.loads((tmp_path / "config.json").read_text())
    del config["sliding_window"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert open_model(tmp_path).stack("decoder").layer(0).attention.window == 4096
    (tmp_path / "config.json").write_text(json.dumps(config | {"sliding_window": None}))
    assert open_model(tmp_path).stack("decoder").layer(0).attention.window is None
