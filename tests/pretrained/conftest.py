"""Small random models of every family, made and saved by the transformers library, for comparison with it."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

os.environ["HF_HUB_OFFLINE"] = "1"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import transformers

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "it", "was", ",", "soft")
SPECIALS = WORDS[:5]
_SIZES: dict[str, Any] = {"vocab_size": len(WORDS), "bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
_ENCODER = _SIZES | {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 310,
}
_DECODER = _ENCODER | {"num_key_value_heads": 2}
_T5 = _SIZES | {"d_model": 24, "d_ff": 40, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4, "d_kv": 5}


def _scaled(kind: str, **more: object) -> dict[str, Any]:
    return _DECODER | {"rope_parameters": {"rope_type": kind, "rope_theta": 500.0, **more}}


MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", "BertConfig", _ENCODER),
    "bert-alone": ("BertModel", "BertConfig", _ENCODER | {"hidden_act": "relu"}),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", _ENCODER | {"type_vocab_size": 1}),
    "xlm-roberta": ("XLMRobertaModel", "XLMRobertaConfig", _ENCODER),
    "distilbert": (
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        _SIZES | {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 40, "max_position_embeddings": 310},
    ),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", _SIZES | {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 310}),
    "gpt2-by-layer": (
        "GPT2LMHeadModel",
        "GPT2Config",
        _SIZES
        | {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 310, "n_inner": 32}
        | {"scale_attn_by_inverse_layer_idx": True},
    ),
    "llama": ("LlamaForCausalLM", "LlamaConfig", _DECODER | {"attention_bias": True}),
    "llama-linear": ("LlamaForCausalLM", "LlamaConfig", _scaled("linear", factor=4.0)),
    "llama-3": (
        "LlamaForCausalLM",
        "LlamaConfig",
        _scaled(
            "llama3",
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=64,
        ),
    ),
    "llama-yarn": (
        "LlamaForCausalLM",
        "LlamaConfig",
        _scaled("yarn", factor=4.0, original_max_position_embeddings=64),
    ),
    "llama-dynamic": (
        "LlamaForCausalLM",
        "LlamaConfig",
        _scaled("dynamic", factor=8.0) | {"max_position_embeddings": 64},
    ),
    "llama-longrope": (
        "LlamaForCausalLM",
        "LlamaConfig",
        _scaled(
            "longrope",
            short_factor=[1.0, 1.1, 1.5],
            long_factor=[1.0, 2.0, 6.5],
            original_max_position_embeddings=64,
        ),
    ),
    "mistral": ("MistralForCausalLM", "MistralConfig", _DECODER | {"sliding_window": 7, "head_dim": 10}),
    "qwen2": (
        "Qwen2ForCausalLM",
        "Qwen2Config",
        _DECODER | {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", _DECODER | {"head_dim": 8, "tie_word_embeddings": True}),
    "t5": ("T5ForConditionalGeneration", "T5Config", _T5 | {"decoder_start_token_id": 0}),
    "t5-gated": (
        "T5ForConditionalGeneration",
        "T5Config",
        _T5 | {"decoder_start_token_id": 0, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    ),
    "t5-encoder": ("T5EncoderModel", "T5Config", _T5),
}
"""The class, the class of its config, and its sizes, by the name of a model."""

SCALED = ("llama-linear", "llama-3", "llama-yarn", "llama-dynamic", "llama-longrope")
"""Models that scale the frequencies of RoPE."""

Make = Callable[..., tuple[Any, Path]]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return a function that makes one of ``MODELS`` and saves it; it returns the model and its folder."""
    made: dict[str, tuple[Any, Path]] = {}

    def build(name: str) -> tuple[Any, Path]:
        if name not in made:
            model = make_model(name)
            folder = tmp_path_factory.mktemp(name)
            model.save_pretrained(folder)
            save_tokenizer(folder, name)
            made[name] = model, folder
        return made[name]

    return build


def make_model(name: str) -> Any:
    """Return one of ``MODELS``, with random numbers large enough that its attention is far from even."""
    kind, config, sizes = MODELS[name]
    torch.manual_seed(sum(map(ord, name)))
    model = getattr(transformers, kind)(getattr(transformers, config)(**sizes)).eval()
    model.set_attn_implementation("eager")
    for parameter in model.parameters():
        flat = parameter.ndim == 1
        torch.nn.init.normal_(parameter, 1.0 if flat else 0.0, 0.1 if flat else 0.25)
    return model


def save_tokenizer(folder: Path, name: str) -> None:
    """Save a tokenizer with one token a word; that of a BERT puts [CLS] and [SEP] around the text."""
    inner: Any = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.add_special_tokens(list(SPECIALS))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if "bert" in name:
        inner.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))]
        )
    inner.save(str(folder / "tokenizer.json"))
