"""One attention layer as other libraries write it: under their names, fused, transposed, by head."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

FIELDS = ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")


@dataclass(frozen=True)
class Layer:
    """The expected weights for right multiplication, and their numbers of heads."""

    tensors: dict[str, Tensor]
    h: int
    h_kv: int

    def __getattr__(self, name: str) -> Tensor:
        return self.tensors[name]


def layer(h: int = 4, h_kv: int = 4, d: int = 3, d_model: int = 12, seed: int = 0, d_v: int = 0) -> Layer:
    g = torch.Generator().manual_seed(seed)
    d_v = d_v or d
    wide = {"q": h * d, "k": h_kv * d, "v": h_kv * d_v}
    tensors = {f"W_{x}": torch.randn(d_model, n, generator=g) for x, n in wide.items()}
    tensors["W_o"] = torch.randn(h * d_v, d_model, generator=g)
    tensors |= {f"b_{x}": torch.randn(n, generator=g) for x, n in wide.items()}
    return Layer({**tensors, "b_o": torch.randn(d_model, generator=g)}, h, h_kv)


def linear(prefix: str, *leaves: str) -> Callable[[Layer], dict[str, Tensor]]:
    """Return a writer of four nn.Linear, [out, in] each."""

    def write(t: Layer) -> dict[str, Tensor]:
        pairs = list(zip("qkvo", leaves, strict=True))
        weights = {f"{prefix}{leaf}.weight": t.tensors[f"W_{x}"].T.contiguous() for x, leaf in pairs}
        return weights | {f"{prefix}{leaf}.bias": t.tensors[f"b_{x}"] for x, leaf in pairs}

    return write


def bare(*names: str) -> Callable[[Layer], dict[str, Tensor]]:
    def write(t: Layer) -> dict[str, Tensor]:
        return {name: t.tensors[field] for field, name in zip(FIELDS, names, strict=True)}

    return write


def side_by_side(t: Layer) -> tuple[Tensor, Tensor]:
    return torch.cat([t.W_q, t.W_k, t.W_v], 1), torch.cat([t.b_q, t.b_k, t.b_v])


def fused(weight: str, bias: str, out: str, *, conv: bool = False) -> Callable[[Layer], dict[str, Tensor]]:
    def write(t: Layer) -> dict[str, Tensor]:
        W, b = side_by_side(t)
        turn = (lambda x: x) if conv else (lambda x: x.T.contiguous())
        return {weight: turn(W), bias: b, f"{out}.weight": turn(t.W_o), f"{out}.bias": t.b_o}

    return write


def neox(t: Layer) -> dict[str, Tensor]:
    W, b = (
        torch.stack([x.unflatten(-1, (t.h, -1)) for x in (q, k, v)], -2)
        for q, k, v in ((t.W_q, t.W_k, t.W_v), (t.b_q, t.b_k, t.b_v))
    )
    return {
        "gpt_neox.layers.3.attention.query_key_value.weight": W.flatten(1).T.contiguous(),
        "gpt_neox.layers.3.attention.query_key_value.bias": b.flatten(),
        "gpt_neox.layers.3.attention.dense.weight": t.W_o.T.contiguous(),
        "gpt_neox.layers.3.attention.dense.bias": t.b_o,
        "gpt_neox.layers.3.mlp.dense_4h_to_h.weight": torch.ones(12, 48),
    }


def transformer_lens(t: Layer) -> dict[str, Tensor]:
    written = {}
    for x, h in (("Q", t.h), ("K", t.h_kv), ("V", t.h_kv)):
        under = "_" if x != "Q" and t.h_kv != t.h else ""
        written[f"blocks.0.attn.{under}W_{x}"] = t.tensors[f"W_{x.lower()}"].unflatten(1, (h, -1)).transpose(0, 1)
        written[f"blocks.0.attn.{under}b_{x}"] = t.tensors[f"b_{x.lower()}"].unflatten(0, (h, -1))
    return {**written, "blocks.0.attn.W_O": t.W_o.unflatten(0, (t.h, -1)), "blocks.0.attn.b_O": t.b_o}


def flax(t: Layer) -> dict[str, Tensor]:
    written = {}
    for x, leaf, h in (("q", "query", t.h), ("k", "key", t.h_kv), ("v", "value", t.h_kv)):
        written[f"encoder/layer_0/attention/{leaf}/kernel:0"] = t.tensors[f"W_{x}"].unflatten(1, (h, -1))
        written[f"encoder/layer_0/attention/{leaf}/bias:0"] = t.tensors[f"b_{x}"].unflatten(0, (h, -1))
    out = {"encoder/layer_0/attention/out/kernel:0": t.W_o.unflatten(0, (t.h, -1))}
    return {**written, **out, "encoder/layer_0/attention/out/bias:0": t.b_o}


def diffusers(t: Layer) -> dict[str, Tensor]:
    return linear("attn1.", "to_q", "to_k", "to_v", "to_out.0")(t)


def to_kv(t: Layer) -> dict[str, Tensor]:
    both = {"to_kv.weight": torch.cat([t.W_k, t.W_v], 1).T.contiguous(), "to_kv.bias": torch.cat([t.b_k, t.b_v])}
    q = {"to_q.weight": t.W_q.T.contiguous(), "to_q.bias": t.b_q}
    return {**q, **both, "to_out.0.weight": t.W_o.T.contiguous(), "to_out.0.bias": t.b_o}


def bert(t: Layer) -> dict[str, Tensor]:
    root = "bert.encoder.layer.0."
    found = linear(f"{root}attention.", "self.query", "self.key", "self.value", "output.dense")(t)
    others = {f"{root}intermediate.dense.weight": torch.ones(48, 12), f"{root}output.dense.weight": torch.ones(12, 48)}
    norm = {f"{root}attention.output.LayerNorm.weight": torch.ones(12), "bert.pooler.dense.weight": torch.eye(12)}
    return {**others, **found, **norm, f"{root}output.dense.bias": torch.ones(12)}


LIBRARIES: dict[str, Callable[[Layer], dict[str, Tensor]]] = {
    "attnlab": bare(*FIELDS),
    "MultiheadAttention": fused("self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj"),
    "GPT-2": fused("h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias", "h.0.attn.c_proj", conv=True),
    "nanoGPT": fused("h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias", "h.0.attn.c_proj"),
    "timm": fused("blocks.0.attn.qkv.weight", "blocks.0.attn.qkv.bias", "blocks.0.attn.proj"),
    "Phi-3": fused(
        "layers.0.self_attn.qkv_proj.weight", "layers.0.self_attn.qkv_proj.bias", "layers.0.self_attn.o_proj"
    ),
    "MPT": fused("blocks.0.attn.Wqkv.weight", "blocks.0.attn.Wqkv.bias", "blocks.0.attn.out_proj"),
    "GPT-NeoX": neox,
    "LLaMA": linear("model.layers.0.self_attn.", "q_proj", "k_proj", "v_proj", "o_proj"),
    "OPT": linear("decoder.layers.0.self_attn.", "q_proj", "k_proj", "v_proj", "out_proj"),
    "Meta's LLaMA": linear("layers.0.attention.", "wq", "wk", "wv", "wo"),
    "BERT": bert,
    "DistilBERT": linear("transformer.layer.0.attention.", "q_lin", "k_lin", "v_lin", "out_lin"),
    "T5": linear("encoder.block.0.layer.0.SelfAttention.", "q", "k", "v", "o"),
    "ViT": linear("layer.0.attention.", "attention.query", "attention.key", "attention.value", "output.dense"),
    "diffusers": diffusers,
    "to_kv": to_kv,
    "TransformerLens": transformer_lens,
    "Flax": flax,
    "Annotated Transformer": linear("layers.0.self_attn.linears.", "0", "1", "2", "3"),
    "a textbook": linear("", "W_query", "W_key", "W_value", "out_proj"),
    "parameters": bare("W_query", "W_key", "W_value", "W_out", "b_query", "b_key", "b_value", "b_out"),
    "a flat file": bare(*(f"layer0_{kind}{letter}" for kind in "Wb" for letter in "qkvo")),
}
