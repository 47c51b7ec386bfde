"""The metrics and reducers a user names: ``ci:level=0.9``, ``pass_at_3``, ``mean_and_vote_at_k``.

A reducer that needs k answers of a sample is refused when the run asks for fewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from nel import plugins
from nel.authoring.scorer_names import options_of
from nel.errors import ConfigError, PluginError
from nel.metrics import Metric, NamedReducer, k_of
from nel.metrics.requested import RequestedStatistics
from nel.scoring.declarations import metrics_of

_EVERY_K: Final = {"pass_at_k": "pass_at", "vote_at_k": "vote_at", "pass_hat_k": "pass_k"}
"""EvalScope's aggregations, which are computed for each k up to the repeats."""


def choose_statistics(
    scorer: object,
    *,
    metrics: Sequence[str],
    reducers: Sequence[str],
    repeats: int,
    installed_only: bool = False,
) -> RequestedStatistics:
    """Return what a benchmark's scorer declares and what the user names beside it.

    Args:
        scorer: Its declared metrics come first; None for no scorer.
        installed_only: Note the names that are not installed instead of raising.

    Raises:
        PluginError: No metric or reducer has a name, or it cannot be imported.
        ConfigError: An option is wrong, or a reducer needs more repeats.
    """
    scorer_metrics = metrics_of(scorer) if scorer is not None else ()
    pairs: list[tuple[str, Metric]] = []
    for key, key_metrics in _by_key(scorer_metrics):
        pairs += [(key, metric) for metric in key_metrics]
    specs = [""] * len(pairs)
    missing_names = []
    for text in dict.fromkeys(metrics):
        try:
            pairs.append(("", find_metric(text)))
            specs.append(text)
        except PluginError:
            if not installed_only:
                raise
            missing_names.append(text)
    found_reducers: list[NamedReducer] = []
    for text in (name for reducer in reducers for name in _expand(reducer, repeats)):
        try:
            found_reducers.append(find_reducer(text, repeats=repeats))
        except PluginError:
            if not installed_only:
                raise
            missing_names.append(text)
    return RequestedStatistics(
        reducers=tuple(found_reducers),
        metrics=tuple(pairs),
        specs=tuple(specs),
        missing_names=tuple(missing_names),
    )


def find_metric(text: str) -> Metric:
    """Return the installed metric that ``NAME`` or ``NAME:key=value`` names, with its options.

    Raises:
        PluginError: No metric has this name, or it cannot be imported.
        ConfigError: An option is wrong.
    """
    name, option_text = plugins.split_options(text)
    options = options_of(name, option_text)
    if isinstance(options.get("metric"), str):
        options["metric"] = find_metric(options["metric"])
    metric: Metric = _build("metric", name, plugins.load("metrics", name), options)
    return metric


def find_reducer(text: str, *, repeats: int) -> NamedReducer:
    """Return the installed reducer of a text: ``max``, ``pass_at_3``, ``at_least_2:value=0.5``.

    Raises:
        PluginError: No reducer has this name, or it cannot be imported.
        ConfigError: An option is wrong, or it needs more repeats than the run has.
    """
    name, option_text = plugins.split_options(text)
    options = options_of(name, option_text)
    plugin_name = name
    # `pass_at_3` is `pass_at` with k=3, unless a plugin has that very name.
    if not plugins.matching("reducers", name):
        match = re.fullmatch(r"(.+)_([1-9]\d*)", name)
        if match:
            plugin_name = match[1]
            own_name = _EVERY_K.get(f"{plugin_name}_k", plugin_name)
            if own_name != plugin_name:
                raise ConfigError(f"the reducer {name} is called {own_name}_{match[2]} here")
            options = {"k": int(match[2]), **options}
    built = _build("reducer", name, plugins.load("reducers", plugin_name), options)
    k = k_of(built)
    if k is not None and k > repeats:
        raise ConfigError(
            f"the reducer {text} needs {k} answers a sample and the run asks for {repeats}; use"
            f" --repeats {k}"
        )
    return NamedReducer(built, name=text, params=getattr(built, "params", {}))


def _expand(text: str, repeats: int) -> list[str]:
    # A mean is computed in any case, so that `mean_and_pass_at_k` asks for the second part alone.
    family = text.removeprefix("mean_and_")
    if family in _EVERY_K:
        return [f"{_EVERY_K[family]}_{k}" for k in range(1, repeats + 1)]
    return [text]


def _by_key(metrics: Any) -> list[tuple[str, Sequence[Metric]]]:
    """Return a scorer's metrics as ``(key, metrics)``, from a list, a dict of lists, or a mix.

    Raises:
        ConfigError: What is declared is not a list of metrics.
    """
    if isinstance(metrics, Mapping):
        return [(str(key), _metric_list(named, f' of "{key}"')) for key, named in metrics.items()]
    pairs: list[tuple[str, Sequence[Metric]]] = []
    for entry in _as_list(metrics or (), ""):
        if isinstance(entry, Mapping):
            pairs += _by_key(entry)
        else:
            pairs.append(("", _metric_list([entry], "")))
    return pairs


def _metric_list(metrics: Any, where: str) -> list[Metric]:
    listed = _as_list(metrics, where)
    for metric in listed:
        if not callable(metric):
            raise ConfigError(
                f"the scorer's metrics{where} hold {metric!r:.40}, which is not a metric; write e.g."
                " mean()"
            )
    return listed


def _as_list(metrics: Any, where: str) -> list[Any]:
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise ConfigError(
            f"the scorer's metrics{where} are {metrics!r:.40}, not a list; write e.g. [mean(),"
            " stderr()]"
        )
    return list(metrics)


def _build(kind: str, name: str, factory: Any, options: Mapping[str, Any]) -> Any:
    try:
        built = factory(**options)
    except (Exception, SystemExit) as error:
        what = str(error)
        if not isinstance(error, (TypeError, ValueError)):  # these speak of the options themselves
            what = f"{type(error).__name__}: {what}"
        raise ConfigError(f'the {kind} "{name}" cannot be built: {what}') from error
    if not callable(built):
        raise ConfigError(
            f'the {kind} "{name}" is a factory that returns a {type(built).__name__}, not a'
            " function"
        )
    return built
