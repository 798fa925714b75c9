"""Add or remove the second sequence, which gives keys and values in cross-attention."""

from dataclasses import replace

from attnlab.attention.arrays import own
from attnlab.attention.edits.assemble import assemble
from attnlab.attention.edits.batches import PAD, rearrange_mask, with_length
from attnlab.attention.experiment import AttentionConfig, Experiment, Sample
from attnlab.base.errors import ExperimentError


def toggle_memory(e: Experiment, on: bool) -> Experiment:
    """Return the experiment with a second sequence, initially a copy of the first, so that no number changes; or
    without it, so that keys and values come from the sequence of the queries.

    Raises:
        ExperimentError: W_k and W_v have another number of rows than the embeddings have columns.
    """
    if on == (e.memory_tokens is not None):
        return e
    if on:
        others = [replace(s, memory_tokens=s.tokens, memory_embeddings=s.embeddings) for s in e.others]
        return assemble(e, memory_tokens=e.tokens, memory_embeddings=e.embeddings, others=others)
    d_memory = e.memory.shape[1]
    if d_memory != e.d_model:
        raise ExperimentError(
            f"W_k and W_v have {d_memory} rows, one for each number of the second sequence’s tokens; "
            f"without it they need d_model = {e.d_model}: set d_memory to {e.d_model} first."
        )
    others = [_remove_memory(sample, sample.length) for sample in e.others]
    present = _remove_memory(Sample(e.tokens, e.embeddings, e.memory_tokens, e.memory), e.config.masks.get("padding"))
    config = with_length(_cut_mask(e), present.length, e.T_q)
    return assemble(e, memory_tokens=None, memory_embeddings=None, others=others, config=config)


def _remove_memory(s: Sample, length: int | None) -> Sample:
    """Return a sequence without its memory; pads of the query side, if any, then determine the valid length."""
    if s.memory_tokens != s.tokens:
        pads = next((i for i, token in enumerate(reversed(s.tokens)) if token != PAD), len(s.tokens) - 1)
        length = len(s.tokens) - pads
    length = None if length is None or length >= len(s.tokens) else length
    return replace(s, memory_tokens=None, memory_embeddings=None, length=length)


def _cut_mask(e: Experiment) -> AttentionConfig:
    """Return the configuration with the mask drawn by hand cut to [T_q, T_q]; new columns allow everything."""
    if e.config.mask is None or e.T_q == e.T_k:
        return e.config
    columns = [i if i < e.T_k else None for i in range(e.T_q)]
    return replace(e.config, mask=own(rearrange_mask(e.config.mask.T, columns).T.contiguous()))
