"""Finds the observers that a configuration names: plugins of the group ``nel.observers``."""

from __future__ import annotations

from pathlib import Path

from nel import plugins
from nel.authoring.scorer_names import options_of
from nel.core.observer import Observer
from nel.errors import ConfigError


def find_observer(text: str, run_dir: Path) -> Observer:
    """Return the observer that a text names, for one session of a run.

    Args:
        text: ``NAME`` or ``NAME:key=value,key=value``.
        run_dir: The directory of the run; the observer may write files of its own there.

    Raises:
        PluginError: No observer has this name, or it cannot be imported.
        ConfigError: An option is wrong, or what the plugin makes is not a `nel.Observer`.
        NelError: What the plugin raises.
    """
    name, option_text = plugins.split_options(text)
    ref = plugins.find("observers", name)
    observer = plugins.make(ref, run_dir, **options_of(name, option_text))
    if not isinstance(observer, Observer):
        raise ConfigError(
            f'the observer "{name}" of {ref.provider} is a {type(observer).__name__}, not a'
            " nel.Observer"
        )
    return observer
