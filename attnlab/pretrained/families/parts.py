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


def read_linear(folder: ModelFolder, name: str, into: int, out: int, bias: bool = True) -> Linear:
    """Return a linear map saved as torch's nn.Linear, weight [out, in], with its bias [out] if the family has one."""
    weight = folder.read(f"{name}.weight", out, into).T
    return Linear(weight, folder.read(f"{name}.bias", out) if bias else None)


def refuse_unread(folder: ModelFolder, at: str, ignored: tuple[str, ...] = ()) -> None:
    """Refuse a layer, which was read, with a tensor that it does not use: its config.json is that of another model.

    ``ignored`` are ends of names of tensors that old files have and the model can do without.

    Raises:
        FileError: it has such a tensor; the sentence names the first.
    """
    unread = (name for name in folder.arrays if name.startswith(at) and name not in folder.held)
    other = next((name for name in unread if not name.endswith(ignored)), None)
    if other is not None:
        raise FileError(
            f"{folder.name} has a tensor {shorten_name(other)}, which a model of its config.json does not have; the "
            "files do not fit together."
        )


def refuse_more_layers(folder: ModelFolder, layers: str, count: int) -> None:
    """Refuse a model with more layers than its config.json says; ``layers`` is the beginning of a layer's names.

    Raises:
        FileError: the folder has a tensor of a layer behind the last.
    """
    other = next((name for name in folder.arrays if name.startswith(layers.format(count))), None)
    if other is not None:
        raise FileError(
            f"{folder.name} has a tensor {shorten_name(other)}, but its config.json has {count} "
            f"{'layer' if count == 1 else 'layers'}, counted from 0; the files do not fit together."
        )


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
