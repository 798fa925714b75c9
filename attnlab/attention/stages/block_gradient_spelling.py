"""The formula of each gradient of a block, of the output and of the inputs, and the equivalent PyTorch code."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS
from attnlab.attention.registries.losses import CLASS, OUTPUT, find_class, find_pair
from attnlab.attention.stages.backward import PROJECTIONS
from attnlab.attention.stages.backward_spelling import find_last_symbol, find_last_variable, write_merged
from attnlab.attention.stages.block_gradients import MATRICES
from attnlab.attention.stages.evaluate_block import find_place
from attnlab.attention.stages.presence import sources
from attnlab.attention.stages.spell_block import write_symbol
from attnlab.attention.stages.spelling import variable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

Writer = Callable[["Experiment"], str]


def _find_readers(e: "Experiment", name: str) -> list[str]:
    return [source.removeprefix("d_") for source in sources(e, f"d_{name}")]


def make_stream_formula(name: str) -> Writer:
    """Return the formula of the gradient of a stage of the block, of the output or of the inputs."""

    def formula(e: "Experiment") -> str:
        readers = _find_readers(e, name)
        if readers[:1] == ["loss"]:
            wanted = rf"2 ({find_last_symbol(e)} - Y) \div n"
            return r"(p - 1_c)\, W_{read}^{\top}" if e.config.option("loss") == CLASS else wanted
        return " + ".join(_write_term(e, name, reader) for reader in readers)

    return formula


def _write_term(e: "Experiment", name: str, reader: str) -> str:
    if reader in PROJECTIONS:
        weight = PROJECTIONS[reader]
        back = rf"\, {weight}^{{\top}}" if getattr(e.weights, weight) is not None else ""
        return f"d{variable(reader)}{back}"
    if reader.startswith("normed"):
        return r"\mathrm{through\ the\ norm}"
    d = f"d{write_symbol(reader)}"
    if reader in MATRICES:
        return rf"{d}\, {MATRICES[reader].replace('gate', 'g')}^{{\top}}"
    if reader != "activated":
        return d
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    if not feed_forward.is_gated:
        return rf"{d} \odot {feed_forward.symbol}'(H)"
    return (
        rf"{d} \odot {feed_forward.symbol}(G)" if name == "hidden" else rf"{d} \odot H \odot {feed_forward.symbol}'(G)"
    )


def make_stream_code(name: str) -> Writer:
    """Return the code of the gradient of a stage of the block, of the output or of the inputs."""

    def code(e: "Experiment") -> str:
        made, readers = f"d_{variable(name)}", _find_readers(e, name)
        if readers[:1] == ["loss"]:
            return _write_last(e, made)
        lines: list[str] = []
        for place, reader in enumerate(readers):
            before, term = _write_reader(e, name, reader)
            lines += [*before, f"{made} = {f'{made} + ' if place else ''}{term}"]
        return "\n".join(lines)

    return code


def _write_last(e: "Experiment", made: str) -> str:
    """Return the code of the gradient of what leaves the layer."""
    last, query = find_last_variable(e), find_pair(e)[1]
    if e.config.option("loss") == OUTPUT:
        return f"{made} = 2 * ({last} - Y) / {last}.numel()"
    return (
        f"missed = readout[{query}].clone()\nmissed[{find_class(e)}] -= 1\n"
        f"{made} = torch.zeros_like({last})\n{made}[{query}] = W_read @ missed"
    )


def _write_reader(e: "Experiment", name: str, reader: str) -> tuple[list[str], str]:
    """Return the part of a gradient that comes from one of the stages computed from a stage, and the lines before."""
    if reader in PROJECTIONS:
        weight = PROJECTIONS[reader]
        return [], f"{write_merged(e, reader)}{f' @ {weight}.T' if getattr(e.weights, weight) is not None else ''}"
    d = f"d_{variable(reader)}"
    if reader.startswith("normed"):
        return _write_norm(e, variable(name), d, find_place(e.config.block, reader))
    if reader in MATRICES:
        return [], f"{d} @ {MATRICES[reader]}.T"
    return _write_activation(e, name, d) if reader == "activated" else ([], d)


def _write_norm(e: "Experiment", x: str, d: str, place: int) -> tuple[list[str], str]:
    centred, root, is_centred = f"centred_{place}", f"root_{place}", BLOCK_NORMS[e.config.block_norm].is_centred
    lines = [
        f"{centred} = {x} - {x}.mean(-1, keepdim=True)" if is_centred else f"{centred} = {x}",
        f"{root} = torch.rsqrt({centred}.square().mean(-1, keepdim=True) + {e.config.option('norm_eps')!r})",
        f"d_row = {d} * gamma_{place}",
    ]
    if is_centred:
        lines.append("d_row = d_row - d_row.mean(-1, keepdim=True)")
    return lines, f"{root} * d_row - {centred} * {root}**3 * ({centred} * d_row).mean(-1, keepdim=True)"


def _write_activation(e: "Experiment", name: str, d: str) -> tuple[list[str], str]:
    feed_forward = FEED_FORWARDS[e.config.feed_forward]
    if feed_forward.is_gated and name == "hidden":
        return [], f"{d} * {feed_forward.code.replace('{x}', variable('gates'))}"
    lines = feed_forward.slope_code.replace("{x}", variable(name)).splitlines()
    return lines, f"{d} * {variable('hidden')} * slope" if feed_forward.is_gated else f"{d} * slope"


def make_matrix_formula(of: str) -> Writer:
    """Return the formula of the gradient of a matrix of the feed-forward."""
    return lambda e: rf"{write_symbol(sources(e, f'd_{MATRICES[of]}')[0])}^{{\top}} d{write_symbol(of)}"


def make_matrix_code(of: str) -> Writer:
    """Return the code of the gradient of a matrix of the feed-forward."""
    name = f"d_{MATRICES[of]}"
    return lambda e: f"{name} = {variable(sources(e, name)[0])}.T @ d_{variable(of)}"


def make_sum_formula(table: str) -> Writer:
    """Return the formula of the gradient of a table that is added to every token."""
    return lambda e: rf"\Sigma_t\, d{write_symbol(_find_readers(e, table)[-1])}"


def make_sum_code(table: str) -> Writer:
    """Return the code of the gradient of a table that is added to every token."""
    return lambda e: f"d_{table} = {variable(sources(e, f'd_{table}')[-1])}.sum(0, keepdim=True)"


def make_gain_formula(gain: str) -> Writer:
    """Return the formula of the gradient of the gain of a norm of the block."""

    def formula(e: "Experiment") -> str:
        x = write_symbol(_find_readers(e, gain)[1])
        return rf"\Sigma_t\, d{x}\; {x}"

    return formula


def make_gain_code(gain: str) -> Writer:
    """Return the code of the gradient of the gain of a norm of the block, after that of the numbers before the norm."""
    place = gain[-1]
    return lambda e: (
        f"d_{gain} = ({variable(sources(e, f'd_{gain}')[1])} * centred_{place} * root_{place}).sum(0, keepdim=True)"
    )
