"""Every command that README and docs/ show is one that there is, with options that it has."""

from __future__ import annotations

import re
import shlex
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import typer.main

from nel import plugins
from nel.apps.byob.script import main as _byob_script  # noqa: F401 - nel-byob is there
from nel.cli.app import app
from tests.documented.commands import ROOT, Shown, shown_commands

SHOWN = shown_commands()
OF_NEL = [one for one in SHOWN if one.text.startswith("nel ")]
NAMED = {"--to": "exporters", "--scorer": "scorers", "--reducer": "reducers", "--from": "importers"}
"""Options whose value is the name of a plugin, perhaps with arguments."""
ELSEWHERE = {("nel judge calibrate", "--from"), ("nel eval submit", "--to")}
"""Where such an option means something else."""
LEFT_OUT = ("...", "…")


@cache
def command_line() -> Any:
    return typer.main.get_command(app)


def words_of(one: Shown) -> list[str]:
    return [word for word in shlex.split(one.text.rstrip("& ")) if word not in LEFT_OUT]


def resolved(words: list[str]) -> tuple[Any, list[str], list[str]]:
    """Return a command, the words that name it, and the others."""
    command, place = command_line(), 1
    context = typer.Context(command, info_name="nel")
    while place < len(words) and hasattr(command, "list_commands"):
        below = command.get_command(context, words[place])
        if below is None:
            break
        context = typer.Context(below, info_name=words[place], parent=context)
        command, place = below, place + 1
    return command, words[:place], words[place:]


def options_of(command: Any, names: list[str]) -> set[str]:
    return _options(" ".join(names), command)


@cache
def _options(name: str, command: Any) -> set[str]:
    params = command.get_params(command.make_context(name.rpartition(" ")[2], [], resilient_parsing=True))
    return {option for param in params for option in (*param.opts, *param.secondary_opts)} | {"--help", "-h"}


@pytest.mark.parametrize("page", sorted({one.page for one in OF_NEL}))
def test_the_commands_of_a_page_and_their_options_are_there(page: str) -> None:
    for one in OF_NEL:
        if one.page == page:
            _check(one)


def _check(one: Shown) -> None:
    command, named, rest = resolved(words_of(one))
    assert not hasattr(command, "list_commands"), f"{one}: there is no such command"
    given = [word.partition("=")[0] for word in rest if re.match(r"--?[A-Za-z]", word)]
    assert [option for option in given if option not in options_of(command, named)] == [], str(one)
    for option, value in pairwise(rest):
        kind = NAMED.get(option)
        if kind is not None and (" ".join(named), option) not in ELSEWHERE:
            name = re.split(r"[:=]", value)[0]
            assert name in {ref.name for ref in plugins.discover(kind)}, f"{one}: no {kind[:-1]} {name}"


def test_make_targets_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    shown = [one for one in SHOWN if one.text.startswith("make ")]
    assert [str(one) for one in shown if one.text.split()[1] not in targets] == []
    assert len(OF_NEL) > 100  # the pages are read at all


def test_nothing_is_installed_from_an_index_under_the_name_of_nel() -> None:
    """Nel is on no index: such a command fails, or takes a stranger's package; extras are of the folder, `.[NAME]`."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("nel/**/*.py"), *ROOT.glob("plugins/**/*.md")]
    taken = re.compile(r"pip install[^\n)`]*?[\s'\"](?:nel|nel-eval)(?:\[|[<>=~]|['\"\s`]|$)")
    assert len(texts) > 100
    assert [path.relative_to(ROOT) for path in texts if taken.search(path.read_text(encoding="utf-8"))] == []
