"""T5 (Raffel et al. 2020): an encoder and a decoder with RMSNorm, unscaled scores and a learned bias for distances."""

from typing import Any

from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name
from attnlab.pretrained.architecture import Architecture, Stack, StackName
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.parts import (
    find_prefix,
    read_linear,
    read_rms_norm,
    read_sizes,
    refuse_more_layers,
    refuse_unread,
)
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import AttentionLayer, Bias, FeedForward, Layer, find_activation

_UNUSED = (".EncDecAttention.relative_attention_bias.weight",)
"""The table of cross-attention, which the first T5 files contain and no model reads."""


def build_t5(folder: ModelFolder) -> Architecture:
    """Return a T5, with its decoder if the folder has one."""
    settings = Settings(folder.config)
    n_layers, n_heads, d_model = read_sizes(settings, ("num_layers",), ("num_heads",), ("d_model",))
    words = settings.whole("vocab_size")
    shared = find_prefix(folder, ("shared.weight", "encoder.embed_tokens.weight"), "")
    whole = folder.has("decoder.final_layer_norm.weight")
    depth = {"encoder": n_layers, "decoder": settings.whole("num_decoder_layers", default=n_layers)}

    for name in ("encoder", "decoder") if whole else ("encoder",):
        refuse_more_layers(folder, name + ".block.{}.", depth[name])

    def embed(ids: Tensor) -> Tensor:
        return folder.read(shared, words, d_model)[ids]

    def make_stack(name: StackName) -> Stack:
        return Stack(
            name=name,
            n_layers=depth[name],
            embed=embed,
            layer=lambda i: _read_layer(folder, settings, name, i, d_model, n_heads),
            norm=lambda: read_rms_norm(folder, f"{name}.final_layer_norm", d_model, _eps(settings)),
        )

    def predict(hidden: Tensor) -> Tensor:
        """Return the logits; the first T5, which shares the table of its embeddings, scales what enters it."""
        if settings.flag("scale_decoder_outputs", settings.flag("tie_word_embeddings", True)):
            hidden = hidden * d_model**-0.5
        return hidden @ folder.read("lm_head.weight" if folder.has("lm_head.weight") else shared, words, d_model).T

    return Architecture(
        about="T5 encoder–decoder" if whole else "T5 encoder",
        stacks=(make_stack("encoder"), make_stack("decoder")) if whole else (make_stack("encoder"),),
        n_heads=n_heads,
        d_model=d_model,
        words=words,
        limit=None,
        predicts="next" if whole else None,
        predict=predict if whole else None,
        start=settings.whole("decoder_start_token_id", "pad_token_id", default=0, least=0) if whole else None,
    )


def _eps(settings: Settings) -> float:
    return settings.number("layer_norm_epsilon", default=1e-6)


def _read_layer(
    folder: ModelFolder, settings: Settings, stack: StackName, index: int, d_model: int, n_heads: int
) -> Layer:
    at = f"{stack}.block.{index}.layer."
    decodes = stack == "decoder"
    last = 2 if decodes else 1
    bias_at = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"  # of all layers
    buckets = settings.whole("relative_attention_num_buckets", default=32, least=4)
    farthest = settings.whole("relative_attention_max_distance", default=128)
    bias = Bias(folder.read(bias_at, buckets, n_heads), farthest, not decodes)
    norms = [read_rms_norm(folder, f"{at}{i}.layer_norm", d_model, _eps(settings)) for i in range(last + 1)]
    sizes = d_model, n_heads, settings.whole("d_kv")
    layer = Layer(
        attention=_read_attention(folder, f"{at}0.SelfAttention.", *sizes, causal=decodes, bias=bias),
        attention_norm=norms[0],
        cross=_read_attention(folder, f"{at}1.EncDecAttention.", *sizes) if decodes else None,
        cross_norm=norms[1] if decodes else None,
        feed_forward=_read_feed_forward(folder, settings, f"{at}{last}.DenseReluDense.", d_model),
        feed_forward_norm=norms[last],
        norm_first=True,
    )
    refuse_unread(folder, at, _UNUSED)
    return layer


def _read_attention(folder: ModelFolder, at: str, d_model: int, n_heads: int, d_k: int, **more: Any) -> AttentionLayer:
    q, k, v = (read_linear(folder, at + name, d_model, n_heads * d_k, bias=False) for name in "qkv")
    o = read_linear(folder, f"{at}o", n_heads * d_k, d_model, bias=False)
    return AttentionLayer(q=q, k=k, v=v, o=o, n_heads=n_heads, n_kv_heads=n_heads, divisor=None, **more)


def _read_feed_forward(folder: ModelFolder, settings: Settings, at: str, d_model: int) -> FeedForward:
    """Return relu(x W) W', or the gated one of T5 1.1 and Flan-T5."""
    kind = settings.text("feed_forward_proj", "relu")
    gated, _, name = kind.rpartition("-")
    if gated not in ("", "gated"):
        raise FileError(
            f"config.json has feed_forward_proj {shorten_name(repr(kind))}; attnlab knows relu and gated-gelu."
        )
    wide = settings.whole("d_ff")
    return FeedForward(
        into=read_linear(folder, f"{at}wi_1" if gated else f"{at}wi", d_model, wide, bias=False),
        out=read_linear(folder, f"{at}wo", wide, d_model, bias=False),
        gate=read_linear(folder, f"{at}wi_0", d_model, wide, bias=False) if gated else None,
        activation=find_activation("gelu_new" if gated and name == "gelu" else name),
    )
