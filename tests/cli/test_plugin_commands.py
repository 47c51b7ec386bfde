"""Commands of plugins: what the list of commands says of one that cannot be called by its name, and whose help it is."""

from __future__ import annotations

import pytest
import typer
from click.testing import CliRunner

from nel import plugins
from nel.cli.app import app
from nel.cli.plugin_commands import _command_of
from nel.plugins import PluginRef


def test_a_command_that_nels_own_hides_is_listed_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called so too; else it would be installed and nowhere to be seen."""
    ref = PluginRef(kind="commands", name="report", target="none:app", distribution="acme", version="2.0")
    monkeypatch.setattr(plugins, "discover", lambda kind: [ref] if kind == "commands" else [])
    shown = " ".join(CliRunner().invoke(typer.main.get_command(app), ["--help"]).output.split())
    assert "acme:report From acme 2.0; nel has its own report." in shown


def test_a_typer_app_of_a_plugin_shows_its_own_help() -> None:
    """That of the app, also where it has one command, without the options of a program of its own."""
    own = typer.Typer(help="Counts what a run asked.")

    @own.command()
    def count(run: str) -> None:
        """Count."""

    shown = CliRunner().invoke(_command_of(own, "count"), ["--help"]).output
    assert "Counts what a run asked." in shown
    assert "completion" not in shown
