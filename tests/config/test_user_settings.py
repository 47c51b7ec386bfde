"""What a user sets once: which source wins, where a key goes, and how a mistake is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.cli.run_layers import layers_of
from nel.cli.settings import ChosenSettings
from nel.config.load import call_config
from nel.config.settings import flag_assignments
from nel.config.user_settings import FILE_VARIABLE, output_directory, variables
from nel.errors import ConfigError

URL, OTHER = "http://127.0.0.1:8000/v1", "http://127.0.0.1:9000/v1"
FLAGS = {"--model-url": OTHER, "--concurrency": 5, "--bench": ["x"], "--model-id": "of-flag"}
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the user's file, which a test writes."""
    path = tmp_path / "user.yaml"
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    path.write_text("engine: {concurrency: 2, drain_seconds: 7}\n")
    return path


def sources(path: Path | None, flags: dict[str, Any]) -> dict[str, tuple[object, str]]:
    """Return value and source of each key, of a configuration that is valid."""
    layers = layers_of(path, ChosenSettings(flag_assignments(flags), ()))
    layers.build()
    return {row.key: (row.value, row.source) for row in layers.values()}


def test_the_nearest_source_wins(tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flag, variable, file of the run, file of the user, default; each value has the name of what set it."""
    run = tmp_path / "run.yaml"
    run.write_text(f"benchmarks: [x]\nendpoint: {{url: '{URL}', model: of-run}}\n")
    assert sources(run, {})["engine.concurrency"] == (2, str(user_file))
    run.write_text(run.read_text() + "engine: {concurrency: 3}\n")
    assert sources(run, {})["engine.concurrency"] == (3, str(run))
    monkeypatch.setenv("NEL_CONCURRENCY", "4")
    assert sources(run, {})["engine.concurrency"] == ("4", "NEL_CONCURRENCY")
    last = sources(run, {"--concurrency": 5})
    assert last["engine.concurrency"] == (5, "--concurrency")
    assert last["engine.drain_seconds"] == (7, str(user_file))
    assert last["output.dir"] == ("eval_results", "default")
    called = call_config(
        {"benchmarks": ["x"], "endpoint": {"url": URL, "model": "m"}, "engine": {"concurrency": 6}}, where=""
    )
    assert (called.engine.concurrency, called.engine.drain_seconds) == (6, 7)


@pytest.mark.parametrize(
    ("user", "flags", "key"),
    [
        (f"endpoint: {{url: '{URL}', model: m, api_key_env: K}}", {"--bench": ["x"]}, "K"),
        (f"endpoint: {{url: '{URL}', model: m, api_key_env: K}}", FLAGS, None),
        (f"endpoint: {{url: '{OTHER}', api_key_env: K}}", FLAGS, "K"),
        ("endpoint: {api_key_env: K}", FLAGS, "K"),
    ],
)
def test_a_key_goes_to_the_url_beside_it(user: str, flags: dict[str, Any], key: str | None, user_file: Path) -> None:
    """Another URL does not get it; one that is named without a URL goes to the run's."""
    user_file.write_text(user)
    assert sources(None, flags)["endpoint.api_key_env"][0] == key


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        ("engine: {concurency: 3}", {}, '{user}: engine: unknown key "concurency"; did you mean "concurrency"?'),
        ("engin: {concurrency: 3}", {}, '{user}: unknown key "engin"; did you mean "engine"?'),
        ("engine: {concurrency: 0}", {}, "{user}: engine.concurrency: the value is too small: at least 1"),
        ("benchmarks: [x]", {}, "{user}: benchmarks is of a single run, and this file holds for all; put it into"),
        ("engine: [", {}, "{user} is not valid YAML"),
        (None, {}, "cannot read the configuration {user}: No such file or directory (NEL_CONFIG names it; correct"),
        ("cache: {}", {"NEL_CONCURRENCY": "many"}, "NEL_CONCURRENCY: engine.concurrency: the value is not a whole number"),
        ("cache: {}", {"NEL_API_KEY_ENV": "sk-1"}, "NEL_API_KEY_ENV: endpoint.api_key_env: api_key_env is not the name of"),
        ("cache: {}", {"NEL_MODEL": "m"}, "the environment variable NEL_MODEL sets nothing; did you mean NEL_MODEL_ID?"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(
    text: str | None, environment: dict[str, str], message: str, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message begins with the file or the variable."""
    user_file.unlink() if text is None else user_file.write_text(text)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    flags = {name: value for name, value in FLAGS.items() if name != "--concurrency"}
    with pytest.raises(ConfigError) as error:
        sources(None, flags)
    assert str(error.value).startswith(message.format(user=user_file))


def test_the_directory_of_runs_is_that_of_the_user(user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `nel view` needs it; the variable wins over the file."""
    assert output_directory() == "eval_results"
    user_file.write_text("output: {dir: of-file}")
    assert output_directory() == "of-file"
    monkeypatch.setenv("NEL_OUTPUT_DIR", "of-variable")
    assert output_directory() == "of-variable"


def test_the_page_has_every_variable() -> None:
    """With its key and its flag."""
    page = PAGE.read_text(encoding="utf-8")
    assert len(variables()) == 5
    for name, entry in variables().items():
        assert f"| `{name}` | `{'.'.join(entry.path)}`" in page
        assert f"| `{entry.flag.name}` |" in page


def test_a_field_of_the_body_is_a_setting_of_its_own(user_file: Path) -> None:
    """A flag that sets one field of ``generation.extra`` leaves the others of the user's file."""
    user_file.write_text("generation: {extra: {top_k: 1, min_p: 0.1}}\n")
    layers = layers_of(None, ChosenSettings(flag_assignments(FLAGS), ("generation.extra.top_k=2",)))
    assert layers.build().generation.extra == {"top_k": 2, "min_p": 0.1}
