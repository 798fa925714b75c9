"""What Import sets from the config.json of a model, and what the embeddings become, in plain words."""

from typing import TYPE_CHECKING

from attnlab.base.counted import format_count
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.weights_apply import Embeddings
from attnlab.ui.weights.trial import Trial

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

ONLY = "only the whole model has this layer’s hidden states"
CONFIRM = "To import it, switch on “Weights alone”."
ALONE = "No config.json is beside this layer: mask, scale and positions stay as they are here, and may not be its own."
PLAIN = "Import takes the weights alone, and the attention will not be the model’s."


def describe_model(trial: Trial, embeddings: Embeddings) -> str:
    """Return what is known of the model that the weights belong to, before they are imported."""
    if trial.unknown:
        return f"{trial.unknown} {PLAIN}"
    if trial.layer is None:
        return PLAIN
    title = trial.layer.title[0].upper() + trial.layer.title[1:]
    if trial.experiment is None:
        return f"{title}. Its embeddings are not here: {ONLY}."
    settings = describe_settings(trial.experiment)
    return f"{title}. Import sets what config.json says: {settings}. {_describe_vectors(trial, embeddings)}"


def describe_import(trial: Trial, embeddings: Embeddings, source: str) -> str:
    """Return what was imported, for the footer: "layer 3 of gpt2 with new random words"."""
    if trial.layer is None:
        return f"Weights from {source}"
    kept = trial.experiment is not None and trial.experiment.embeddings is trial.scene.experiment.embeddings
    vectors = "the vectors of an array" if isinstance(embeddings, NamedArray) else "new random words"
    return f"{trial.layer.title} with {'the present vectors' if kept else vectors}"


def describe_settings(e: "Experiment") -> str:
    """Return the settings of a layer as a list in words."""
    config = e.config
    heads = format_count(e.n_heads, "head")
    if e.n_kv_heads < e.n_heads:
        heads += f" sharing {format_count(e.n_kv_heads, 'key head')}"
    told = ["causal" if config.causal else "not causal", heads, _describe_scale(e)]
    if config.positions == "rope":
        told.append(f"RoPE with base {config.option('rope_base'):,g}")
    elif config.positions == "t5":
        told.append(f"T5's table of {config.option('t5_buckets')} distances")
    elif config.positions == "rope_scaled":
        told.append("RoPE with the model’s scaled frequencies")
    else:
        assert config.positions == "none"
        told.append("no positions in the attention")
    if config.qk_norm != "none":
        told.append("normalised queries and keys")
    if config.block != "none":
        told.append(_describe_block(e))
    if "window" in config.masks:
        told.append(f"a window of {format_count(config.masks['window'], 'token')}")
    return ", ".join(told)


def _describe_block(e: "Experiment") -> str:
    """Return the norms and the feed-forward around attention."""
    from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS

    config = e.config
    norm = "no norms" if config.block_norm == "none" else f"{BLOCK_NORMS[config.block_norm].title} {config.block}"
    if config.feed_forward == "none":
        return f"in a block with {norm} and no feed-forward"
    return f"in a block with {norm} and a {FEED_FORWARDS[config.feed_forward].title} feed-forward of {e.d_ff:,}"


def _describe_scale(e: "Experiment") -> str:
    if e.divisor is None:
        return "scores unscaled"
    return "scores ÷ √d_k" if e.config.scale == "sqrt_d_k" else f"scores ÷ {e.divisor:.4g}"


def _describe_vectors(trial: Trial, embeddings: Embeddings) -> str:
    """Return what the embeddings become."""
    assert trial.experiment is not None
    if isinstance(embeddings, NamedArray):
        return f"The words get the vectors of {shorten_name(embeddings.name)}: {ONLY}."
    if trial.experiment.embeddings is trial.scene.experiment.embeddings:
        return f"The words keep their present vectors: {ONLY}."
    return f"The embeddings are new random words: {ONLY}."
