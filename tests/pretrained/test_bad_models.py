"""Broken, foreign and hostile folders of models: one sentence, nothing run, nothing kept."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlab.base.errors import ArgumentError, AttnlabError, FileError
from attnlab.pretrained import folder as folder_module
from attnlab.pretrained import model as model_module
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.rope import read_rotation
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make
from tests.pretrained.test_families import text_of


@pytest.fixture
def copied(make: Make, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a model's folder, to be broken, into tmp_path/broken."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(make(name)[1], tmp_path / "broken"))

    return copy


def change_config(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def read_and_run(folder: Path, text: str) -> None:
    run = read_model(folder).run(text)
    run.hidden(run.model.n_layers)


def sentence(folder: Path, text: str = "the cat sat") -> str:
    """Return the sentence of the error that reading and running a model raises."""
    with pytest.raises(AttnlabError) as raised:
        read_and_run(folder, text)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_folder_without_config(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    (folder / "config.json").unlink()
    assert sentence(folder).endswith("has no config.json, so it is not the folder of a model; choose one that has.")


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"model_type": NaN}', "[" * 10_000, "\0"])
def test_a_config_that_is_no_json_object(copied: Callable[[str], Path], text: str) -> None:
    folder = copied("bert")
    (folder / "config.json").write_text(text)
    assert "config.json" in sentence(folder)


def test_a_folder_without_tokenizer(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    (folder / "tokenizer.json").unlink()
    assert sentence(folder) == (
        "broken has no tokenizer; a model has tokenizer.json, vocab.txt, or vocab.json with merges.txt."
    )


@pytest.mark.parametrize("file", ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model"])
def test_a_tokenizer_of_sentencepiece_is_named(copied: Callable[[str], Path], file: str) -> None:
    folder = copied("llama")
    (folder / "tokenizer.json").rename(folder / file)
    assert sentence(folder) == (
        f"The only tokenizer of broken is {file}, a SentencePiece model, which attnlab does not read; write "
        "tokenizer.json beside it with AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of the "
        "transformers library."
    )


@pytest.mark.parametrize("text", ["", "{}", '{"model": {"type": "Wrong"}}', "\xff"])
def test_a_broken_tokenizer(copied: Callable[[str], Path], text: str) -> None:
    folder = copied("bert")
    (folder / "tokenizer.json").write_text(text)
    assert sentence(folder).startswith("The tokenizer of broken cannot be read: ")


def test_a_folder_without_weights(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    (folder / "model.safetensors").unlink()
    assert "has no weights; a model has model.safetensors or pytorch_model.bin" in sentence(folder)


def test_a_part_that_is_missing(make: Make, tmp_path: Path) -> None:
    make("llama")[0].save_pretrained(tmp_path, max_shard_size="20KB")
    parts = sorted(tmp_path.glob("model-*.safetensors"))
    parts[1].unlink()
    assert sentence(tmp_path).endswith(f"lacks {parts[1].name}, one of the {len(parts)} parts of the model.")


@pytest.mark.parametrize("place", ["../model.safetensors", "/etc/passwd", "", 5])
def test_an_index_may_only_name_files_beside_it(make: Make, tmp_path: Path, place: object) -> None:
    make("bert")[0].save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": place}}))
    with pytest.raises(FileError, match="index"):
        read_model(tmp_path)


def test_the_config_of_another_model(copied: Callable[[str], Path], make: Make) -> None:
    folder = copied("bert")
    shutil.copy(make("gpt2")[1] / "config.json", folder)
    assert sentence(folder) == "broken has no tensor wte.weight; its weights are not those of its config.json."


def test_the_sizes_of_another_model(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    change_config(folder, intermediate_size=41)
    assert "shape [40, 24], but config.json needs [41, 24]; the files do not fit together." in sentence(folder)


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (
            "qwen2",
            {"model_type": "llama"},
            "a tensor model.layers.0.self_attn.k_proj.bias, which a model of its config",
        ),
        ("qwen3", {"model_type": "mistral"}, "has a tensor model.layers.0.self_attn.k_norm.weight, which a model of"),
        ("llama", {"attention_bias": False}, "has a tensor model.layers.0.self_attn.k_proj.bias, which a model of"),
        ("llama-3", {"model_type": "qwen2"}, "has no tensor model.layers.0.self_attn.q_proj.bias, which its config"),
        ("llama-3", {"mlp_bias": True}, "has no tensor model.layers.0.mlp.up_proj.bias, which its config.json needs"),
        ("t5-gated", {"feed_forward_proj": "relu"}, "has no tensor encoder.block.0.layer.1.DenseReluDense.wi.weight"),
    ],
)
def test_the_config_of_a_model_of_the_same_shapes(
    copied: Callable[[str], Path], name: str, changes: dict[str, Any], told: str
) -> None:
    folder = copied(name)
    change_config(folder, **changes)
    assert told in sentence(folder)


@pytest.mark.parametrize(
    ("name", "setting", "at"),
    [
        ("bert", "num_hidden_layers", "bert.encoder.layer.2."),
        ("distilbert", "n_layers", "distilbert.transformer.layer.2."),
        ("gpt2", "n_layer", "transformer.h.2."),
        ("llama", "num_hidden_layers", "model.layers.2."),
        ("t5", "num_layers", "encoder.block.2."),
    ],
)
def test_more_layers_than_the_config_says(copied: Callable[[str], Path], name: str, setting: str, at: str) -> None:
    folder = copied(name)
    change_config(folder, **{setting: 2})
    told = sentence(folder)
    assert told.startswith(f"broken has a tensor {at}")
    assert told.endswith(", but its config.json has 2 layers, counted from 0; the files do not fit together.")


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("gpt2", "transformer.h.0.attn.bias"),
        ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq"),
        ("t5", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"),
    ],
)
def test_tensors_that_old_files_have_are_ignored(copied: Callable[[str], Path], name: str, tensor: str) -> None:
    folder = copied(name)
    change_tensors(folder, lambda tensors: tensors.update({tensor: torch.ones(1)}))
    read_and_run(folder, "the cat sat")


def test_layers_that_are_not_there(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    change_config(folder, num_hidden_layers=5)
    assert "has no tensor bert.encoder.layer.3.attention.self.query.weight" in sentence(folder)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"num_attention_heads": 5}, "config.json has 5 heads, which do not divide its 24 columns."),
        ({"num_attention_heads": 2**63 - 1}, "num_attention_heads; it needs a whole number from 1 to 1024."),
        ({"num_attention_heads": 0}, "config.json has 0 for num_attention_heads"),
        ({"hidden_size": "wide"}, "config.json has 'wide' for hidden_size"),
        ({"hidden_size": None}, "config.json has no hidden_size"),
        ({"num_hidden_layers": 1.5}, "config.json has 1.5 for num_hidden_layers"),
        ({"num_hidden_layers": True}, "config.json has True for num_hidden_layers"),
        ({"hidden_act": "wave"}, "config.json names the activation 'wave'; attnlab knows gelu"),
        ({"layer_norm_eps": -1}, "config.json has -1 for layer_norm_eps; it needs a number above 0."),
        ({"vocab_size": 99}, "config.json needs [99, 24]"),
        ({"position_embedding_type": "relative_key"}, "'relative_key' for position_embedding_type; attnlab runs this"),
        ({"is_decoder": True}, "config.json has True for is_decoder; attnlab runs this family only with False."),
    ],
)
def test_settings_out_of_bounds(copied: Callable[[str], Path], changes: dict[str, Any], told: str) -> None:
    folder = copied("bert")
    change_config(folder, **changes)
    assert told in sentence(folder)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"partial_rotary_factor": 0.5},
            "config.json has 0.5 for partial_rotary_factor; attnlab runs this family only",
        ),
        ({"num_key_value_heads": 3}, "config.json has 3 key heads, which do not divide its 4 heads."),
        (
            {"rope_parameters": {"rope_type": "mrope"}},
            "config.json scales RoPE by 'mrope'; attnlab knows default, linear",
        ),
        (
            {"rope_parameters": {"rope_type": "longrope", "short_factor": [1, 1, 1], "long_factor": [1, 2]}},
            "config.json has [1, 2] for long_factor; it needs a list of 3 numbers above 0.",
        ),
        ({"rope_parameters": {"rope_type": "longrope"}}, "config.json has no short_factor; it needs a list of 3"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 0}}, "config.json has 0 for factor"),
        ({"rope_parameters": 3}, "config.json has 3 for rope_parameters; it needs settings of its own."),
        (
            {"rope_parameters": {"rope_type": "llama3", "low_freq_factor": 4, "high_freq_factor": 1}},
            "config.json has low_freq_factor 4.0; it needs less than high_freq_factor, 1.0.",
        ),
    ],
)
def test_settings_of_decoders_out_of_bounds(copied: Callable[[str], Path], changes: dict[str, Any], told: str) -> None:
    folder = copied("llama")
    change_config(folder, **changes)
    assert told in sentence(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite(copied: Callable[[str], Path], value: float) -> None:
    folder = copied("bert")
    name = "bert.encoder.layer.1.attention.self.key.weight"

    def spoil(tensors: dict[str, torch.Tensor]) -> None:
        tensors[name][2, 3] = value

    change_tensors(folder, spoil)
    assert sentence(folder) == f"{name}[2, 3] is {value}; every weight needs to be a finite number."


def test_a_damaged_file_of_weights(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    assert sentence(folder).startswith("model.safetensors is damaged")


def test_a_file_with_code_is_not_run(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("bert")
    (folder / "model.safetensors").unlink()

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "harmed"),)

    torch.save({"a": Evil()}, folder / "pytorch_model.bin")
    assert "contains a whole module or other code, which is never run" in sentence(folder)
    assert not (tmp_path / "harmed").exists()


def test_an_unknown_family_is_named_with_what_can_be_done(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    change_config(folder, model_type="mamba")
    told = sentence(folder)
    assert told.startswith("broken is of the family mamba; attnlab runs bert, roberta")
    assert "attnlab.capture(model, **inputs)" in told


def test_a_model_larger_than_the_memory_is_refused_before_it_is_read(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make("bert")[1]
    monkeypatch.setattr(folder_module, "available_bytes", lambda: 1 << 10)
    assert "of memory are free; open a smaller model, or close other programs." in sentence(folder)


def test_a_file_larger_than_the_memory_is_not_called_damaged(
    copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied("bert")
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(1 << 36)  # a hole, which takes no room on the disk
    monkeypatch.setattr(folder_module, "available_bytes", lambda: 1 << 34)
    assert "takes 64.0 GiB, and 16.0 GiB of memory are free; open a smaller model" in sentence(folder)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text(make: Make, text: str) -> None:
    assert sentence(make("bert")[1], text) == "The text is empty; write at least one word."


def test_a_text_longer_than_the_positions(make: Make) -> None:
    folder = make("bert")[1]
    assert sentence(folder, text_of(20_000)) == (
        f"The text has 20,002 tokens, but {folder.name} has 310 positions; shorten it."
    )


def test_positions_of_roberta_begin_later(make: Make) -> None:
    folder = make("roberta")[1]
    assert "has 309 positions" in sentence(folder, text_of(310))
    assert read_model(folder).run(text_of(307)).hidden(1).shape == (309, 24)


def test_a_tokenizer_of_another_model(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["zebra"] = 77
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert sentence(folder, "the zebra").startswith("The tokenizer of broken gives token 77, but the model has only 14")


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda run: run.attention(3), "layer is 3; it needs a whole number from 0 to 2."),
        (lambda run: run.hidden(4), "layer is 4; it needs a whole number from 0 to 3."),
        (lambda run: run.attention(0, "cross"), "part is 'cross'; the parts of this model are encoder."),
        (lambda run: run.predictions(9), "position is 9; it needs a whole number from -5 to 4."),
        (lambda run: run.attention("first"), "layer is 'first'; it needs a whole number from 0 to 2."),
        (lambda run: run.attention(1.5), "layer is 1.5; it needs a whole number from 0 to 2."),
        (lambda run: run.predictions(k=0), "k is 0; it needs a whole number from 1 to"),
        (lambda run: run.model.run("cat", target="mat"), "takes no target"),
        (lambda run: run.model.run(5), "run was given int; it needs a text."),
        (lambda run: run.model.run(), "run"),
    ],
)
def test_what_a_run_does_not_have(make: Make, ask: Callable[[Any], Any], told: str) -> None:
    run = read_model(make("bert")[1]).run("the cat sat")
    with pytest.raises(ArgumentError) as raised:
        ask(run)
    assert told in str(raised.value)


def test_a_model_without_output_layer_predicts_nothing(make: Make) -> None:
    folder = make("bert-alone")[1]
    with pytest.raises(ArgumentError, match="predicts no tokens: its folder has no output layer"):
        read_model(folder).run("the cat").predictions()


def test_without_the_tokenizers_library_the_sentence_says_what_to_install(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(FileError, match=r'pip install "attnlab\[models\]"'):
        read_model(make("bert")[1]).run("the cat")


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.float8_e4m3fn])
def test_quantised_weights_are_refused_rather_than_computed_without_their_scales(
    copied: Callable[[str], Path], dtype: torch.dtype
) -> None:
    folder = copied("llama")
    name = "model.layers.0.self_attn.q_proj.weight"
    change_tensors(folder, lambda tensors: tensors.update({name: tensors[name].to(dtype)}))
    told = sentence(folder)
    assert told.startswith(f"{name} of broken is stored as {str(dtype).removeprefix('torch.')}: a quantised model")


@pytest.mark.parametrize(("config", "named"), [({"quant_method": "fp8"}, "fp8"), ({}, "None"), ("gptq", "gptq")])
def test_a_config_that_says_quantised_is_refused(copied: Callable[[str], Path], config: object, named: str) -> None:
    folder = copied("llama")
    change_config(folder, quantization_config=config)
    assert sentence(folder).startswith(f"broken is quantised ({named}), which attnlab cannot compute; open the model")


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_parameters": {"rope_theta": 10**400}},
        {"rms_norm_eps": 10**400},
        {"rope_parameters": {"rope_theta": 1e-300}},
        {"rope_parameters": {"rope_type": "linear", "factor": 1e-320}},
        {"rope_parameters": {"rope_type": "dynamic", "factor": 1e300}},
        {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1, "factor": 2}},
        {"rope_parameters": {"rope_type": "yarn", "beta_fast": 1e308, "factor": 2}},
        {"rope_parameters": {"rope_type": "yarn", "beta_fast": 1e-308, "factor": 2}},
    ],
)
def test_numbers_that_overflow_are_refused(copied: Callable[[str], Path], changes: dict[str, Any]) -> None:
    folder = copied("llama")
    change_config(folder, **changes)
    told = sentence(folder)
    assert "above 0" in told or "numbers for RoPE that give no finite frequencies" in told


def test_dynamic_scaling_of_a_single_pair_of_columns_is_refused() -> None:
    """The base is raised to d_k / (d_k − 2)."""
    settings = Settings({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}})
    with pytest.raises(FileError, match="numbers for RoPE that give no finite frequencies"):
        read_rotation(settings, 2)


def test_a_long_name_of_an_activation_is_shortened(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    change_config(folder, hidden_act="x" * 10_000)
    assert len(sentence(folder)) < 300


@pytest.mark.parametrize("name", ["a" * 5000, "/tmp/" + "a" * 300])
def test_a_path_longer_than_the_system_allows(name: str) -> None:
    with pytest.raises(FileError, match="There is no folder"):
        read_model(name)


def test_a_part_with_a_name_longer_than_the_system_allows(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "a" * 5000}}))
    assert "lacks aaaa" in sentence(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": False}},
    ],
)
def test_a_tokenizer_on_which_the_library_panics(copied: Callable[[str], Path], changes: dict[str, Any]) -> None:
    folder = copied("bert")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | changes))
    assert sentence(folder).startswith("The tokenizer of broken cannot be read: ")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"model": {"type": "WordLevel", "vocab": {"the": 0}, "unk_token": "[NOPE]"}}, "zebra"),
        ({"model": {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": None, "byte_fallback": False}}, "zebra"),
        (
            {
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": r"(?:(a+)+)+\1$"},
                    "behavior": "Isolated",
                    "invert": False,
                }
            },
            "a" * 60 + "!",
        ),
    ],
)
def test_a_tokenizer_that_cannot_cut_a_text(copied: Callable[[str], Path], changes: dict[str, Any], text: str) -> None:
    folder = copied("llama")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | changes))
    assert sentence(folder, text).startswith("The model’s tokenizer cannot cut this text: ")


def test_half_a_character_is_refused(make: Make) -> None:
    assert (
        sentence(make("bert")[1], "a \ud83d")
        == "The text has half a character at place 2 (a lone surrogate); remove it."
    )


def test_a_text_whose_attention_does_not_fit_into_memory(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make("bert")[1]
    model = read_model(folder)
    monkeypatch.setattr(model_module, "available_bytes", lambda: 1 << 20)
    with pytest.raises(ArgumentError, match=r"The text has 302 tokens, whose attention takes 8 MiB for one layer of"):
        model.run(text_of(300))
    assert model.run(text_of(10)).attention(0).shape == (4, 12, 12)


def test_an_empty_tensor_of_a_forged_size(copied: Callable[[str], Path]) -> None:
    folder = copied("bert")
    data = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    forged = {"forged": {"dtype": "F32", "shape": [0, 2**63], "data_offsets": [0, 0]}} | json.loads(
        data[8 : 8 + length]
    )
    header = json.dumps(forged).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
    assert read_model(folder).n_parameters > 0


@pytest.mark.parametrize("part", ["normalizers", "decoders"])
def test_a_tokenizer_that_makes_texts_huge_is_refused_before_it_does(copied: Callable[[str], Path], part: str) -> None:
    folder = copied("bert")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    double = {"type": "Replace", "pattern": {"String": "t"}, "content": "tt"}
    nested = {"type": "Sequence", part: [{"type": "Sequence", part: [double] * 8}] * 8}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | {part.removesuffix("s"): nested}))
    assert sentence(folder).startswith("The tokenizer of broken makes texts more than 1,000 times longer")
