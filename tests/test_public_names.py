"""The public names of the package, and that importing it loads nothing slow."""

import importlib.metadata
import subprocess
import sys

import pytest

import attnlab

NAMES = {
    "AttentionConfig",
    "AttnlabError",
    "Capture",
    "DeviceError",
    "Experiment",
    "ExperimentError",
    "FileError",
    "Model",
    "Sample",
    "Trace",
    "UnknownPresetError",
    "Weights",
    "__version__",
    "capture",
    "compute",
    "figure",
    "from_multihead",
    "load",
    "preset",
    "presets",
    "read_model",
    "read_weights",
    "save",
    "to_multihead",
    "view",
}

COMPUTE = "(attnlab.preset('journey')); print(tuple(t['weights'].shape), t['weights'].dtype)"


def python(code: str) -> str:
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def test_the_public_names_are_those_of_the_contract() -> None:
    assert set(attnlab.__all__) == NAMES
    assert len(attnlab.__all__) == len(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES - {"view"}))
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(attnlab, name) is not None
    assert name in dir(attnlab)


def test_the_window_can_be_imported_with_qt() -> None:
    pytest.importorskip("PySide6")
    assert callable(attnlab.view)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'attend'"):
        attnlab.attend  # noqa: B018  # looking it up is the test


def test_importing_the_package_loads_neither_qt_nor_torch_nor_numpy() -> None:
    code = "import sys, attnlab; print(sorted({'PySide6', 'torch', 'numpy', 'pyqtgraph'} & set(sys.modules)))"
    assert python(code) == "[]"


def test_naming_an_error_loads_neither_qt_nor_torch() -> None:
    code = "import sys, attnlab; attnlab.ExperimentError; print(sorted({'PySide6', 'torch'} & set(sys.modules)))"
    assert python(code) == "[]"


def test_looking_compute_up_does_not_load_torch() -> None:
    assert python("import sys, attnlab; attnlab.compute; print('torch' in sys.modules)") == "False"


ORDERS = (
    "import attnlab; t = attnlab.compute",  # the name first
    "import attnlab.compute.engine; t = attnlab.compute",  # the package first
    "import attnlab; from attnlab import compute; import attnlab.compute.engine; t = compute",
)


@pytest.mark.slow
def test_compute_is_the_public_function_in_any_import_order() -> None:
    forget = "import sys; [sys.modules.pop(name) for name in [*sys.modules] if name.split('.')[0] == 'attnlab']"
    said = python("\n".join(f"{forget}\n{order}{COMPUTE}" for order in ORDERS))  # loads torch once for all
    assert said.splitlines() == ["(1, 6, 6) torch.float32"] * len(ORDERS)


def test_compute_has_the_documented_parameters() -> None:
    trace = attnlab.compute(attnlab.preset("journey"), device="cpu", dtype="float64")
    assert str(trace["output"].dtype) == "torch.float64"
    assert isinstance(trace, attnlab.Trace)


def test_the_installed_version_equals_that_of_the_package() -> None:
    assert importlib.metadata.version("attnlab") == attnlab.__version__


def test_every_error_is_an_attnlab_error() -> None:
    errors = [getattr(attnlab, name) for name in NAMES if name.endswith("Error")]
    assert len(errors) == 5
    assert all(issubclass(error, attnlab.AttnlabError) for error in errors)
