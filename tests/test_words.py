"""nel/ is written in the terms of the field: words that only its authors would use stay out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRIVATE = (
    r"nobody",
    r"whoever",
    r"whomever",
    r"everybody",
    r"anew",
    r"mend(?:s|ed|ing)?",
    r"Trap:",
    r"(?:Knows|knows) no(?:thing)?\b",
    r"refuses to know",
    r"beheld",
    r"hitherto",
)
"""Instead: no one or the thing itself, again, fix, Note, what the module depends on."""
PROMPTS = {"nel/judges/templates.py"}
"""Modules whose texts are sent to models, and name stored calls; only their comments and docstrings count."""
_WORDS = re.compile(r"\b(?:" + "|".join(PRIVATE) + ")", re.IGNORECASE)


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield comments, docstrings and texts of a module with their lines; prompts stand in constants of capitals."""
    text = path.read_text(encoding="utf-8")
    if not _WORDS.search(text):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    tree = ast.parse(text)
    if str(path.relative_to(ROOT)) in PROMPTS:
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        yield from ((1, ast.get_docstring(node) or "") for node in ast.walk(tree) if isinstance(node, documented))
        return
    data = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and _is_data(node)
        for inner in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in data:
            yield node.lineno, node.value


def _is_data(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return all(isinstance(target, ast.Name) and target.id.strip("_").isupper() for target in targets)


def test_modules_are_written_in_terms_of_the_field() -> None:
    """Comments, docstrings, error texts and help use none of the private words; prompts and data may."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {word[0]}"
        for path in sorted((ROOT / "nel").rglob("*.py"))
        for line, text in _prose(path)
        if (word := _WORDS.search(text))
    ]
    assert found == []


def test_pages_are_written_in_terms_of_the_field() -> None:
    """Documentation for users keeps to the same words."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line}"
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if _WORDS.search(line)
    ]
    assert found == []
