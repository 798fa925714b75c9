"""Captures of models that attnlab does not run itself: equal to their own attention, kept whole, read back safely."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import attnlab
from attnlab.base.errors import ArgumentError, FileError
from attnlab.pretrained.capture_file import read_capture
from attnlab.pretrained.model import open_model
from tests.pretrained.conftest import transformers

SIZES: dict[str, Any] = {
    "vocab_size": 14,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": None,
}
GROUPED: dict[str, Any] = SIZES | {"num_key_value_heads": 2, "head_dim": 6, "sliding_window": 3}
_LAYERS: dict[str, Any] = {
    f"{part}_{name}": count
    for part in ("encoder", "decoder")
    for name, count in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 40))
}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        GROUPED | {"attn_logit_softcapping": 5.0, "query_pre_attn_scalar": 8},
    ),
    "gpt-oss": (
        "GptOssForCausalLM",
        "GptOssConfig",
        GROUPED | {"num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    "gpt-neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES),
    "bart": (
        "BartForConditionalGeneration",
        "BartConfig",
        _LAYERS
        | {"vocab_size": 14, "d_model": 24, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1}
        | {"eos_token_id": 2, "decoder_start_token_id": 1, "forced_eos_token_id": None},
    ),
    "vit": (
        "ViTModel",
        "ViTConfig",
        {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
        | {"image_size": 16, "patch_size": 8},
    ),
}


def make(name: str) -> tuple[Any, dict[str, Tensor]]:
    """Return a small random model and inputs for it, a batch of two."""
    kind, config, settings = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, kind)(getattr(transformers, config)(**settings)).eval()
    ids = torch.randint(3, 14, (2, 9))
    if name == "vit":
        return model, {"pixel_values": torch.randn(2, 3, 16, 16)}
    return model, {"input_ids": ids, **({"decoder_input_ids": ids[:, :4]} if name == "bart" else {})}


def ask_eager(model: Any, inputs: dict[str, Tensor]) -> dict[str, Any]:
    """Return the maps of the model itself, by part."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(**inputs, output_attentions=True)
    if "encoder_attentions" in out:
        return {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
    return {"layers": out.attentions}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_capture_equals_the_models_own_attention(name: str) -> None:
    model, inputs = make(name)
    found = attnlab.capture(model, item=1, **inputs)
    assert found.is_true
    assert found.difference < 1e-5
    expected = ask_eager(model, inputs)
    assert set(found.parts) == set(expected)
    for part, maps in expected.items():
        for layer, own in enumerate(maps):
            torch.testing.assert_close(found.attention(layer, part), own[1], atol=1e-5, rtol=1e-4)


def test_the_model_is_afterwards_what_it_was() -> None:
    model, inputs = make("gemma2")
    before = model.config._attn_implementation
    with torch.no_grad():
        expected = model(**inputs).logits
    attnlab.capture(model, **inputs)
    assert model.config._attn_implementation == before
    with torch.no_grad():
        assert torch.equal(model(**inputs).logits, expected)
    with pytest.raises(ArgumentError, match="item is 2; the batch has 2"):
        attnlab.capture(model, item=2, **inputs)
    assert model.config._attn_implementation == before


def test_half_precision_keeps_half_and_says_how_far_it_is() -> None:
    model, inputs = make("gpt-oss")
    whole, half = attnlab.capture(model, **inputs), attnlab.capture(model, dtype=torch.float16, **inputs)
    assert half.queries(0).nbytes * 2 == whole.queries(0).nbytes
    assert whole.difference < half.difference < 2e-2
    assert half.is_true


@pytest.mark.parametrize("name", ["gemma2", "gpt-oss", "bart"])
def test_a_capture_is_written_and_read_back(name: str, tmp_path: Path) -> None:
    model, inputs = make(name)
    found = attnlab.capture(model, **inputs)
    found.save(tmp_path / "mine.safetensors")
    again = read_capture(tmp_path / "mine.safetensors")
    assert repr(again) == repr(found) == repr(attnlab.read_model(tmp_path / "mine.safetensors"))
    with pytest.raises(FileError, match="is a capture, which has no model to run"):
        open_model(tmp_path / "mine.safetensors")
    assert (again.tokens, again.target_tokens, again.parts) == (found.tokens, found.target_tokens, found.parts)
    for part in found.parts:
        torch.testing.assert_close(again.attention(1, part), found.attention(1, part))
        assert torch.equal(again.values(1, part), found.values(1, part))


def test_damaged_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    model, inputs = make("gpt-neox")
    path = tmp_path / "mine.safetensors"
    attnlab.capture(model, **inputs).save(path)
    whole = path.read_bytes()
    for wrong in (
        b"",
        whole[:100],
        whole[: len(whole) // 2],
        whole.replace(b"0.q", b"9.q"),
        whole.replace(b"tokens", b"tokenz"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(FileError, match="cannot be read as a capture: "):
            read_capture(path)


def test_what_cannot_be_captured_is_named() -> None:
    bloom = transformers.BloomForCausalLM(transformers.BloomConfig(vocab_size=14, hidden_size=24, n_layer=1, n_head=4))
    with pytest.raises(ArgumentError, match="BloomForCausalLM computes its attention without the library’s"):
        attnlab.capture(bloom, input_ids=torch.tensor([[3, 4]]))
    with pytest.raises(ArgumentError, match="capture was given str; it needs a model of the transformers library"):
        attnlab.capture("gpt2")
    model, inputs = make("gpt-neox")
    with pytest.raises(ArgumentError, match=r"dtype is torch\.int8; it needs"):
        attnlab.capture(model, dtype=torch.int8, **inputs)
    found = attnlab.capture(model, **inputs)
    with pytest.raises(ArgumentError, match="layer is 2; it needs a whole number from 0 to 1"):
        found.attention(2)
    with pytest.raises(ArgumentError, match="part is 'cross'; the parts of this capture are layers"):
        found.attention(0, "cross")
