"""GPT-2 (Radford et al. 2019): a decoder with learned positions and norms first, whose matrices are saved [in, out]."""

import math

from torch import Tensor

from attnlab.pretrained.architecture import Architecture, Stack
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.parts import (
    find_prefix,
    read_layer_norm,
    read_sizes,
    refuse_more_layers,
    refuse_unread,
    split_heads,
)
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import AttentionLayer, FeedForward, Layer, Linear, find_activation

_MASKS = (".attn.bias", ".attn.masked_bias")
"""The causal mask, which files from before transformers 4.31 contain."""


def build_gpt2(folder: ModelFolder) -> Architecture:
    """Return a GPT-2."""
    settings = Settings(folder.config)
    n_layers, n_heads, d_model = read_sizes(
        settings, ("n_layer", "num_hidden_layers"), ("n_head", "num_attention_heads"), ("n_embd", "hidden_size")
    )
    split_heads(d_model, n_heads)
    words, positions = settings.whole("vocab_size"), settings.whole("n_positions", "max_position_embeddings")
    prefix = find_prefix(folder, ("transformer.", ""), "wte.weight")
    refuse_more_layers(folder, prefix + "h.{}.", n_layers)

    def embed(ids: Tensor) -> Tensor:
        places = folder.read(f"{prefix}wpe.weight", positions, d_model)
        return folder.read(f"{prefix}wte.weight", words, d_model)[ids] + places[: len(ids)]

    def predict(hidden: Tensor) -> Tensor:
        name = "lm_head.weight" if folder.has("lm_head.weight") else f"{prefix}wte.weight"
        return hidden @ folder.read(name, words, d_model).T

    return Architecture(
        about="GPT-2 decoder",
        stacks=(
            Stack(
                name="decoder",
                n_layers=n_layers,
                embed=embed,
                layer=lambda i: _read_layer(folder, settings, f"{prefix}h.{i}.", i, d_model, n_heads),
                norm=lambda: read_layer_norm(folder, f"{prefix}ln_f", d_model, _eps(settings)),
            ),
        ),
        n_heads=n_heads,
        d_model=d_model,
        words=words,
        limit=positions,
        predicts="next",
        predict=predict,
    )


def _eps(settings: Settings) -> float:
    return settings.number("layer_norm_epsilon", default=1e-5)


def _read_layer(folder: ModelFolder, settings: Settings, at: str, index: int, d_model: int, n_heads: int) -> Layer:
    wide = settings.whole("n_inner", default=4 * d_model)
    weight, bias = (
        folder.read(f"{at}attn.c_attn.weight", d_model, 3 * d_model),
        folder.read(f"{at}attn.c_attn.bias", 3 * d_model),
    )
    q, k, v = map(Linear, weight.chunk(3, 1), bias.chunk(3))
    divisor = math.sqrt(d_model // n_heads) if settings.flag("scale_attn_weights", True) else 1.0
    if settings.flag("scale_attn_by_inverse_layer_idx", False):
        divisor *= index + 1
    layer = Layer(
        attention=AttentionLayer(
            q=q,
            k=k,
            v=v,
            o=_read_conv(folder, f"{at}attn.c_proj", d_model, d_model),
            n_heads=n_heads,
            n_kv_heads=n_heads,
            divisor=None if divisor == 1.0 else divisor,
            causal=True,
        ),
        attention_norm=read_layer_norm(folder, f"{at}ln_1", d_model, _eps(settings)),
        feed_forward=FeedForward(
            into=_read_conv(folder, f"{at}mlp.c_fc", d_model, wide),
            out=_read_conv(folder, f"{at}mlp.c_proj", wide, d_model),
            activation=find_activation(settings.text("activation_function", "gelu_new")),
        ),
        feed_forward_norm=read_layer_norm(folder, f"{at}ln_2", d_model, _eps(settings)),
        norm_first=True,
    )
    refuse_unread(folder, at, _MASKS)
    return layer


def _read_conv(folder: ModelFolder, name: str, into: int, out: int) -> Linear:
    return Linear(folder.read(f"{name}.weight", into, out), folder.read(f"{name}.bias", out))
