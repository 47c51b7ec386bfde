"""The pages that come with nel, and the topics that messages name."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.cli.docs import topics

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"nel docs (?P<topic>[a-z][\w/-]*)")
PAGE = re.compile(r"docs/[\w/-]+\.md")


def texts() -> list[str]:
    """Return every text of the files of nel that name documentation."""
    sources = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "nel").rglob("*.py")))
    trees = (ast.parse(source) for source in sources if "docs" in source)
    nodes = (node for tree in trees for node in ast.walk(tree))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_messages_name_topics_that_there_are() -> None:
    """What `nel docs` is said to show is a topic; a path of the repository is one that exists."""
    found = texts()
    named = {match["topic"] for text in found for match in NAMED.finditer(text)} - {"lists"}
    assert {"settings", "configuration"} <= named
    assert [topic for topic in sorted(named) if topic not in topics()] == []
    paths = {path for text in found for path in PAGE.findall(text)}
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_a_page_is_printed_and_all_are_listed() -> None:
    """Where stdout is not a terminal the text is the file's; the list has each topic with its title."""
    run = CliRunner().invoke
    assert run(app, ["docs", "settings"]).output == (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    lines = run(app, ["docs"]).output.splitlines()
    assert len(lines) == len(topics())
    assert any(re.fullmatch(r"settings +Settings: flags, variables and files", line) for line in lines)


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("setings", 'there is no page "setings"; did you mean "settings"?'),
        ("reading", 'several pages are called "reading": nel docs explanation/reading or reference/reading'),
    ],
)
def test_a_topic_that_is_no_page_is_answered_with_one(topic: str, message: str) -> None:
    """A misspelling has the nearest, and a name of two pages has both."""
    done = CliRunner().invoke(app, ["docs", topic])
    assert (done.exit_code, message in done.output) == (2, True)


def test_the_wheel_has_the_pages() -> None:
    """The build puts docs/ where an installed nel looks for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]["docs"] == "nel/docs"


def test_a_search_names_pages_and_sections() -> None:
    """Sections whose heading has the words come first; words that are nowhere are an error."""

    def search(words: str) -> list[str]:
        return CliRunner().invoke(app, ["docs", "--search", words]).output.splitlines()

    assert "exit codes" in search("exit codes")[0].lower()
    assert "write-a-plugin: A judge" in search("judge settle grade")
    done = CliRunner().invoke(app, ["docs", "--search", "xyzzy plugh"])
    assert (done.exit_code, 'no section has "xyzzy plugh"' in done.output) == (2, True)
