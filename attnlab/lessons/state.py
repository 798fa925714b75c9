"""The state of a step: its preset or session with its edits applied in order; an invalid edit is left out."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from attnlab.attention import edits
from attnlab.attention.edits import token_edits
from attnlab.attention.edits.batches import select, set_length
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.edits.stack_edits import select_layer
from attnlab.attention.examples.example import Draws
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import PROJECTIONS, AttentionConfig
from attnlab.attention.registries import registry
from attnlab.attention.registries.blocks import BLOCKS
from attnlab.attention.registries.masks import MASKS
from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.base.near_names import find_near
from attnlab.lessons.budget import MAX_BYTES, Budget
from attnlab.lessons.cell_references import split_indices
from attnlab.lessons.lesson import Edit, Lesson, Problem, Step
from attnlab.lessons.lookup import ALIASES
from attnlab.lessons.sessions import find_session
from attnlab.lessons.table_edit import edit_table, to_number

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.lessons.recordings import Recorded


def begin_state(
    lesson: Lesson,
    step: Step,
    before: "Experiment | None",
    problems: list[Problem],
    budget: Budget,
    recorded: "Recorded | None" = None,
) -> "Experiment | None":
    """Return the experiment of a step; an invalid part of its state becomes a problem on its line and is left out.

    ``recorded`` is the moment of a run that the step shows. If the budget is exhausted, this is the state of the step
    before.
    """
    if budget.is_exhausted():
        return before
    e = _start(lesson, step, before, problems, recorded)
    if e is None:
        if step.edits:
            reason = "There is nothing to edit yet; start the state with a preset or a file."
            problems.append(Problem(step.edits[0].line, reason))
        return None
    if e is not before:
        budget.add(e)
    for edit in step.edits:
        if budget.is_exhausted():
            break
        try:
            e = apply_edit(e, edit)
        except AttnlabError as error:
            problems.append(Problem(edit.line, str(error)))
        budget.add(e)
    if budget.is_exhausted():
        reason = f"The states of the lesson take more than {MAX_BYTES >> 30} GiB up to here, so no more are computed"
        problems.append(Problem(step.line, f"{reason}; use smaller layers or fewer edits."))
    return e


def choose_moment(lesson: Lesson, step: Step, before: "Recorded | None", problems: list[Problem]) -> "Recorded | None":
    """Return the moment of a recorded run that a step shows, None if it shows none; invalid keys are problems."""
    if step.preset is not None or step.file is not None:
        return None
    if not step.is_of_run:
        return before
    from attnlab.lessons import recordings

    key = next(key for key in ("run", "moment", "layer", "probe") if getattr(step, key) is not None)
    try:
        if step.run is None and before is None:
            raise AttnlabError(f"There is no run before this {key}; begin the state with run: and its name.")
        folder = before.folder if step.run is None and before else recordings.find_recording(lesson, step.run or "")
        found = recordings.make_recorded(folder, step.moment, step.layer, step.probe, before)
        reason = recordings.check_curves(found, step.curves or ())
    except AttnlabError as error:
        problems.append(Problem(step.line_of(key), str(error)))
        return before
    if reason:
        problems.append(Problem(step.line_of("curves"), reason))
    return found


def _start(
    lesson: Lesson,
    step: Step,
    before: "Experiment | None",
    problems: list[Problem],
    recorded: "Recorded | None",
) -> "Experiment | None":
    if step.is_of_run:
        return recorded.make_experiment() if recorded is not None else before
    try:
        if step.preset is not None:
            return preset(step.preset)
        if step.file is not None:
            return _open_session(lesson, step.file)
    except AttnlabError as error:
        problems.append(Problem(step.line_of("file" if step.preset is None else "preset"), str(error)))
    return before


def _open_session(lesson: Lesson, name: str) -> "Experiment":
    from attnlab.files.sessions.session_file import load

    return load(find_session(lesson, name))


def apply_edit(e: "Experiment", edit: Edit) -> "Experiment":
    """Return the experiment with one edit applied.

    Raises:
        AttnlabError: the field or the table does not exist, or its value is invalid.
    """
    if edit.key in _SPECIAL:
        return _SPECIAL[edit.key](e, edit.value)
    if edit.key in _list_sizes():
        return _set_size(e, edit.key, edit.value)
    if edit.key in MASKS and edit.key != "causal":
        return edits.configure(e, masks={edit.key: None if _is_nothing(edit.value) else edit.value})
    if edit.key in _FIELDS or edit.key in registry.all_options():
        return edits.configure(e, **{edit.key: _to_option(edit.key, edit.value)})
    name, indices = split_indices(edit.key) or ("", None)
    name = ALIASES.get(name, name)
    if name in edits.tables(e):
        return edit_table(e, name, indices, edit.value)
    raise ExperimentError(_describe_unknown(e, edit.key))


def _describe_unknown(e: "Experiment", key: str) -> str:
    name = key.partition("[")[0].strip()
    if name in registry.all_tables() or name in (*PROJECTIONS, "memory_embeddings"):
        return f"This state has no {name}; it has {', '.join(edits.tables(e))}."
    known = (*_FIELDS, *_SPECIAL, *_list_sizes(), *registry.all_options(), *MASKS, *edits.tables(e))
    near = find_near(name, known)
    hint = f"did you mean {near}?" if near else "it needs a setting such as causal, or a table such as W_q[0, 1]."
    return f"There is nothing called {key[:60]!r} to edit; {hint}"


def _to_option(key: str, value: Any) -> Any:
    """Return a value for the configuration; the choices "0" and "-1e9" of a fill are numbers in a file."""
    option = registry.all_options().get(key)
    if value is None:
        named = {choice.field for choice in registry.CHOICES} | {"scale"}
        return (
            "none" if key in named or (option is not None and "none" in [name for name, *_ in option.choices]) else None
        )
    if option is not None and option.kind == "choice" and isinstance(value, int | float):
        return next((name for name, *_ in option.choices if to_number(name) == value), value)
    return value


def _is_nothing(value: object) -> bool:
    return value is None or value is False or value == "none"


def _to_switch(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ExperimentError(f"{key} is {str(value)[:60]!r}; it needs true or false.")
    return value


def _to_whole(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ExperimentError(f"{key} is {str(value)[:60]!r}; it needs a whole number.")
    return value


def _to_wholes(key: str, value: object) -> list[int]:
    return [_to_whole(key, each) for each in (value if isinstance(value, list | tuple) else [value])]


def _to_tokens(key: str, value: object) -> tuple[str, ...]:
    """Return tokens: the words of a text, or the items of a list."""
    if isinstance(value, str):
        return token_edits.tokenize(value)
    if isinstance(value, list | tuple) and not any(isinstance(each, list | dict) or each is None for each in value):
        return tuple(str(each) for each in value)
    raise ExperimentError(f"{key} is {str(value)[:60]!r}; it needs a sentence, or a list of tokens.")


def _set_block(e: "Experiment", value: object) -> "Experiment":
    """Return the experiment with a block of norms "before" or "after", or with a mask of blocks of so many tokens."""
    if isinstance(value, str) and value in BLOCKS and not (value == "none" and "block" in e.config.masks):
        return edits.configure(e, block=value)
    return edits.configure(e, masks={"block": None if _is_nothing(value) else value})


def _set_memory(e: "Experiment", value: object) -> "Experiment":
    if _is_nothing(value):
        return toggle_memory(e, False)
    return token_edits.set_tokens(toggle_memory(e, True), _to_tokens("memory", value), "memory")


def _set_valid(e: "Experiment", value: object) -> "Experiment":
    """Return the experiment with new valid lengths of the sequences in its batch, or of its only sequence."""
    lengths, item = _to_wholes("valid", value), e.item
    if len(lengths) != e.n_items:
        there = f"{e.n_items} sequences, each with one" if e.n_items > 1 else "one sequence, with one"
        raise ExperimentError(
            f"valid has {format_count(len(lengths), 'length')}; there {'are' if e.n_items > 1 else 'is'} {there}."
        )
    for i, length in enumerate(lengths):
        e = set_length(select(e, i), length)
    return select(e, item)


def reseed(e: "Experiment", seed: int) -> "Experiment":
    """Return the experiment with new random numbers in all its tables, drawn as in the worked examples.

    ``torch.randn`` draws them with one seed, in the order embeddings, W_q, W_k, W_v, W_o, biases, tables of entries;
    all but the embeddings are divided by √d_model. An implied identity stays.
    """
    draws = Draws(seed)
    for name in edits.tables(e):
        if name in PROJECTIONS and getattr(e.weights, name) is None:
            continue
        numbers = draws.normal(*edits.shape(e, name))
        e = edits.set_block(e, name, 0, 0, numbers if "embeddings" in name else numbers / e.d_model**0.5)
    return e


def _set_seed(e: "Experiment", value: object) -> "Experiment":
    seed = _to_whole("seed", value)
    if not 0 <= seed < 2**31:
        raise ExperimentError(f"seed is {seed}; it needs a whole number from 0 to {2**31 - 1}.")
    return reseed(e, seed)


def _set_key_heads(e: "Experiment", value: object) -> "Experiment":
    """Return the experiment with another number of key heads and tables to match; none means as many as heads."""
    config = AttentionConfig(
        n_heads=e.n_heads, n_kv_heads=None if _is_nothing(value) else _to_whole("n_kv_heads", value)
    )
    return edits.with_setting(e, n_kv_heads=config.n_kv_heads or e.n_heads)


_SPECIAL: Mapping[str, Callable[["Experiment", Any], "Experiment"]] = {
    "tokens": lambda e, value: token_edits.set_tokens(e, _to_tokens("tokens", value)),
    "sentence": lambda e, value: token_edits.set_tokens(e, _to_tokens("sentence", value)),
    "memory": _set_memory,
    "output": lambda e, value: edits.toggle_output(e, _to_switch("output", value)),
    "block": lambda e, value: _set_block(e, value),
    "layer": lambda e, value: select_layer(e, _to_whole("layer", value) - 1),
    "biases": lambda e, value: edits.toggle_biases(e, _to_switch("biases", value)),
    "valid": _set_valid,
    "ablate": lambda e, value: edits.configure(e, ablated=tuple(sorted(set(_to_wholes("ablate", value))))),
    "n_kv_heads": _set_key_heads,
    "item": lambda e, value: select(e, _to_whole("item", value)),
    "seed": _set_seed,
}
_FIELDS = tuple(f.name for f in fields(AttentionConfig) if f.name not in ("masks", "options", "ablated", "n_kv_heads"))


def _list_sizes() -> tuple[str, ...]:
    return ("T", "T_k", "d_model", "d_k", "d_v", "d_memory", *registry.free_axes())


def _set_size(e: "Experiment", name: str, value: object) -> "Experiment":
    size = _to_whole(name, value)
    if name == "T" or (name == "T_k" and e.memory_tokens is not None):
        return token_edits.resize_tokens(e, size, "query" if name == "T" else "memory")
    if name == "T_k":
        raise ExperimentError("T_k equals T without a second sequence; set T instead, or set memory first.")
    if name in registry.free_axes():
        return edits.resize_free(e, name, size)
    return edits.resize(e, **{name: size})
