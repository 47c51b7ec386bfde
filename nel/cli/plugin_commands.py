"""Groups of commands whose modules are imported when a command is called: those that a group names,
and the entry points of the group ``nel.commands``.

``view`` is ``nel view``; an underscore puts a command below a group of nel: ``eval_submit`` is
``nel eval submit``. The object is a Typer app or a function. Help lists commands without
importing them: nel's own with the first sentence of their help, those of others with the name of
their package.
Depends on `nel.plugins`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

import typer

from nel import plugins
from nel.errors import PluginError
from nel.plugins import PluginRef

_BELOW: Final = "_"
_COMPLETION: Final = ("install_completion", "show_completion")
"""Options of a whole program, which a command of nel is not."""
_PACKAGE: Final = Path(__file__).parents[1]


class PluginGroup(typer.core.TyperGroup):
    """A group of commands to which plugins add."""

    modules: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Commands of nel beside those that the group was made with: ``module:object`` of each, where
    the object is a Typer app or a function."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of nel's own commands, then those of plugins that nel does not have."""
        built_in = self._built_in_names(ctx)
        return [*dict.fromkeys([*built_in, *_plugins_by_name(_prefix(ctx))])]

    def _built_in_names(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *self.modules]

    def _list_hidden(self, ctx: Any) -> list[tuple[str, str]]:
        """Return what the commands of plugins are called whose names are those of nel's own."""
        built_in = self._built_in_names(ctx)
        return [
            (f"{ref.distribution}:{name}", f"From {ref.provider}; nel has its own {name}.")
            for name, refs in _plugins_by_name(_prefix(ctx)).items()
            for ref in refs
            if name in built_in and not ref.is_built_in
        ]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, imported here.

        Raises:
            PluginError: It cannot be imported, several packages provide it, or it is not a Typer
                app or function.
        """
        built_in = self._built_in(ctx, cmd_name)
        if built_in is not None:
            return built_in
        # `nel eval PACKAGE:submit` is the entry point PACKAGE:eval_submit.
        package, _, name = cmd_name.rpartition(":")
        qualified = f"{package}:{_prefix(ctx)}{name}" if package else _prefix(ctx) + name
        return _load(qualified, name) if plugins.matching("commands", qualified) else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with a line each, without importing one of a plugin."""
        refs = _plugins_by_name(_prefix(ctx))
        rows = []
        for name in self.list_commands(ctx):
            if name in self.modules:
                rows.append((name, _sentence_about(self.modules[name])))
                continue
            command = super().get_command(ctx, name)
            if command is None:
                rows.append((name, _summary(refs[name])))
            elif not command.hidden:
                rows.append((name, command.get_short_help_str(limit=formatter.width)))
        rows += self._list_hidden(ctx)
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def _built_in(self, ctx: Any, name: str) -> Any:
        target = self.modules.get(name)
        return super().get_command(ctx, name) if target is None else _import(target, name)


def group_with(**modules: str) -> type[PluginGroup]:
    """Return the class of a group that has further commands of nel, see `PluginGroup.modules`."""
    return type("PluginGroup", (PluginGroup,), {"modules": modules})


def _prefix(ctx: Any) -> str:
    """Return the prefix of the names of plugins that are commands of a group."""
    # nel itself has no parent; groups stand one level below it, and none deeper.
    return "" if ctx.parent is None else f"{ctx.info_name}{_BELOW}"


def _plugins_by_name(prefix: str) -> dict[str, list[PluginRef]]:
    """Return the plugins of each command that begins with a prefix, by the rest of its name."""
    installed: dict[str, list[PluginRef]] = {}
    for ref in plugins.discover("commands"):
        name = ref.name.removeprefix(prefix)
        if ref.name.startswith(prefix) and _BELOW not in name:
            installed.setdefault(name, []).append(ref)
    return installed


@cache
def _import(target: str, name: str) -> Any:
    module, _, attribute = target.partition(":")
    return _command_of(getattr(import_module(module), attribute), name)


def _load(qualified: str, name: str) -> Any:
    ref = plugins.find("commands", qualified)
    command = plugins.load_ref(ref)
    if not callable(command):
        raise PluginError(
            f'the command "{ref.name}" ({ref.target}) of {ref.provider} is a'
            f" {type(command).__name__}; declare a Typer app or a function"
        )
    return _command_of(command, name)


def _command_of(command: Callable[..., object], name: str) -> Any:
    app = command
    if not isinstance(app, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(command)
    # An app with one command and no callback becomes that command, and no group of one.
    click_command = typer.main.get_command(app)
    click_command.name = name
    click_command.params = [
        param for param in click_command.params if param.name not in _COMPLETION
    ]
    if app is command and isinstance(app.info.help, str):
        click_command.help = app.info.help
    return click_command


def _summary(refs: Sequence[PluginRef]) -> str:
    built_in = next((ref for ref in refs if ref.is_built_in), None)
    if built_in is None:
        return f"From {' and '.join(ref.provider for ref in refs)}."
    return _sentence_about(built_in.target)


def _sentence_about(target: str) -> str:
    """Return the first sentence of a command's help, or else of its module's docstring.

    It is read from the source, since importing all commands for their help is slow.
    """
    module, _, name = target.partition(":")
    path = _PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    help_text = next(filter(None, (_help_in(node, name) for node in tree.body)), None)
    if help_text is None:
        # """`nel limiter`: shares limits among runs.""" begins with the command's name.
        docstring = ast.get_docstring(tree) or ""
        help_text = docstring.partition(": ")[2] or docstring
    paragraph = help_text.partition("\n\n")[0]
    sentence = " ".join(paragraph.split()).partition(". ")[0]
    return f"{sentence[:1].upper()}{sentence[1:].removesuffix('.')}."


def _help_in(node: ast.stmt, name: str) -> str | None:
    """Return the help of a statement that defines a command: a function, or a Typer app."""
    if isinstance(node, ast.FunctionDef) and node.name == name:
        return ast.get_docstring(node)
    if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != name:
        return None
    keywords = node.value.keywords if isinstance(node.value, ast.Call) else []
    texts = [keyword.value for keyword in keywords if keyword.arg == "help"]
    return str(ast.literal_eval(texts[0])) if texts else None
