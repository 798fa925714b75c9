"""Edits experiments at random without a window; computes, saves, loads and walks each state.

    python -m tools.random_edits --count 2000 --seed 7

Each edit must return a new state or raise one sentence, and must not change the state that it started from. A saved
state must be identical when it is loaded, with earlier states beside it as pins.
"""

import argparse
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment

WORDS = ("", "a", "the cat", "the cat sat on the mat", "x x x", "é ∅ 日本", "journey starts with one step")
NUMBERS = (0.0, 1.0, -1.0, 0.5, 1e-9, 1e9, -1e30, 3e38, float("nan"), float("inf"), 1e300)


def main(argv: list[str] | None = None) -> int:
    """Do the chosen number of edits; return 1 if one is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tools.random_edits", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="the seed of the edits (default: random, printed)")
    parser.add_argument("--count", type=int, default=2000, help="how many edits (default 2000)")
    options = parser.parse_args(argv)
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    begun, faults, edits = time.monotonic(), 0, 0
    while edits < options.count:
        walk = edits // STEPS
        said = find_fault(seed, walk)
        faults += bool(said)
        if said:
            print(f"FAULT walk {walk}: {said}\n  again: python -m tools.random_edits --seed {seed + walk} --count 1")
        edits += STEPS
    print(f"{edits:,} edits of seed {seed}, {faults} faults, {time.monotonic() - begun:.0f} s")
    return 1 if faults else 0


STEPS = 25
"""How many edits a walk has; it starts from a preset."""


def find_fault(seed: int, walk: int) -> str:
    """Do one walk; return the fault and the edits before it, or ""."""
    import attnlab
    from attnlab.base.errors import AttnlabError

    r = random.Random(seed + walk)
    e = attnlab.preset(r.choice(attnlab.presets()))
    states, did = [e], []
    try:
        for _ in range(STEPS):
            before = _collect(e)
            did.append(name := r.choice(list(EDITS)))
            try:
                e = EDITS[name](e, r)
            except AttnlabError as error:
                did[-1] += f" (refused: {str(error)[:80]})"
                continue
            if _collect(states[-1]) != before:
                return f"{name} changed the state that it started from, after {did}"
            states.append(e)
        return _find_lost(states, r) or _find_uncomputed(e)
    except Exception as error:  # noqa: BLE001  # any error is a finding
        where = "".join(traceback.format_exception(error)[-5:]).replace("\n", "\n    ")
        return f"{type(error).__name__}: {error}\n    {where}\n    after {did}"


def _find_lost(states: list["Experiment"], r: random.Random) -> str:
    """Save the last state with earlier ones as pins; return what differs when it is loaded."""
    from attnlab.files.sessions.session_file import Session, load_session, save_session

    pins = r.sample(states, min(len(states), r.randint(0, 4)))
    with tempfile.TemporaryDirectory() as folder:
        save_session(Session(states[-1], {}, pins), path := Path(folder) / "s.attnlab")
        read = load_session(path)
    for place, (saved, found) in enumerate(zip((states[-1], *pins), (read.experiment, *read.pins), strict=True)):
        if _collect(saved) != _collect(found):
            return f"state {place} of the session is not what was saved: {_find_first_difference(saved, found)}"
    return ""


def _find_uncomputed(e: "Experiment") -> str:
    """Compute a state and walk its steps; return what is wrong."""
    from attnlab.attention.stages import walk
    from attnlab.attention.stages.explain import explain
    from attnlab.attention.stages.explanation import Cell
    from attnlab.compute.service import Request, answer

    reply = answer(Request(1, e, "cpu", "float32", None, True), lambda: False)
    if reply.trace is None:
        return "" if reply.error.endswith(".") else f"the error is not a sentence: {reply.error!r}"
    for name in reply.trace.all_stages:
        explain(reply.trace, Cell(name, 0, 0, 0 if reply.trace.stage(name).has_heads else None))
    for depth in walk.DEPTHS:
        walk.frames(e, "weights" if "weights" in reply.trace.all_stages else reply.trace.all_stages[-1], depth, (0, 0))
    return ""


def _collect(e: "Experiment") -> tuple[Any, ...]:
    """Return all parts of an experiment as bytes."""
    from attnlab.files.sessions.session_experiment import _experiment_to_json, arrays_of

    arrays = sorted(arrays_of(e).items())
    return repr(_experiment_to_json(e)), [(name, a.dtype, tuple(a.shape), _to_bytes(a)) for name, a in arrays]


def _to_bytes(array: "Tensor") -> bytes:
    import torch

    return bytes(array.contiguous().flatten().view(torch.uint8).numpy())


def _find_first_difference(one: "Experiment", other: "Experiment") -> str:
    from attnlab.files.sessions.session_experiment import _experiment_to_json, arrays_of

    if _experiment_to_json(one) != _experiment_to_json(other):
        return f"{_experiment_to_json(one)} and {_experiment_to_json(other)}"
    a, b = arrays_of(one), arrays_of(other)
    return ", ".join(n for n in a.keys() | b.keys() if n not in a or n not in b or _to_bytes(a[n]) != _to_bytes(b[n]))


def _choose_table(e: "Experiment", r: random.Random) -> str:
    from attnlab.attention import edits

    return r.choice(edits.tables(e))


def _configure(e: "Experiment", r: random.Random) -> "Experiment":
    from attnlab.attention import edits
    from attnlab.attention.registries import registry
    from attnlab.attention.registries.masks import MASKS

    changes: dict[str, Any] = {}
    for _ in range(r.randint(1, 3)):
        way = r.random()
        if way < 0.5:
            choice = r.choice(list(registry.CHOICES))
            changes[choice.field] = r.choice(list(choice.entries))
        elif way < 0.7:
            changes["masks"] = {r.choice(list(MASKS)): r.choice((0, 1, 2, 5, 10**9, -1))}
        elif way < 0.9:
            name, option = r.choice(list(registry.all_options().items()))
            values = (
                [value for value, *_ in option.choices] if option.kind == "choice" else [*NUMBERS, 1, 2, 3, -1, 2**63]
            )
            changes[name] = r.choice(values)
        else:
            changes[r.choice(("n_heads", "n_kv_heads", "causal", "scale"))] = r.choice(
                (1, 2, 3, True, False, 0, 2**63 - 1, "none")
            )
    return edits.configure(e, **changes)


def _make_edits() -> dict[str, Any]:
    from attnlab.attention import edits
    from attnlab.attention.edits import batches, layer_edits, stack_edits, table_edits, token_edits
    from attnlab.attention.edits.second_sequence import toggle_memory
    from attnlab.attention.measures import order

    def choose_side(e: "Experiment", r: random.Random) -> Any:
        return r.choice(("query", "query", "memory")) if e.memory_tokens is not None else "query"

    def make_token_edit(edit: Any) -> Any:
        """Return an edit of an existing token; ``edit`` takes the state, the token's index and the side."""

        def change(e: "Experiment", r: random.Random) -> "Experiment":
            which = choose_side(e, r)
            changed: Experiment = edit(e, r.randrange(batches.count_tokens(e, which)), which)
            return changed

        return change

    def set_block(e: "Experiment", r: random.Random) -> "Experiment":
        rows = [[r.choice(NUMBERS[:7]) for _ in range(r.randint(1, 2))]] * r.randint(1, 2)
        return table_edits.set_block(e, _choose_table(e, r), r.randint(0, 3), r.randint(0, 3), rows)

    return {
        "configure": _configure,
        "second sequence": lambda e, r: toggle_memory(e, r.random() < 0.7),
        "add item": lambda e, r: batches.add_item(e),
        "remove item": lambda e, r: batches.remove_item(e, r.randrange(1 + len(e.others))),
        "select": lambda e, r: batches.select(e, r.randrange(1 + len(e.others))),
        "length": lambda e, r: batches.set_length(e, r.randint(0, 6)),
        "retype": lambda e, r: token_edits.retype(e, r.choice(WORDS), choose_side(e, r)),
        "set tokens": lambda e, r: token_edits.set_tokens(e, tuple(r.choice(WORDS).split()), choose_side(e, r)),
        "add token": make_token_edit(lambda e, at, which: token_edits.add_token(e, "new", at, which)),
        "remove token": make_token_edit(token_edits.remove_token),
        "duplicate token": make_token_edit(token_edits.duplicate_token),
        "rename token": make_token_edit(lambda e, at, which: token_edits.rename_token(e, at, "other", which)),
        "move token": make_token_edit(lambda e, at, which: token_edits.move_token(e, at, 0, which)),
        "resize tokens": lambda e, r: token_edits.resize_tokens(e, r.choice((1, 2, 5, 9, 0)), choose_side(e, r)),
        "mask key": lambda e, r: token_edits.toggle_key(e, r.randrange(e.T_k)),
        "output": lambda e, r: layer_edits.toggle_output(e, r.random() < 0.5),
        "biases": lambda e, r: layer_edits.toggle_biases(e, r.random() < 0.5),
        "head": lambda e, r: layer_edits.toggle_head(e, r.randrange(e.n_heads)),
        "paint": lambda e, r: layer_edits.paint_mask(e, r.randrange(e.T_q), r.randrange(e.T_k), r.random() < 0.5),
        "scale": lambda e, r: table_edits.scale(e, _choose_table(e, r), r.choice(NUMBERS)),
        "transpose": lambda e, r: table_edits.transpose(e, _choose_table(e, r)),
        "round": lambda e, r: table_edits.round_table(e, _choose_table(e, r), r.randint(0, 6)),
        "block": set_block,
        "resize": lambda e, r: edits.resize(
            e, **{r.choice(("d_model", "d_k", "d_v", "d_memory")): r.choice((1, 2, 4, 6, 8, 0))}
        ),
        "add layer": lambda e, r: stack_edits.add_layer(e),
        "select layer": lambda e, r: stack_edits.select_layer(e, r.randrange(1 + e.n_layers)),
        "remove layer": lambda e, r: stack_edits.remove_layer(e, r.randrange(e.n_layers)),
        "shuffle": lambda e, r: order.shuffle(e, r.randint(0, 9)),
    }


EDITS = _make_edits()

if __name__ == "__main__":
    sys.exit(main())
