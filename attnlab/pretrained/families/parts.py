"""Readers of the parts that several families share, from the tensors of a folder."""

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.folder import ModelFolder
from attnlab.pretrained.layers import Linear, Norm

MOST_LAYERS, MOST_HEADS = 512, 1024


def find_prefix(folder: ModelFolder, prefixes: tuple[str, ...], name: str) -> str:
    """Return which prefix the tensors have: the same model has another one, or none, when it is saved without its head.

    Raises:
        FileError: no tensor of this name is there with any of them.
    """
    for prefix in prefixes:
        if folder.has(prefix + name):
            return prefix
    raise FileError(f"{folder.name} has no tensor {name}; its weights are not those of its config.json.")


def read_linear(folder: ModelFolder, name: str, into: int, out: int) -> Linear:
    """Return a linear map saved as torch's nn.Linear, weight [out, in]; with a bias if the folder has one."""
    bias = folder.read(f"{name}.bias", out) if folder.has(f"{name}.bias") else None
    return Linear(folder.read(f"{name}.weight", out, into).T, bias)


def read_layer_norm(folder: ModelFolder, name: str, size: int, eps: float) -> Norm:
    """Return a LayerNorm; files from before PyTorch call its gain and shift gamma and beta."""
    gain, shift = ("gamma", "beta") if folder.has(f"{name}.gamma") else ("weight", "bias")
    return Norm(folder.read(f"{name}.{gain}", size), folder.read(f"{name}.{shift}", size), eps)


def read_rms_norm(folder: ModelFolder, name: str, size: int, eps: float) -> Norm:
    """Return an RMSNorm."""
    return Norm(folder.read(f"{name}.weight", size), None, eps)


def refuse_unless(settings: Settings, name: str, *allowed: object) -> None:
    """Refuse a model with a setting that attnlab does not know and would otherwise compute wrongly.

    Raises:
        FileError: config.json has another value than the allowed ones.
    """
    value = settings.get(name)
    if value is not None and value not in allowed:
        raise FileError(
            f"config.json has {shorten_name(repr(value))} for {name}; attnlab runs this family only with "
            f"{' or '.join(map(repr, allowed))}."
        )


def split_heads(d_model: int, n_heads: int) -> int:
    """Return the columns of one head.

    Raises:
        FileError: the heads do not divide d_model.
    """
    if d_model % n_heads:
        raise FileError(f"config.json has {n_heads} heads, which do not divide its {d_model} columns.")
    return d_model // n_heads


def read_sizes(
    settings: Settings, layers: tuple[str, ...], heads: tuple[str, ...], width: tuple[str, ...]
) -> tuple[int, int, int]:
    """Return the numbers of layers and heads, and d_model; each is given with the names that a family has for it."""
    return (
        settings.whole(*layers, most=MOST_LAYERS),
        settings.whole(*heads, most=MOST_HEADS),
        settings.whole(*width),
    )
