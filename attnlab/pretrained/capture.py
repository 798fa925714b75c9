"""Takes the attention of any model of the transformers library while it runs, and keeps queries and keys of each layer.

The maps are computed when they are asked for: of 36 layers of 16 heads and 4,096 tokens they would take 39 GB.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from attnlab.base.arguments import explain_calls
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.captured import Capture, CapturedLayer

NAME = "attnlab_capture"
"""The name of the attention function that is registered while a model runs."""
MOST_LAYERS = 1024
_CROSS = ("encoder_attn", "cross", "encdec", "enc_dec")


@explain_calls
def capture(
    model: Any, *, item: int = 0, tokenizer: Any = None, dtype: torch.dtype = torch.float32, **inputs: Any
) -> Capture:
    """Run a model of the transformers library, and return what its attention layers received.

    ``inputs`` are those of the model, such as ``tokenizer(text, return_tensors="pt")``. Of a batch, ``item`` is kept.
    With a ``tokenizer`` the tokens have names. Queries, keys and values are kept in ``dtype``; with torch.float16 they
    take half of the memory. The model's settings are afterwards what they were.

    Raises:
        ArgumentError: it is no such model, or its attention does not go through the library's AttentionInterface.
    """
    try:
        from transformers import AttentionInterface, PreTrainedModel
        from transformers.masking_utils import AttentionMaskInterface
    except ImportError:
        raise ArgumentError("capture runs a model of the transformers library, version 4.48 or later.") from None
    if not isinstance(model, PreTrainedModel):
        raise ArgumentError(f"capture was given {type(model).__name__}; it needs a model of the transformers library.")
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ArgumentError(f"dtype is {dtype}; it needs torch.float32, torch.float16 or torch.bfloat16.")
    names = {id(module): name for name, module in model.named_modules()}
    recorder = _Recorder(names, item, dtype, bool(getattr(model.config, "is_encoder_decoder", False)))
    AttentionInterface.register(NAME, recorder.attend)
    masks: Any = AttentionMaskInterface
    masks.register(NAME, masks()["eager"])
    with _set_attention(model), torch.no_grad():
        model(**inputs)
    if not recorder.layers:
        raise ArgumentError(
            f"{type(model).__name__} computes its attention without the library’s AttentionInterface, so there is "
            "nothing to capture; load it with output_attentions=True and use attnlab.view."
        )
    return Capture(
        type(model).__name__, tuple(recorder.layers), *_name_tokens(recorder.layers, inputs, tokenizer, item)
    )


class _Recorder:
    """Keeps what each layer receives, and compares what it computes with the model's own function."""

    def __init__(self, names: dict[int, str], item: int, dtype: torch.dtype, both: bool) -> None:
        self.layers: list[CapturedLayer] = []
        self._names, self._item, self._dtype, self._both = names, item, dtype, both

    def attend(
        self,
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        *arguments: Any,
        **more: Any,
    ) -> Any:
        """Call the model's own attention function with the same arguments, and keep these."""
        output = _find_kernel(module)(module, query, key, value, attention_mask, *arguments, **more)
        if len(self.layers) >= MOST_LAYERS:
            raise ArgumentError(f"The model has more than {MOST_LAYERS} layers of attention; capture takes one pass.")
        if not 0 <= self._item < len(query):
            raise ArgumentError(f"item is {self._item}; the batch has {len(query)}.")
        scaling = more.get("scaling")
        layer = CapturedLayer(
            name=self._names.get(id(module), type(module).__name__),
            part=self._find_part(module, query, key),
            q=self._keep(query),
            k=self._keep(key),
            v=self._keep(value),
            mask=self._keep_mask(attention_mask, query.shape[1]),
            scaling=float(query.shape[-1] ** -0.5 if scaling is None else scaling),
            softcap=None if more.get("softcap") is None else float(more["softcap"]),
            sinks=None if more.get("s_aux") is None else more["s_aux"].detach().cpu().float().clone(),
            bias=None if more.get("position_bias") is None else self._keep_mask(more["position_bias"], query.shape[1]),
        )
        own = output[0][self._item].detach().cpu().float().transpose(0, 1)  # [T, h, d] -> [h, T, d]
        difference = float((layer.context() - own).abs().max()) if layer.q.numel() else 0.0
        self.layers.append(layer.note(difference))
        return output

    def _keep(self, x: Tensor) -> Tensor:
        return x[self._item].detach().to("cpu", self._dtype, copy=True)

    def _keep_mask(self, mask: Tensor | None, heads: int) -> Tensor | None:
        """Return what is added to the scores, [1 or h, T_q, T_k] float32."""
        if mask is None:
            return None
        own = mask[self._item if len(mask) > 1 else 0].detach().cpu()
        if own.dtype is torch.bool:
            return torch.zeros(own.shape).masked_fill_(~own, -torch.inf)
        return own.float().clone()

    def _find_part(self, module: Any, query: Tensor, key: Tensor) -> str:
        name = self._names.get(id(module), "").lower()
        if getattr(module, "is_cross_attention", False) or any(sign in name for sign in _CROSS):
            return "cross"
        if not self._both:
            return "layers"
        return "decoder" if "decoder" in name else "encoder"


def _find_kernel(module: Any) -> Callable[..., Any]:
    """Return the attention that the model's own file defines as eager, or the library's fused one."""
    import sys

    from transformers import AttentionInterface

    kernels: Any = AttentionInterface
    own = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    found: Callable[..., Any] = own if own is not None else kernels()["sdpa"]
    return found


@contextmanager
def _set_attention(model: Any) -> Iterator[None]:
    """Let all parts of a model call the registered function, and restore their settings."""
    configs = {id(module.config): module.config for module in model.modules() if hasattr(module, "config")}
    before = {key: config._attn_implementation_internal for key, config in configs.items()}
    try:
        for config in configs.values():
            config._attn_implementation_internal = NAME
        yield
    finally:
        for key, config in configs.items():
            config._attn_implementation_internal = before[key]


def _name_tokens(
    layers: list[CapturedLayer], inputs: dict[str, Any], tokenizer: Any, item: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens of the inputs, and those of a decoder behind an encoder, numbered if they have no names."""

    def name(key: str, count: int) -> tuple[str, ...]:
        ids = inputs.get(key)
        if tokenizer is not None and isinstance(ids, Tensor) and ids.shape[-1] == count:
            return tuple(map(str, tokenizer.convert_ids_to_tokens(ids[item].tolist())))
        return tuple(map(str, range(count)))

    first = layers[0].q.shape[1]
    decoder = next((layer.q.shape[1] for layer in layers if layer.part == "decoder"), 0)
    return name("input_ids", first), name("decoder_input_ids", decoder)
