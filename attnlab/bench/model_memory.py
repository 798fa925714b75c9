"""Benchmark of memory: a long text in a model, in a process of its own, compared with what has to stay in memory."""

import subprocess
import sys
from collections.abc import Iterator

from attnlab.base.errors import AttnlabError
from attnlab.bench.measure import Case, make_case

PATIENCE_S = 120
_SCRIPT = """
import resource, sys
from pathlib import Path
from attnlab.compute.engine import prepare
from attnlab.pretrained.model import open_model
from attnlab.ui.models.model_reader import ModelReader
from attnlab.ui.models.model_state import ModelState

def peak():
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    said = Path("/proc/self/status").read_text().split("VmHWM:")[1]  # ru_maxrss counts the parent's memory too
    return int(said.split()[0]) / 2**10

source, sentence, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
prepare()
open_model("induction").run("a b a").attention(0)
before, reader = peak(), ModelReader()
reader.read_overview(ModelState(source, sentence), None)
model = peak() - before
cut = open_model(source).tokenizer.encode
words = (sentence + " ") * limit
words = words[: len(words) * limit // len(cut(words)[0])].split()
while len(cut(" ".join(words))[0]) > limit:
    del words[-1]
model = max(model, peak() - before)
found = reader.read_overview(ModelState(source, " ".join(words)), None)
hidden = (found.n_layers + 1) * len(found.queries) * found.facts.d_model * 4 / 2**20
print(peak() - before, model + hidden + found.maps.nbytes / 2**20)
"""


def measure_memory(name: str, source: str, sentence: str, tokens: int) -> Iterator[Case]:
    """Yield the peak of memory for a text of about ``tokens`` tokens, compared with the model, which was opened with a
    short text, its hidden states and the overview; nothing where the system does not tell, as on Windows.

    Raises:
        AttnlabError: the process fails.
    """
    if sys.platform not in ("linux", "darwin"):
        return
    command = [sys.executable, "-c", _SCRIPT, source, sentence, str(tokens)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AttnlabError(f"The memory of {name} cannot be measured: {reason}")
    ours, needed = map(float, done.stdout.split())
    yield make_case("models", f"{name}, {tokens} tokens: memory", [ours], [needed], "MB", "ratio ≥ 0.77 (1.3 times)")
