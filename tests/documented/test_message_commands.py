"""Each command of nel that a message, a help text or a docstring of nel names can be typed: it exists, with its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import typer

from tests.documented.commands import ROOT
from tests.documented.test_command_lines import command_line, options_of, resolved

_COMMAND = re.compile(r"\bnel(?: [a-z][a-z-]+)+(?: (?:-{1,2}[a-z][a-z-]*|[A-Z][A-Z_]*(?:=[A-Z]+)?|▯))*")
"""Words of commands, then options, names in capitals, and values that a program puts in (▯)."""


def _texts() -> Iterator[tuple[str, str]]:
    """Yield each text in the code of nel that names it, with its place."""
    for path in sorted((ROOT / "nel").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "nel " not in source.replace("from nel ", "").replace("import nel ", ""):
            continue
        tree = ast.parse(source)
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


def test_commands_of_messages_can_be_typed() -> None:
    """A group has a command after it, and each option is one of that command."""
    wrong = []
    commands = _commands()
    for where, words in commands:
        command, names, rest = resolved(words)
        known = set() if hasattr(command, "list_commands") else options_of(command, names)
        if hasattr(command, "list_commands") and rest:
            wrong.append(f"{where}: {' '.join(words)}: there is no such command")
        elif unknown := [word for word in rest if known and word.startswith("-") and word not in known]:
            wrong.append(f"{where}: {' '.join(words)}: no option {', '.join(unknown)}")
    assert wrong == []
    assert len(commands) > 100
