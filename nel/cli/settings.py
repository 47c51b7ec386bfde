"""Options of a command that set keys of the configuration, as the schema declares their flags.

The schema is imported when the command is used, so that `nel --help` does not wait for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer

from nel.cli.completion import KINDS, names_of

if TYPE_CHECKING:
    from nel.config.settings import Assignment, Setting

FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=VALUE",
        help=(
            "The least value of a metric of one run, held by its whole interval;"
            " BENCHMARK:METRIC=VALUE; repeatable."
        ),
    ),
]
JUDGE_FLAGS = ("--judge-url", "--judge-id", "--judge-api-key-env")
"""The flags that name judges; together they replace the panel."""
MODEL_FLAGS = ("--model-url", "--model-id", "--api-key-env")
"""The flags that name the endpoint under evaluation."""
_COMMON: Final = (
    *("--bench", "--model-url", "--model-id", "--api-key-env", "--sample", "--max-problems"),
    *("--max-tokens", "--concurrency", "--output-dir", "--dry-run"),
)
"""The flags under "Most used" in the help of a command that has all flags."""
_HEADINGS: Final = {
    "What is asked, and how it is scored": ("benchmarks", "generation"),
    "Where": ("endpoint",),
    "How fast": (
        *("engine", "sandbox", "limiter", "cache", "endpoint.total_timeout_seconds"),
        *("endpoint.requests_per_minute", "endpoint.tokens_per_minute"),
    ),
    "Limits": ("budget", "stop", "shard"),
    "Judge": ("judge",),
    "Output": ("output", "observability"),
}
"""Sections of the configuration by heading of the help; the longest prefix of a key decides."""
_METAVARS: Final = {str: "TEXT", int: "N", float: "NUMBER"}
_META_KEY = "nel.settings"
_OVERRIDE = "override"
_OVERRIDE_HELP = "Any key of the configuration; wins over all; repeatable."


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The part of the configuration that a command's options set."""

    settings: Sequence[Assignment]
    overrides: Sequence[str]
    """Of ``-O``; they win over ``settings``."""


def chosen_settings(ctx: typer.Context) -> ChosenSettings:
    """Return the settings of a command whose class is a `SettingsCommand`."""
    choice = ctx.meta[_META_KEY]
    assert isinstance(choice, ChosenSettings)  # noqa: S101 - this module wrote it
    return choice


class SettingsCommand(typer.core.TyperCommand):
    """A command with options for settings and ``-O``, which `chosen_settings` returns."""

    flags: ClassVar[Sequence[str]] = ()
    """Names of the flags it takes; empty: all."""
    _settings: dict[str, Setting] | None = None
    """By parameter name; None until the schema is read."""

    def get_params(self, ctx: Any) -> Any:
        """Return the function's parameters, with the options of settings after its arguments."""
        if self._settings is None:
            from nel.config.settings import settings  # noqa: PLC0415 - keeps `nel --help` fast

            self._settings = {
                setting.flag.name.lstrip("-").replace("-", "_"): setting
                for setting in settings()
                if not self.flags or setting.flag.name in self.flags
            }
            # Typer puts the arguments of a function first; the options of settings follow them.
            n_arguments = sum(param.param_type_name == "argument" for param in self.params)
            self.params[n_arguments:n_arguments] = _options(self._settings)
        return super().get_params(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options under the headings of `_HEADINGS`, those in `_COMMON` first."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                rows.setdefault(self._heading(param), []).append(record)
        for heading in ("Arguments", "Most used", *_HEADINGS, "This command"):
            if heading in rows:
                with formatter.section(heading):
                    formatter.write_dl(rows[heading])

    def _heading(self, param: Any) -> str:
        if param.param_type_name == "argument":
            return "Arguments"
        if not self.flags and any(name in _COMMON for name in param.opts):
            return "Most used"
        setting = (self._settings or {}).get(param.name)
        path = "" if setting is None else ".".join(key for key in setting.path if key != "*")
        # With a dot after each, so that `stop` is not the beginning of `stopping.…`.
        headings = {
            section: heading
            for heading, sections in _HEADINGS.items()
            for section in sections
            if f"{path}.".startswith(f"{section}.")
        }
        return headings[max(headings, key=len)] if headings else "This command"

    def invoke(self, ctx: Any) -> Any:
        """Move the options of settings into the context, and call the function with the others."""
        from nel.config.settings import flag_assignments  # noqa: PLC0415 - keeps `nel --help` fast

        values = {
            setting.flag.name: _plain(ctx.params.pop(name))
            for name, setting in (self._settings or {}).items()
        }
        overrides = ctx.params.pop(_OVERRIDE)
        ctx.meta[_META_KEY] = ChosenSettings(flag_assignments(values), list(overrides or ()))
        return super().invoke(ctx)


def taking_settings(*flags: str) -> type[SettingsCommand]:
    """Return the class of a command that takes these flags, or all of them where none is named."""
    return type("SettingsCommand", (SettingsCommand,), {"flags": flags})


def _options(settings: Mapping[str, Setting]) -> list[Any]:
    """Return the options of settings.

    Typer makes options of a function's signature alone, so a function gets one made up for it.
    """
    annotations = {name: _annotation(setting) for name, setting in settings.items()}
    annotations[_OVERRIDE] = Annotated[
        list[str] | None, typer.Option("-O", help=_OVERRIDE_HELP, metavar="KEY=VALUE")
    ]

    def command(**_: object) -> None:
        pass

    parameters = []
    for name, annotation in annotations.items():
        is_switch = name in settings and settings[name].kind is bool
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=False if is_switch else None,
            )
        )
    command.__annotations__ = annotations
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # inspect reads it
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return typer.main.get_command(app).params


def _annotation(setting: Setting) -> object:
    flag, kind = setting.flag, setting.kind
    plugins = KINDS.get(flag.name)
    option = typer.Option(
        *filter(None, (flag.name, flag.short)),
        help=flag.help,
        autocompletion=names_of(plugins) if plugins else None,
        metavar=_METAVARS.get(kind),
    )
    if kind is bool:
        return Annotated[bool, option]
    value = list[kind] if setting.is_list else kind  # type: ignore[valid-type] # a type made at run time
    return Annotated[value | None, option]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
