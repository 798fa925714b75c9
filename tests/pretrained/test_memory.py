"""What the system says of its free memory, with which a model's size is compared before it is read."""

import os
import sys
from pathlib import Path

import pytest

from attnlab.pretrained import free_memory
from attnlab.pretrained.free_memory import available_bytes, format_gib


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/meminfo")
def test_linux_says_how_much_programs_can_take() -> None:
    told = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    whole, free = (int(told[name].split()[0]) * 1024 for name in ("MemTotal", "MemFree"))
    found = available_bytes()
    assert found is not None
    assert free // 2 < found <= whole


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="asks POSIX")
def test_where_linux_says_nothing_the_whole_memory_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(free_memory, "open", refuse, raising=False)
    assert available_bytes() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(free_memory.os, "sysconf", refuse)
    assert available_bytes() is None


@pytest.mark.parametrize(("count", "text"), [(3 << 20, "3 MiB"), (3 << 29, "1.5 GiB"), (0, "0 MiB")])
def test_sizes_are_readable(count: int, text: str) -> None:
    assert format_gib(count) == text
