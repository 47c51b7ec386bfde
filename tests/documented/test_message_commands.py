"""Each command of nel that a message, a help text or a docstring of nel names can be typed: it exists, with its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
import typer

from tests.documented.commands import ROOT
from tests.documented.test_command_lines import command_line, options_of, resolved

_COMMAND = re.compile(r"\bnel(?: [a-z][a-z-]+)+(?: (?:-{1,2}[a-z][a-z-]*|[A-Z][A-Z_]*(?:=[A-Z]+)?|▯))*")
"""Words of commands, then options, names in capitals, and values that a program puts in (▯)."""


def _texts() -> Iterator[tuple[str, str]]:
    """Yield each text in the code of nel that names it, with its place."""
    for path in sorted((ROOT / "nel").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "▯" for part in node.values]
                text = "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                text = node.value
            else:
                continue
            if "nel " in text:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def _commands() -> list[tuple[str, list[str]]]:
    """Return the commands: what begins with one of nel's own commands, rather than what nel does."""
    context = typer.Context(command_line(), info_name="nel")
    first = set(command_line().list_commands(context))
    return [
        (where, match[0].split())
        for where, text in _texts()
        for match in _COMMAND.finditer(text)
        if match[0].split()[1] in first
    ]


COMMANDS = _commands()


@pytest.mark.parametrize("room", sorted({where.split("/")[1] for where, _ in COMMANDS}))
def test_commands_of_messages_can_be_typed(room: str) -> None:
    """A group has a command after it, and each option is one of that command."""
    for where, words in COMMANDS:
        if where.split("/")[1] != room:
            continue
        command, names, rest = resolved(words)
        if hasattr(command, "list_commands"):
            assert rest == [], f"{where}: {' '.join(words)}: there is no such command"
            continue
        unknown = [word for word in rest if word.startswith("-") and word not in options_of(command, names)]
        assert unknown == [], where


def test_messages_are_read() -> None:
    """There are such commands at all."""
    assert len(COMMANDS) > 100
