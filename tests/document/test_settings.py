"""Settings survive crashes; an invalid entry is dropped alone, reported once, and kept in a copy."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attnlab.base.errors import FileError
from attnlab.document.settings import (
    RECENT_LIMIT,
    VERSION,
    Settings,
    load_settings,
    save_settings,
    settings_path,
)


def test_settings_survive_saving_and_loading(config_dir: Path) -> None:
    chosen = Settings(theme="dark", type_size=140, reduced_motion=True, recent=("/a/ünï.attn", "b"))
    save_settings(chosen)
    assert load_settings() == (chosen, ())
    assert sorted(p.name for p in config_dir.iterdir()) == ["settings.json"]  # no temporary file is left


def test_the_first_start_has_the_defaults_and_no_message() -> None:
    assert load_settings() == (Settings(), ())


def test_an_invalid_key_is_dropped_alone_and_the_old_file_is_kept() -> None:
    path = settings_path()
    before = json.dumps({"version": 1, "theme": "mauve", "type_size": 120, "recent": ["x"]})
    path.write_text(before)
    settings, wrong = load_settings()
    assert settings == Settings(type_size=120, recent=("x",))
    assert 'theme must be one of system, light, dark, contrast-light and contrast-dark, not "mauve"' in wrong[0]
    assert str(path) in wrong[0]
    assert str(path) + ".bak" in wrong[-1]
    assert path.with_name("settings.json.bak").read_text() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("type_size", 69),
        ("type_size", 251),
        ("type_size", True),
        ("type_size", "100"),
        ("type_size", 100.5),
        ("reduced_motion", 1),
        ("reduced_motion", "true"),
        ("theme", ["dark"]),
        ("theme", None),
        ("recent", "a"),
        ("recent", [1]),
        ("recent", ["a"] * (RECENT_LIMIT + 1)),
        ("colour", "red"),
    ],
)
def test_an_invalid_value_affects_no_other_setting(key: str, value: Any) -> None:
    settings_path().write_text(json.dumps({"version": 1, "theme": "light", key: value}))
    settings, wrong = load_settings()
    assert len(wrong) == 2
    assert key in wrong[0]
    assert settings == (Settings() if key == "theme" else Settings(theme="light"))


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_file_without_settings_gives_the_defaults(text: bytes) -> None:
    settings_path().write_bytes(text)
    settings, wrong = load_settings()
    assert settings == Settings()
    assert len(wrong) == 2
    assert settings_path().with_name("settings.json.bak").read_bytes() == text


@given(
    st.binary(max_size=60) | st.dictionaries(st.text(max_size=9), st.integers()).map(lambda d: json.dumps(d).encode())
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_settings_file_can_be_loaded(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text)
    assert isinstance(load_settings(path)[0], Settings)


def test_an_older_file_is_migrated_step_by_step() -> None:
    settings_path().write_text(json.dumps({"version": VERSION - 2, "dark": True, "type_size": 1.2}))
    migrations = {
        VERSION - 2: lambda old: {**old, "type_size": int(old["type_size"] * 100)},
        VERSION - 1: lambda old: {"type_size": old["type_size"], "theme": "dark" if old["dark"] else "light"},
    }
    assert load_settings(migrations=migrations) == (Settings(theme="dark", type_size=120), ())


def test_known_settings_of_a_newer_file_are_used() -> None:
    settings_path().write_text(json.dumps({"version": VERSION + 1, "theme": "dark"}))
    settings, wrong = load_settings()
    assert settings == Settings(theme="dark")
    assert "newer attnlab" in wrong[0]


def test_a_failed_save_keeps_the_old_file_and_gives_the_reason(
    config_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_settings(Settings(theme="dark"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(FileError, match=r"settings\.json cannot be written: No space left on device"):
            save_settings(Settings(theme="light"))
    assert load_settings()[0].theme == "dark"
    assert [p.name for p in config_dir.iterdir()] == ["settings.json"]


def test_a_file_in_place_of_the_folder_is_reported_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(FileError, match="cannot be saved to"):
        save_settings(Settings(), tmp_path / "taken" / "settings.json")


def test_the_newest_file_comes_first_in_the_recent_files() -> None:
    settings = Settings(recent=tuple(str(i) for i in range(RECENT_LIMIT)))
    assert settings.with_recent("new").recent[:2] == ("new", "0")
    assert len(settings.with_recent("new").recent) == RECENT_LIMIT
    assert settings.with_recent("3").recent.count("3") == 1


@pytest.mark.parametrize(
    ("platform", "variable", "tail"),
    [
        ("win32", "APPDATA", "attnlab/settings.json"),
        ("linux", "XDG_CONFIG_HOME", "attnlab/settings.json"),
        ("darwin", "HOME", "Library/Application Support/attnlab/settings.json"),
    ],
)
def test_each_platform_has_its_own_folder(
    platform: str, variable: str, tail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATTNLAB_CONFIG_DIR")
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert settings_path() == tmp_path / tail


@pytest.mark.parametrize("cut", ["os.fsync", "os.replace"])
def test_an_interrupted_save_leaves_no_partial_file(cut: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    save_settings(Settings(theme="dark"), path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cut, interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_settings(Settings(theme="light"), path)
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    assert load_settings(path)[0].theme == "dark"


@pytest.mark.parametrize("path", ["/a/\ud800.attnlab", "/b/\udcff.attnlab", "C:\\\\ud800"])
def test_a_file_name_that_is_not_valid_unicode_is_kept_in_the_recent_files(path: str, config_dir: Path) -> None:
    chosen = Settings().with_recent(path)  # the second is how Python spells a file name that is not UTF-8
    save_settings(chosen)
    assert load_settings() == (chosen, ())
    assert "�" not in (config_dir / "settings.json").read_text("utf-8")


def test_an_invalid_value_is_printed_without_control_characters() -> None:
    settings_path().write_text(json.dumps({"version": 1, "theme": "\u202e\x9b31m\ud800"}))
    wrong = load_settings()[1]
    assert r'not "\u202e\x9b31m\ud800"' in wrong[0]
    assert all(sentence.isprintable() for sentence in wrong)


def test_saving_retries_while_the_settings_file_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, replace, attempts = tmp_path / "settings.json", os.replace, []

    def busy(old: str, new: str) -> None:
        attempts.append(new)
        if len(attempts) < 3:
            error = PermissionError(13, "The process cannot access the file")
            error.winerror = 32  # type: ignore[attr-defined]
            raise error
        replace(old, new)

    monkeypatch.setattr(os, "replace", busy)
    save_settings(Settings(theme="dark"), path)
    assert load_settings(path)[0].theme == "dark"
    assert len(attempts) == 3
