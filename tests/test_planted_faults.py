"""The list of planted faults is valid: each text exists once, and so do the tests that must fail."""

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    import plant_faults

    monkeypatch.setattr(plant_faults, "START", "spawn")  # this process has threads and Qt, which no fork should take
    return plant_faults


def test_every_fault_can_be_planted_and_its_tests_exist(tool: ModuleType) -> None:
    wrong = [f"{fault.room}: {fault.name}: {why}" for fault in tool.read_faults() if (why := tool.find_problem(fault))]
    assert not wrong, "\n".join(["Follow your change in tools/faults:", *wrong])


def test_every_room_has_faults_with_unique_names(tool: ModuleType) -> None:
    faults = tool.read_faults()
    assert len(faults) >= 100
    assert max(Counter((fault.room, fault.name) for fault in faults).values()) == 1
    rooms = {fault.file.split("/")[1] for fault in faults}
    assert rooms >= {"attention", "compute", "document", "figures", "files", "lessons", "training", "ui", "base", "cli"}
    of_ui = {fault.file.split("/")[2] for fault in faults if fault.file.startswith("attnlab/ui/")}
    assert of_ui >= {"export", "lessons", "playground", "predict", "present", "train", "weights", "widgets"}


def test_a_fault_that_cannot_be_planted_is_named(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    (tmp_path / "test_a.py").write_text("def test_x():\n    pass\n")

    def why(**changes: object) -> str:
        fault = {"room": "r", "name": "n", "file": "a.py", "find": "x = 1", "put": "x = 2", "tests": ("test_a.py",)}
        return str(tool.find_problem(tool.Fault(**{**fault, **changes}), tmp_path))

    assert why() == ""
    assert why(tests=("test_a.py::test_x[3]",)) == ""
    assert why(file="b.py") == "there is no file b.py"
    assert why(find="= 1") == "a.py has its text 2 times"
    assert why(find="z") == "a.py has its text 0 times"
    assert why(put="x = 1") == "it changes nothing"
    assert why(put="x = (").startswith("planted, a.py is no Python")
    assert why(tests=("test_b.py",)) == "there is no test file test_b.py"
    assert why(tests=("test_a.py::test_y",)) == "test_a.py has no test test_y"


@pytest.mark.slow
def test_planting_reports_the_outcome_and_restores_the_file(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "test_sums.py").write_text(
        "from sums import add\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_nothing():\n    pass\n"
    )
    before = (tmp_path / "sums.py").read_text()

    def fault(test: str, put: str = "a - b") -> object:
        return tool.Fault("r", "n", "sums.py", "a + b", put, (test,))

    seen = tool.plant(fault("test_sums.py"), tmp_path, tool.LIMIT_S)
    assert (seen.result, seen.said) == ("caught", "test_sums.py::test_add")
    unseen = tool.plant(fault("test_sums.py::test_nothing"), tmp_path, tool.LIMIT_S)
    assert unseen.result == "survived"
    lost = tool.plant(fault("test_sums.py::test_gone"), tmp_path, tool.LIMIT_S)
    assert lost.result == "broken"
    assert (tmp_path / "sums.py").read_text() == before
    said = tool.report([seen, unseen, lost])
    assert "1 of 2, 50.0 % caught" in said
    assert "survived: r: n (sums.py)" in said
    tool.confirm([seen], tmp_path)
    assert seen.result == "caught"
    (tmp_path / "sums.py").write_text(before.replace("+", "*"))
    tool.confirm([seen], tmp_path)
    assert seen.result == "broken"
    assert "test_sums.py::test_add fails on the clean tree too" in seen.said
