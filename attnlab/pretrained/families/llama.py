"""Llama (Touvron et al. 2023), Mistral (Jiang et al. 2023), Qwen 2 and 3: decoders with RMSNorm, RoPE and SwiGLU."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name
from attnlab.pretrained.architecture import Architecture, Stack
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.parts import (
    MOST_HEADS,
    find_prefix,
    read_linear,
    read_rms_norm,
    read_sizes,
    refuse_more_layers,
    refuse_unless,
    refuse_unread,
    split_heads,
)
from attnlab.pretrained.families.rope import LAYER_KINDS, find_limit, read_rotation
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import AttentionLayer, FeedForward, Layer, find_activation

MISTRAL_WINDOW = 4096
"""The window of a Mistral whose config.json says nothing of it."""
_FREQUENCIES = (".rotary_emb.inv_freq",)
"""The frequencies of RoPE, which files from before transformers 4.32 contain."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes of the attention of every layer."""

    d_model: int
    n_heads: int
    n_kv_heads: int
    d_k: int
    eps: float


class _Biases(NamedTuple):
    """Which linear maps of a layer have biases."""

    qkv: bool
    o: bool
    mlp: bool


def build_llama(folder: ModelFolder) -> Architecture:
    """Return a Llama, or one of the families that differ from it only in what config.json says."""
    settings = Settings(folder.config)
    sizes, n_layers = _read_sizes(settings)
    refuse_unless(settings, "partial_rotary_factor", 1.0)
    words = settings.whole("vocab_size")
    prefix = find_prefix(folder, ("model.", ""), "embed_tokens.weight")
    refuse_more_layers(folder, prefix + "layers.{}.", n_layers)

    def embed(ids: Tensor) -> Tensor:
        return folder.read(f"{prefix}embed_tokens.weight", words, sizes.d_model)[ids]

    def predict(hidden: Tensor) -> Tensor:
        name = "lm_head.weight" if folder.has("lm_head.weight") else f"{prefix}embed_tokens.weight"
        return hidden @ folder.read(name, words, sizes.d_model).T

    return Architecture(
        about=f"{str(folder.config.get('model_type')).capitalize()} decoder",
        stacks=(
            Stack(
                name="decoder",
                n_layers=n_layers,
                embed=embed,
                layer=lambda i: _read_layer(folder, settings, f"{prefix}layers.{i}.", i, sizes),
                norm=lambda: read_rms_norm(folder, f"{prefix}norm", sizes.d_model, sizes.eps),
            ),
        ),
        n_heads=sizes.n_heads,
        d_model=sizes.d_model,
        words=words,
        limit=find_limit(settings),
        predicts="next",
        predict=predict,
    )


def _read_sizes(settings: Settings) -> tuple[_Sizes, int]:
    n_layers, n_heads, d_model = read_sizes(
        settings, ("num_hidden_layers",), ("num_attention_heads",), ("hidden_size",)
    )
    n_kv_heads = settings.whole("num_key_value_heads", default=n_heads, most=MOST_HEADS)
    if n_heads % n_kv_heads:
        raise FileError(f"config.json has {n_kv_heads} key heads, which do not divide its {n_heads} heads.")
    d_k = settings.whole("head_dim") if settings.get("head_dim") is not None else split_heads(d_model, n_heads)
    return _Sizes(d_model, n_heads, n_kv_heads, d_k, settings.number("rms_norm_eps", default=1e-6)), n_layers


def _read_layer(folder: ModelFolder, settings: Settings, at: str, index: int, sizes: _Sizes) -> Layer:
    d_model, d_k = sizes.d_model, sizes.d_k
    wide = settings.whole("intermediate_size")
    query, key = sizes.n_heads * d_k, sizes.n_kv_heads * d_k
    self = f"{at}self_attn."
    normed = settings.get("model_type") == "qwen3"
    biases = _find_biases(settings)
    layer = Layer(
        attention=AttentionLayer(
            q=read_linear(folder, f"{self}q_proj", d_model, query, biases.qkv),
            k=read_linear(folder, f"{self}k_proj", d_model, key, biases.qkv),
            v=read_linear(folder, f"{self}v_proj", d_model, key, biases.qkv),
            o=read_linear(folder, f"{self}o_proj", query, d_model, biases.o),
            n_heads=sizes.n_heads,
            n_kv_heads=sizes.n_kv_heads,
            divisor=math.sqrt(d_k),
            causal=True,
            window=_find_window(settings, index),
            rotation=read_rotation(settings, d_k),
            norm_q=read_rms_norm(folder, f"{self}q_norm", d_k, sizes.eps) if normed else None,
            norm_k=read_rms_norm(folder, f"{self}k_norm", d_k, sizes.eps) if normed else None,
        ),
        attention_norm=read_rms_norm(folder, f"{at}input_layernorm", d_model, sizes.eps),
        feed_forward=FeedForward(
            into=read_linear(folder, f"{at}mlp.up_proj", d_model, wide, biases.mlp),
            out=read_linear(folder, f"{at}mlp.down_proj", wide, d_model, biases.mlp),
            gate=read_linear(folder, f"{at}mlp.gate_proj", d_model, wide, biases.mlp),
            activation=find_activation(settings.text("hidden_act", "silu")),
        ),
        feed_forward_norm=read_rms_norm(folder, f"{at}post_attention_layernorm", d_model, sizes.eps),
        norm_first=True,
    )
    refuse_unread(folder, at, _FREQUENCIES)
    return layer


def _find_biases(settings: Settings) -> _Biases:
    """Return which linear maps have biases: in Qwen 2 always those of queries, keys and values, in Mistral none."""
    family = settings.get("model_type")
    if family == "qwen2":
        return _Biases(qkv=True, o=False, mlp=False)
    attention = family != "mistral" and settings.flag("attention_bias", False)
    return _Biases(qkv=attention, o=attention, mlp=family == "llama" and settings.flag("mlp_bias", False))


def _find_window(settings: Settings, index: int) -> int | None:
    """Return how many keys a query of this layer sees, itself included; None for all before it.

    Mistral has one window for all layers. Qwen switches it on, and lists the layers or says from which one on.

    Raises:
        FileError: a layer is of an unknown kind.
    """
    family = settings.get("model_type")
    if family == "mistral" and not settings.has("sliding_window"):
        return MISTRAL_WINDOW
    if settings.get("sliding_window") is None or family == "llama":
        return None
    if family != "mistral":
        if not settings.flag("use_sliding_window", False):
            return None
        kinds = settings.get("layer_types")
        if kinds is None:
            slides = index >= settings.whole("max_window_layers", default=28, least=0)
        else:
            slides = _find_kind(kinds, index) == "sliding_attention"
        if not slides:
            return None
    return settings.whole("sliding_window")


def _find_kind(kinds: object, index: int) -> str:
    kind = kinds[index] if isinstance(kinds, list) and index < len(kinds) else None
    if kind not in LAYER_KINDS:
        raise FileError(
            f"config.json has {shorten_name(repr(kind))} for layer {index} of layer_types; "
            f"it needs {' or '.join(LAYER_KINDS)}."
        )
    return str(kind)
