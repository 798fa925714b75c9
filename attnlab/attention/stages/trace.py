"""The computation of one experiment: its stages, each evaluated on demand and at most once."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.arrays import is_written
from attnlab.attention.frozen import NOTHING
from attnlab.attention.registries.entries import Entry, Table
from attnlab.attention.registries.masks import Hidden
from attnlab.attention.stages.table import Stage, plan
from attnlab.base.arguments import explain_calls
from attnlab.base.errors import ArgumentError, DeviceError

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

_SHOWS_MASK = {
    "-inf": ("masked", "weights", "dropped"),
    "-1e9": ("masked",),
    "0": (),
    "after": ("zeroed", "dropped"),
}
_SHOWS_FILL = {"-1e9": ("weights", "dropped"), "0": ("masked", "weights", "dropped")}


class Trace:
    """The stages of an experiment on one device in one dtype; ``trace["weights"]`` is a tensor [h, T_q, T_k].

    It works like a mapping: ``name in trace``, ``len(trace)`` and ``for name in trace`` compute nothing.

    Attributes:
        experiment: the experiment that is computed.
        device, dtype: the device and dtype of the computation.
        stages: the names of this configuration's stages, in order.
    """

    @explain_calls
    def __init__(self, experiment: "Experiment", device: torch.device, dtype: torch.dtype) -> None:
        self.experiment = experiment
        self.device = device
        self.dtype = dtype
        try:
            self._plan, self._kind = plan(experiment), device.type
        except (AttributeError, TypeError):
            raise ArgumentError(
                "A Trace needs an Experiment, a torch.device and a torch.dtype; attnlab.compute makes one."
            ) from None
        self._present = self._plan.stages
        self._tensors: dict[str, Tensor] = {}
        self._arrays: dict[str, NDArray[np.floating]] = {}
        self._as_given = self._kind == "cpu"  # where experiments' tensors are
        self._below: Trace | None = None
        self._masks: Hidden | None = None
        self._hidden: Tensor | None = None

    def __repr__(self) -> str:
        """Return one line that computes nothing."""
        dtype = str(self.dtype).removeprefix("torch.")
        return f"<Trace on {self.device} in {dtype}: {', '.join(self.stages)}>"

    def _repr_html_(self) -> str | None:
        """Return sizes, tokens, the weights as a picture and the stages as HTML, for notebooks."""
        import attnlab  # here, as it imports this module and loads Qt

        return attnlab.write_notebook_page(self)

    def _repr_png_(self) -> bytes | None:
        """Return the weights as a picture for notebooks, drawn on request; None if it cannot be drawn."""
        import attnlab  # here, as it imports this module and loads Qt

        return attnlab.draw_notebook_picture(self)

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of this configuration's stages, in order, without side stages (memory, merged)."""
        return self._plan.listed

    @property
    def all_stages(self) -> tuple[str, ...]:
        """The names of all stages of this configuration, in order, including side stages (memory, merged)."""
        return tuple(self._present)

    def __getitem__(self, name: str) -> Tensor:
        """Return a stage as a tensor, without gradients.

        Raises:
            KeyError: no such stage in this configuration; the message names those that exist.
            DeviceError: the device ran out of memory.
        """
        tensor = self._tensors.get(name)
        return self._evaluate(name) if tensor is None else tensor

    def stage(self, name: str) -> Stage:
        """Return the entry of the stage table; KeyError as ``trace[name]``."""
        if name not in self._present:
            raise KeyError(f"there is no stage {name!r} in this configuration; there are {', '.join(self._present)}")
        return self._present[name]

    def sources(self, name: str) -> tuple[str, ...]:
        """Return the names of a stage's sources in this trace; KeyError as ``trace[name]``."""
        return self._plan.sources[name] if name in self._present else self._plan.sources[self.stage(name).name]

    def __contains__(self, name: str) -> bool:
        return name in self._present

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all stages, in order, like :attr:`all_stages`."""
        return iter(self._present)

    def __len__(self) -> int:
        """Return the number of all stages."""
        return len(self._present)

    def keys(self) -> tuple[str, ...]:
        """Return the names of all stages, so that ``dict(trace)`` contains every tensor."""
        return self.all_stages

    def array(self, name: str) -> NDArray[np.floating]:
        """Return a stage as a read-only NumPy array on the CPU: float64 for a trace in float64, otherwise float32."""
        array = self._arrays.get(name)
        if array is None:
            dtype = torch.float64 if self.dtype == torch.float64 else torch.float32
            array = self[name].to("cpu", dtype).numpy().view()
            array.flags.writeable = False
            self._arrays[name] = array
        return array

    def mean(self, name: str) -> NDArray[np.floating]:
        """Return a stage averaged over its heads, one axis less; −∞ stays −∞."""
        key = f"{name}/mean"
        if key not in self._arrays:
            with np.errstate(all="ignore"):  # ∞ − ∞ is NaN and is shown as such
                mean = self.array(name).mean(0)
            mean.flags.writeable = False
            self._arrays[key] = mean
        return self._arrays[key]

    def take(self, tensor: Tensor) -> Tensor:
        """Return a tensor of the experiment on this trace's device in its dtype, without gradients."""
        if is_written(tensor):
            self._refuse_written()
        if tensor.requires_grad:
            tensor = tensor.detach()
        return tensor if self._as_given and tensor.dtype is self.dtype else tensor.to(self.device, self.dtype)

    def _refuse_written(self) -> None:
        from attnlab.attention.unwritten import check_unwritten  # that module imports this one's parts

        check_unwritten(self.experiment)

    @property
    def below(self) -> "Trace | None":
        """The trace of the layer below in a stack; None for the first."""
        if self._below is None and self.experiment.layer > 0:
            from attnlab.attention.edits.stack_edits import select_layer  # that module imports this one's parts

            self._below = self._make_below(select_layer(self.experiment, self.experiment.layer - 1))
        return self._below

    def _make_below(self, e: "Experiment") -> "Trace":
        return Trace(e, self.device, self.dtype)

    def parameters(self, entry: Entry) -> Mapping[str, Any]:
        """Return the tables of an entry as tensors on this trace's device, and its options, by name."""
        if not entry.tables and not entry.options:
            return NOTHING
        e = self.experiment
        tables = {table.name: self._take_table(table) for table in entry.tables}
        return tables | {option.name: e.config.option(option.name) for option in entry.options}

    def _take_table(self, table: Table) -> Tensor:
        """Return a table; one that is exact stays on the CPU in its own dtype."""
        given = self.experiment.weights.extra[table.name]
        taken = self.take(given)  # refuses a table that was written to
        return given.detach() if table.is_exact else taken

    def plain_parameters(self, entry: Entry) -> Mapping[str, Any]:
        """Return the tables of an entry as float64 arrays, and its options, by name.

        Tables are rounded to the dtype, unless they are exact.
        """
        given = self.parameters(entry)
        return {
            name: value.to("cpu", torch.float64).numpy() if isinstance(value, Tensor) else value
            for name, value in given.items()
        }

    @property
    def allowed(self) -> Tensor | None:
        """The mask that applies, boolean [T_q, T_k] on the device, True where a query may attend; None without one."""
        hidden = self.hidden
        return None if hidden is None else ~hidden

    @property
    def hidden(self) -> Tensor | None:
        """The masked cells, the opposite of ``allowed``. Read-only: traces share the tensor."""
        masks = self._mask()
        if self._hidden is None and masks is not None:
            self._hidden = masks.cells if self._as_given else masks.on(self.device).cells
        return self._hidden

    @property
    def has_empty_rows(self) -> bool:
        """Whether a query has no visible key."""
        masks = self._mask()
        return masks is not None and masks.has_empty_rows

    def _mask(self) -> Hidden | None:
        if self._masks is None and self.experiment.masked:
            mask = self.experiment.config.mask
            if mask is not None and is_written(mask):
                self._refuse_written()
            self._masks = self.experiment.hidden_cells()
        return self._masks

    def find_shown_mask(self, name: str) -> NDArray[np.bool_] | None:
        """Return the cells of a stage that are shown as masked, [T_q, T_k] on the CPU; None if none are.

        With a fill of 0 or −1e9 the weights of masked pairs are ordinary numbers: see :meth:`find_filled`.
        """
        masks = self._mask()
        if masks is None or name not in _SHOWS_MASK[self.experiment.config.option("fill")]:
            return None
        return masks.cells.numpy().copy()  # traces share it

    def find_filled(self, name: str) -> NDArray[np.bool_] | None:
        """Return the cells of a stage that are masked but hold an ordinary number, [T_q, T_k]; None if there are none.

        That is the case with a fill of 0 or −1e9.
        """
        masks = self._mask()
        if masks is None or name not in _SHOWS_FILL.get(self.experiment.config.option("fill"), ()):
            return None
        return masks.cells.numpy().copy()  # traces share it

    @property
    def empty_rows(self) -> tuple[tuple[int, int], ...]:
        """The rows without a visible key, as (head, query); none with a fill of −1e9 or 0, which gives them weights."""
        masks = self._mask()
        if masks is None or not masks.has_empty_rows or self.experiment.config.option("fill") in ("-1e9", "0"):
            return ()
        queries = masks.cells.all(-1).nonzero().flatten().tolist()
        return tuple((head, query) for head in range(self.experiment.n_heads) for query in queries)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each stage that contains ∞ or NaN in cells that are not masked."""
        found: list[str] = []
        suspect = {name for name in self._present if not math.isfinite(self[name].sum().item())}
        for name in self._present:
            if name not in suspect or (name == "masked" and self.sources(name)[0] not in suspect):
                continue  # a finite sum has finite terms, and takes a tenth of the time
            bad = ~torch.isfinite(self[name])
            if name == "masked" and self.hidden is not None:
                bad &= ~self.hidden
            count = int(bad.sum())
            if count:
                dtype = str(self.dtype).removeprefix("torch.")
                found.append(f"{name}: {count} of {bad.numel()} values are ∞ or NaN in {dtype}.")
        return tuple(found)

    def _evaluate(self, name: str) -> Tensor:
        stage = self._present.get(name) or self.stage(name)
        try:
            if torch.is_autocast_enabled(self._kind):  # the caller's, which would change the dtype
                with torch.autocast(self._kind, enabled=False):
                    tensor = stage.compute(self)
            else:
                tensor = stage.compute(self)
        except (torch.OutOfMemoryError, MemoryError):
            raise self._out_of_memory(stage) from None
        except RuntimeError as error:
            if "alloc" not in str(error):  # the word in torch's error when the CPU has no memory left
                raise
            raise self._out_of_memory(stage) from None
        self._tensors[name] = tensor
        return tensor

    def _out_of_memory(self, stage: Stage) -> DeviceError:
        e = self.experiment
        return DeviceError(
            f"{self.device} ran out of memory at the stage {stage.name} ({e.n_heads} heads, {e.T_q} × {e.T_k} tokens); "
            "use fewer tokens, fewer heads or a smaller dtype."
        )
