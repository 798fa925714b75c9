"""The families that attnlab can run, by the ``model_type`` of config.json."""

from collections.abc import Callable

from attnlab.base.errors import FileError
from attnlab.files.weights.named_array import shorten_name
from attnlab.pretrained.architecture import Architecture
from attnlab.pretrained.families.bert import build_bert, build_distilbert, build_roberta
from attnlab.pretrained.families.gpt2 import build_gpt2
from attnlab.pretrained.families.llama import build_llama
from attnlab.pretrained.families.t5 import build_t5
from attnlab.pretrained.folder import ModelFolder

FAMILIES: dict[str, Callable[[ModelFolder], Architecture]] = {
    "bert": build_bert,
    "roberta": build_roberta,
    "xlm-roberta": build_roberta,
    "distilbert": build_distilbert,
    "gpt2": build_gpt2,
    "llama": build_llama,
    "mistral": build_llama,
    "qwen2": build_llama,
    "qwen3": build_llama,
    "t5": build_t5,
}


def build(folder: ModelFolder) -> Architecture:
    """Return the stacks of a model.

    Raises:
        FileError: its family is unknown, it is quantised, or its files do not fit together.
    """
    family = folder.config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        named = "names no model_type" if family is None else f"is of the family {shorten_name(str(family))}"
        raise FileError(
            f"{folder.name} {named}; attnlab runs {', '.join(FAMILIES)}. "
            "attnlab.capture(model, **inputs) takes the attention of any model of the transformers library."
        )
    method = folder.config.get("quantization_config")
    if method is not None:
        kind = method.get("quant_method") if isinstance(method, dict) else method
        raise FileError(
            f"{folder.name} is quantised ({shorten_name(str(kind))}), which attnlab cannot compute; "
            "open the model in float32, bfloat16 or float16."
        )
    return FAMILIES[family](folder)
