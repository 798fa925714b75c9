"""The heads that are off in a run: whether its model has them, and the model without them."""

from attnlab.training.heads_off import read_heads
from attnlab.training.models.base_model import Model
from attnlab.training.models.kinds import build_empty
from attnlab.training.specs import RunSpec
from attnlab.training.tasks.data import Data


def check_heads_off(spec: RunSpec, data: Data) -> str:
    """Return one sentence that names a head which a run switches off and its model lacks; "" if there is none."""
    if not spec.train.heads_off:
        return ""
    try:
        places = sorted(read_heads(spec.train.heads_off))
    except ValueError as error:
        return f"heads_off names {error.args[0]!r}; it needs a layer and a head of it, such as “decoder 1.0”."
    sizes = {name: layer.config.n_heads for name, layer in build_empty(spec.model, data).layers.items()}
    for layer, head in places:
        if layer not in sizes:
            known = f"the layers are {', '.join(sizes)}" if sizes else "this model has no attention"
            return f"heads_off names the layer {layer!r}; {known}."
        if head >= sizes[layer]:
            return f"heads_off names head {head} of {layer}; its heads are 0 to {sizes[layer] - 1}."
    return ""


def switch_heads_off(model: Model, spec: RunSpec) -> None:
    """Switch off the heads that are off in a run, for training and for every view."""
    for layer, head in read_heads(spec.train.heads_off):
        model.layers[layer].switch_off((head,))
