"""The configuration of a run as a command gets it: a file, and what the command line lays over it.

What is missing is asked for here in words of the command line, before the schema is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nel.authoring.registry import DATA_SUFFIXES, rows_problem
from nel.cli.settings import ChosenSettings
from nel.config.layers import Layers
from nel.config.openai_environment import BASE_URL, base_url
from nel.config.schema import EndpointConfig, RunConfig
from nel.config.user_settings import from_environment, from_user_file
from nel.config.yaml_file import read_yaml
from nel.errors import ConfigError


def config_of(path: Path | None, chosen: ChosenSettings) -> RunConfig:
    """Return the configuration that a file and the options laid over it describe.

    Raises:
        ConfigError: A needed flag is missing, or a key is unknown or wrong.
    """
    return layers_of(path, chosen).build()


def layers_of(path: Path | None, chosen: ChosenSettings) -> Layers:
    """Return the configuration of `config_of` with the source of each value, not yet validated.

    Raises:
        ConfigError: A needed flag is missing, or the user's settings cannot be read.
    """
    # JSON may hold rows or a configuration, which is an object.
    if path is not None and path.suffix.lower() in DATA_SUFFIXES and not _is_object(path):
        raise ConfigError(rows_problem(str(path)))
    layers = Layers(read_yaml(path), str(path)) if path else Layers({}, "command line")
    for setting in chosen.settings:
        layers.lay(setting)
    for override in chosen.overrides:
        layers.override(override)
    layers.lay_user_settings(from_environment(), from_user_file(), over_first=True)
    if _has_unknown_keys(layers.data):
        return layers  # building it names the key: what seems to be missing may be misspelled
    if not layers.data.get("benchmarks"):
        raise ConfigError(
            "no benchmark is named; give --bench NAME or a configuration file (nel list shows what"
            " there is)"
        )
    endpoint = layers.data.get("endpoint")
    if layers.data.get("endpoints") or not isinstance(endpoint, dict):
        return layers
    url, model = endpoint.get("url"), endpoint.get("model")
    # OpenAI's own variable names the endpoint of a model; a judge alone needs none.
    is_needed = "model" in endpoint or not layers.data.get("judge")
    if is_needed and not (url or (model and base_url())):
        raise ConfigError(
            "no endpoint is named; give --model-url, for example http://127.0.0.1:8000/v1, or set"
            f" NEL_MODEL_URL or {BASE_URL} (nel docs settings)"
        )
    if url and not model:
        raise ConfigError(
            "no model is named; give --model-id, the model's name at the endpoint, or set"
            " NEL_MODEL_ID"
        )
    return layers


def _has_unknown_keys(data: Mapping[str, object]) -> bool:
    if data.keys() - RunConfig.model_fields.keys():
        return True
    endpoint = data.get("endpoint")
    return isinstance(endpoint, dict) and bool(endpoint.keys() - EndpointConfig.model_fields.keys())


def _is_object(path: Path) -> bool:
    if path.suffix.lower() != ".json":
        return False
    try:
        return path.read_text(encoding="utf-8").lstrip().startswith("{")
    except (OSError, UnicodeDecodeError):
        return False
