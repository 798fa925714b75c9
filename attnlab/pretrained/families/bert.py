"""BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and DistilBERT (Sanh et al. 2019): encoders with norms after."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.pretrained.architecture import Architecture, Stack
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.parts import (
    find_prefix,
    read_layer_norm,
    read_linear,
    read_sizes,
    refuse_more_layers,
    refuse_unless,
    refuse_unread,
    split_heads,
)
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import AttentionLayer, FeedForward, Layer, find_activation


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What one of these families calls its tensors; ``layer`` is the path of a layer, the rest lie below it."""

    prefix: str
    layer: str
    qkvo: tuple[str, str, str, str]
    attention_norm: str
    feed: tuple[str, str]
    feed_norm: str
    head: tuple[str, str, str, str]
    """The prediction of masked tokens: a linear map, its norm, the last map, and the place of the last bias."""
    activation: str = "hidden_act"
    eps: tuple[str, ...] = ("layer_norm_eps",)
    """The settings that hold the epsilon of the norms; DistilBERT's is fixed."""


_BERT = Names(
    prefix="bert.",
    layer="encoder.layer.{}.",
    qkvo=("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
    attention_norm="attention.output.LayerNorm",
    feed=("intermediate.dense", "output.dense"),
    feed_norm="output.LayerNorm",
    head=(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.decoder.weight",
        "cls.predictions.bias",
    ),
)
_ROBERTA = Names(
    prefix="roberta.",
    layer=_BERT.layer,
    qkvo=_BERT.qkvo,
    attention_norm=_BERT.attention_norm,
    feed=_BERT.feed,
    feed_norm=_BERT.feed_norm,
    head=("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder.weight", "lm_head.bias"),
)
_DISTILBERT = Names(
    prefix="distilbert.",
    layer="transformer.layer.{}.",
    qkvo=("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
    attention_norm="sa_layer_norm",
    feed=("ffn.lin1", "ffn.lin2"),
    feed_norm="output_layer_norm",
    head=("vocab_transform", "vocab_layer_norm", "vocab_projector.weight", "vocab_projector.bias"),
    activation="activation",
    eps=(),
)
_EMBEDDINGS = "embeddings."


def build_bert(folder: ModelFolder) -> Architecture:
    """Return a BERT; its first segment is used for the whole text."""
    return _build(folder, _BERT, "BERT encoder")


def build_roberta(folder: ModelFolder) -> Architecture:
    """Return a RoBERTa or XLM-RoBERTa, whose positions begin after that of the padding token."""
    padding = Settings(folder.config).whole("pad_token_id", default=1, least=0)
    return _build(folder, _ROBERTA, "RoBERTa encoder", padding)


def build_distilbert(folder: ModelFolder) -> Architecture:
    """Return a DistilBERT, which has no segments."""
    return _build(folder, _DISTILBERT, "DistilBERT encoder")


def _build(folder: ModelFolder, names: Names, about: str, padding: int | None = None) -> Architecture:
    settings = Settings(folder.config)
    n_layers, n_heads, d_model = read_sizes(
        settings, ("num_hidden_layers", "n_layers"), ("num_attention_heads", "n_heads"), ("hidden_size", "dim")
    )
    split_heads(d_model, n_heads)
    refuse_unless(settings, "position_embedding_type", "absolute")
    refuse_unless(settings, "is_decoder", False)
    positions = settings.whole("max_position_embeddings")
    limit = positions if padding is None else positions - padding - 1
    if limit < 1:
        raise FileError(f"config.json has {positions} positions, and none of them is after that of padding, {padding}.")
    prefix = find_prefix(folder, (names.prefix, ""), f"{_EMBEDDINGS}word_embeddings.weight")
    refuse_more_layers(folder, prefix + names.layer, n_layers)
    stack = Stack(
        name="encoder",
        n_layers=n_layers,
        embed=_make_embed(folder, settings, names, prefix, d_model, positions, padding),
        layer=lambda i: _read_layer(folder, settings, names, prefix + names.layer.format(i), d_model, n_heads),
    )
    predicts = folder.has(f"{names.head[0]}.weight")
    return Architecture(
        about=about,
        stacks=(stack,),
        n_heads=n_heads,
        d_model=d_model,
        words=settings.whole("vocab_size"),
        limit=limit,
        predicts="masked" if predicts else None,
        predict=_make_head(folder, settings, names, prefix, d_model) if predicts else None,
    )


def _eps(settings: Settings, names: Names) -> float:
    return settings.number(*names.eps, default=1e-12)


def _make_embed(
    folder: ModelFolder,
    settings: Settings,
    names: Names,
    prefix: str,
    d_model: int,
    positions: int,
    padding: int | None,
) -> Callable[[Tensor], Tensor]:
    def embed(ids: Tensor) -> Tensor:
        at = prefix + _EMBEDDINGS
        words = folder.read(f"{at}word_embeddings.weight", settings.whole("vocab_size"), d_model)
        places = folder.read(f"{at}position_embeddings.weight", positions, d_model)
        x = words[ids] + places[_number_positions(ids, padding)]
        if folder.has(f"{at}token_type_embeddings.weight"):
            segments = settings.whole("type_vocab_size", default=2)
            x = x + folder.read(f"{at}token_type_embeddings.weight", segments, d_model)[0]
        return read_layer_norm(folder, f"{at}LayerNorm", d_model, _eps(settings, names))(x)

    return embed


def _number_positions(ids: Tensor, padding: int | None) -> Tensor:
    """Return the position of each token; RoBERTa counts from after the padding token, and leaves that token out."""
    if padding is None:
        return torch.arange(len(ids))
    counted = ids != padding
    return counted.cumsum(0) * counted + padding


def _read_layer(folder: ModelFolder, settings: Settings, names: Names, at: str, d_model: int, n_heads: int) -> Layer:
    q, k, v, o = (read_linear(folder, at + name, d_model, d_model) for name in names.qkvo)
    wide = settings.whole("intermediate_size", "hidden_dim")
    layer = Layer(
        attention=AttentionLayer(
            q=q, k=k, v=v, o=o, n_heads=n_heads, n_kv_heads=n_heads, divisor=math.sqrt(d_model // n_heads)
        ),
        attention_norm=read_layer_norm(folder, at + names.attention_norm, d_model, _eps(settings, names)),
        feed_forward=FeedForward(
            into=read_linear(folder, at + names.feed[0], d_model, wide),
            out=read_linear(folder, at + names.feed[1], wide, d_model),
            activation=find_activation(settings.text(names.activation, "gelu")),
        ),
        feed_forward_norm=read_layer_norm(folder, at + names.feed_norm, d_model, _eps(settings, names)),
        norm_first=False,
    )
    refuse_unread(folder, at)
    return layer


def _make_head(
    folder: ModelFolder, settings: Settings, names: Names, prefix: str, d_model: int
) -> Callable[[Tensor], Tensor]:
    def predict(hidden: Tensor) -> Tensor:
        dense, norm, last, bias = names.head
        words = settings.whole("vocab_size")
        name = last if folder.has(last) else f"{prefix}{_EMBEDDINGS}word_embeddings.weight"
        own = last.removesuffix("weight") + "bias"  # apart from the other one if the two are not tied
        bias = own if folder.has(own) else bias
        activation = "gelu" if names is _ROBERTA else settings.text(names.activation, "gelu")
        x = find_activation(activation)(read_linear(folder, dense, d_model, d_model)(hidden))
        x = read_layer_norm(folder, norm, d_model, _eps(settings, names))(x)
        logits: Tensor = torch.addmm(folder.read(bias, words), x, folder.read(name, words, d_model).T)
        return logits

    return predict
