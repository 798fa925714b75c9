"""Files of attention maps for :mod:`tools.file_kinds`: valid ones, how to corrupt them, and the real reader."""

import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tools import mutants
from tools.safe_reading import Kind


@cache
def make_maps() -> dict[str, tuple[bytes, ...]]:
    """Return files of maps by ending."""
    import numpy as np

    from attnlab.files.maps_file import WRITTEN, write_maps

    maps = np.random.default_rng(0).dirichlet(np.ones(4), (2, 3, 4))
    words = ("the", "", "ü\n", "cat")
    found: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending in WRITTEN:
            path = Path(folder) / f"m{ending}"
            for each in (maps, maps[0].astype(np.float32), maps[0, 0, :, :3]):
                write_maps(path, each, words, words[: each.shape[-1]])
                found.setdefault(ending, []).append(path.read_bytes())
    return {ending: tuple(files) for ending, files in found.items()}


def _spoil(ending: str) -> Callable[[random.Random, Path], None]:
    def spoil(r: random.Random, folder: Path) -> None:
        good = make_maps()[ending]
        data = r.choice(good)
        if r.random() < 0.2:
            data = mutants.spoil_bytes(r, data, good)
        elif ending == ".safetensors":
            data = mutants.spoil_tensors(r, data)
        else:
            members = mutants.read_members(data)
            name = r.choice(list(members))
            members[name] = mutants.spoil_npy(r, members[name])
            data = mutants.write_zip(list(members.items())) if r.random() < 0.7 else mutants.spoil_zip(r, members)
        (folder / f"m{ending}").write_bytes(data)

    return spoil


def _read(folder: Path) -> None:
    """Read maps as ``attnlab.view`` does."""
    from attnlab.figures.array_maps import take_maps
    from attnlab.pretrained.opened_maps import open_maps

    for path in folder.iterdir():
        take_maps(*open_maps(path, None))


KINDS = {f"maps-{ending[1:]}": Kind(_spoil(ending), _read) for ending in (".npz", ".safetensors")}
