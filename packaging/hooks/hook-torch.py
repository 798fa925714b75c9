"""Tells PyInstaller what of torch to take: what is imported, its libraries, and no headers, programs or tests.

The hook that PyInstaller's community keeps takes every module there is. What ``attnlab.spec`` leaves out was tried with
those modules hidden: layers, optimisers, schedulers, ``torch.func``, saving and loading work, without a warning.
"""

from pathlib import Path

from PyInstaller.utils.hooks import PY_DYLIB_PATTERNS, collect_dynamic_libs, collect_submodules, get_package_paths

# The first optimiser that is made imports these by names that it puts together; nothing else in torch names them.
hiddenimports = collect_submodules("torch._dynamo.polyfills")
module_collection_mode = "pyz+py"  # torch.jit reads the sources of what it is imported with
binaries = [
    (source, folder)
    for source, folder in collect_dynamic_libs("torch", search_patterns=[*PY_DYLIB_PATTERNS, "*.so.*"])
    if folder == "torch/lib"
    and not any(part in source for part in ("_test.", "custom_ops", "with_compiler", "libshm_windows"))
]
# torch looks for this one program of torch/bin while it is loaded; there is none on Windows.
shares_memory = Path(get_package_paths("torch")[1]) / "bin" / "torch_shm_manager"
if shares_memory.is_file():
    binaries.append((str(shares_memory), "torch/bin"))

# torch finds its libraries from where they lie; links to them elsewhere would mislead it.
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
