"""Tells PyInstaller which parts of torch to bundle: imported modules and libraries; no headers, programs or tests.

PyInstaller's community hook bundles every module. The modules that ``attnlab.spec`` leaves out were tested as missing:
layers, optimisers, schedulers, ``torch.func``, saving and loading work without a warning.
"""

from pathlib import Path

from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs, collect_submodules, get_package_paths

# The first optimiser imports these under computed names; nothing else in torch refers to them.
hiddenimports = collect_submodules("torch._dynamo.polyfills")
module_collection_mode = "pyz+py"  # torch.jit reads source files
binaries = [
    (source, folder)
    for source, folder in collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
    if folder == "torch/lib"
    and not any(part in source for part in ("_test.", "custom_ops", "with_compiler", "libshm_windows"))
]
# torch looks for this program in torch/bin while it loads; it does not exist on Windows.
shares_memory = Path(get_package_paths("torch")[1]) / "bin" / "torch_shm_manager"
if shares_memory.is_file():
    binaries.append((str(shares_memory), "torch/bin"))

# torch finds its libraries by their location, so links elsewhere would break it.
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
