"""The view of a scene as a value. Does not import Qt, because a thread imports it and must not define Qt classes."""

from dataclasses import dataclass, replace

from attnlab.attention.axes import size
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place
from attnlab.figures.scales import AUTOMATIC, Colouring


@dataclass(frozen=True, slots=True)
class View:
    """The parts of the scene that are shown; not part of undo. ``head`` is a head, "mean" or "all"; ``alone`` a stage
    that fills the canvas; ``look`` the state on the cards, "present", "pinned", "both" side by side, or "difference";
    ``strips`` is True if they show statistics too; ``pinned`` if the cell is pinned. ``colours`` are the stages whose
    colours the reader chose. ``at`` is the place of a walk, None at its end, ``step``
    the number of stages begun there, None for all, and ``depth`` the size of a step. If ``at`` and ``step`` disagree,
    ``at`` counts. ``example`` is the query and the key that the open preset shows while no cell is held."""

    head: int | str = 0
    alone: str | None = None
    step: int | None = None
    cell: Cell | None = None
    pinned: bool = False
    look: str = "present"
    strips: bool = False
    depth: str = "stage"
    at: Place | None = None
    colours: tuple[tuple[str, Colouring], ...] = ()
    example: tuple[int, int] | None = None

    def colouring(self, stage: str) -> Colouring:
        """Return what the reader chose for the colours of a stage."""
        return dict(self.colours).get(stage, AUTOMATIC)

    def with_colouring(self, stage: str, colouring: Colouring) -> tuple[tuple[str, Colouring], ...]:
        """Return ``colours`` with another choice for a stage."""
        others = {name: each for name, each in self.colours if name != stage}
        return tuple(sorted(({**others, stage: colouring} if colouring != AUTOMATIC else others).items()))

    @property
    def subject(self) -> Cell | None:
        """The cell to explain: the one pointed at, otherwise that of the walk, otherwise the pinned one."""
        if self.at is None or (self.cell is not None and not self.pinned):
            return self.cell
        if self.at.row is None or self.at.column is None or self.at.row < 0 or self.at.column < 0:
            return self.cell
        head = None if not BY_NAME[self.at.stage].has_heads else self.head if isinstance(self.head, int) else 0
        return Cell(self.at.stage, self.at.row, self.at.column, None if self.head == "mean" else head)


def fit_view(view: View, e: Experiment, *, first: bool = False) -> View:
    """Return the view without references to parts that no longer exist; ``first`` resets heads and steps."""
    if first:
        view = replace(view, head="all" if e.n_heads > 1 else 0, step=None, at=None, alone=None)
    if isinstance(view.head, int) and view.head >= e.n_heads:
        view = replace(view, head=0)
    if view.alone in BY_NAME and not BY_NAME[view.alone].present(e):
        view = replace(view, alone=None)
    if view.step is not None or view.at is not None or view.depth not in walk.DEPTHS:
        view = _fit_place(view, e)
    cell = view.cell
    if cell is not None and not _exists(cell, e):
        view = replace(view, cell=None, pinned=False)
    return view


def _fit_place(view: View, e: Experiment) -> View:
    """Return the view with its place moved to the nearest existing one, and a matching step count."""
    names = [stage.name for stage in walk.stages_of(e)]
    depth = view.depth if view.depth in walk.DEPTHS else "stage"
    at = walk.fit_place(e, view.at)
    if at is None and view.step is not None:
        at = Place(names[min(max(view.step, 1), len(names)) - 1])
    return replace(view, depth=depth, at=at, step=None if at is None else names.index(at.stage) + 1)


def _exists(cell: Cell, e: Experiment) -> bool:
    if not BY_NAME[cell.stage].present(e):
        return False
    *_, rows, cols = BY_NAME[cell.stage].axes
    return cell.row < size(e, rows) and cell.column < size(e, cols) and (cell.head or 0) < e.n_heads
