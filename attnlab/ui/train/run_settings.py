"""The settings of a run as fields with titles and bounds, and changes of single settings. Without widgets."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attnlab.training.specs import RunSpec, replace_field
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.option_field import Field

if TYPE_CHECKING:
    from attnlab.attention.registries.entries import Option
    from attnlab.training.tasks import Task

NORMS = (
    Choice("before", "before", "Normalise the input of each part: trains without a warm-up"),
    Choice("after", "after", "Normalise the output of each part, as in the first Transformer"),
    Choice("none", "none", "No normalisation"),
)
_MODEL = {
    "layers": ("layers", "The number of attention layers", 1, 12),
    "heads": ("heads", "The number of heads per layer; they share d_model", 1, 64),
    "d_model": ("d_model", "The size of a token’s vector", 1, 1024),
    "d_ff": ("d_ff", "Hidden units of the feed-forward part of a layer; 0 removes this part", 0, 4096),
}


def make_task_fields(spec: RunSpec, task: "Task") -> list[Field]:
    """Return the options of a task, files first."""
    options = sorted(task.options, key=lambda option: option.kind != "file")
    return [_make_option(option, spec, task) for option in options]


def make_model_fields(spec: RunSpec, task: "Task", defaults: RunSpec) -> list[Field]:
    """Return the kind of model and the sizes that this kind uses."""
    from attnlab.attention.registries.positions import POSITIONS
    from attnlab.training.models import KINDS

    model, usual = spec.model, defaults.model
    kinds = tuple(Choice(name, KINDS[name].title, KINDS[name].about) for name in task.kinds)
    about = KINDS[model.kind].about
    kind = Field("kind", "kind", about, "choice", model.kind, usual.kind, choices=kinds, needs_no_title=True)
    fields = [kind]
    used = KINDS[model.kind].fields
    for name, (title, about, least, most) in _MODEL.items():
        if name in used:
            value, rest = getattr(model, name), getattr(usual, name)
            fields.append(Field(name, title, about, "whole", value, rest, least, most))
    if "positions" in used:
        choices = tuple(Choice(name, each.title, each.about) for name, each in POSITIONS.items() if each.is_trained)
        about = "How the model encodes a token’s position"
        fields.append(
            Field("positions", "positions", about, "choice", model.positions, usual.positions, choices=choices)
        )
    if "norm" in used:
        about = "The place of layer normalisation"
        fields.append(Field("norm", "norm", about, "choice", model.norm, usual.norm, choices=NORMS))
    if "dropout" in used:
        about = "The share of numbers set to 0 at random during training"
        fields.append(Field("dropout", "dropout", about, "number", model.dropout, usual.dropout, 0.0, 0.95))
    return fields


def make_train_fields(spec: RunSpec, defaults: RunSpec) -> list[Field]:
    """Return the most often changed settings of the training."""
    from attnlab.training.optimizers import OPTIMIZERS

    train, usual = spec.train, defaults.train
    choices = tuple(Choice(name, entry.title, entry.about) for name, entry in OPTIMIZERS.items())
    about = "The rule that updates the weights from their gradients"
    return [
        Field("optimizer", "method", about, "choice", train.optimizer, usual.optimizer, choices=choices),
        _make_number("rate", "rate", "The largest learning rate", train, usual, 0.0, above=True),
        _make_whole("batch", "batch", "Examples per step", train, usual, 1, 65536),
        _make_whole("steps", "stop at step", "The number of steps of the training", train, usual, 1, 10**9),
        _make_whole("seed", "seed", "Determines first weights and examples; one seed gives one curve", train, usual, 0),
    ]


def make_more_fields(spec: RunSpec, defaults: RunSpec) -> list[Field]:
    """Return the other settings of the training."""
    from attnlab.compute.engine import devices
    from attnlab.training.optimizers import SCHEDULES

    train, usual = spec.train, defaults.train
    schedules = tuple(Choice(name, entry.title, entry.about) for name, entry in SCHEDULES.items())
    names = [*devices(), *([train.device] if train.device not in devices() else [])]
    places = tuple(Choice(name, name.upper() if name == "cpu" else name, "") for name in names)
    about = "How the learning rate decreases"
    return [
        Field("schedule", "schedule", about, "choice", train.schedule, usual.schedule, choices=schedules),
        _make_whole("warmup", "warm-up", "Steps in which the learning rate rises", train, usual, 0),
        _make_number("weight_decay", "weight decay", "Shrinks the weights in every step", train, usual, 0.0),
        _make_number("clip", "clip gradient", "The largest norm of a gradient; 0 for no limit", train, usual, 0.0),
        _make_whole(
            "evaluate_every", "evaluate every", "Steps between two evaluations on held-out data", train, usual, 1
        ),
        _make_number(
            "stop_right",
            "stop at accuracy",
            "Stops when this share of held-out tokens is correct; 0: never",
            train,
            usual,
            0.0,
            1.0,
        ),
        _make_number(
            "stop_loss", "stop at loss", "Stops when the held-out loss is below this; 0: never", train, usual, 0.0
        ),
        Field("device", "device", "The device of the training", "choice", train.device, usual.device, choices=places),
    ]


def change_setting(spec: RunSpec, name: str, value: Any) -> RunSpec:
    """Return a run with one setting changed: of its model, of its training, or an option of its task."""
    if name == "kind":
        from attnlab.training.tasks import make_spec

        fresh = make_spec(spec.task, value)
        train = replace(fresh.train, device=spec.train.device, seed=spec.train.seed)
        return replace(fresh, options={**fresh.options, **spec.options}, train=train)
    if hasattr(spec.model, name) or hasattr(spec.train, name):
        return replace_field(spec, name, value)
    return replace(spec, options={**spec.options, name: value})


def _make_option(option: "Option", spec: RunSpec, task: "Task") -> Field:
    value, reason = spec.options.get(option.name, option.default), _find_reason(option, spec, task)
    choices = tuple(Choice(*choice) for choice in option.choices)
    least = None if option.least == -math.inf else option.least
    most = None if option.most == math.inf else option.most
    kind: Any = option.kind
    title = option.title[:1].lower() + option.title[1:]
    return Field(
        option.name, title, option.about, kind, value, option.default, least, most, option.above, choices, reason
    )


def _find_reason(option: "Option", spec: RunSpec, task: "Task") -> str:
    """Return why an option has no effect with the others, "" if it has one."""
    name, needed = option.only_with
    choice = next((each for each in task.options if each.name == name), None)
    if choice is None or spec.options.get(name, choice.default) == needed:
        return ""
    title = next(title for value, title, _ in choice.choices if value == needed)
    return f"Has an effect only if {choice.title} is “{title}”."


def _make_whole(
    name: str, title: str, about: str, train: object, usual: object, least: int, most: int | None = None
) -> Field:
    return Field(name, title, about, "whole", getattr(train, name), getattr(usual, name), least, most)


def _make_number(
    name: str,
    title: str,
    about: str,
    train: object,
    usual: object,
    least: float,
    most: float | None = None,
    *,
    above: bool = False,
) -> Field:
    return Field(name, title, about, "number", getattr(train, name), getattr(usual, name), least, most, above)
