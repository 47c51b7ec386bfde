"""Mistakes on the command line are answered in plain words, with the command that is meant."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from nel.cli.app import app


def _said(line: str) -> str:
    done = CliRunner().invoke(app, line.split(), prog_name="nel")
    assert done.exit_code == 2
    return " ".join(done.output.split())


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("eval list", "Did you mean `nel list` or `nel baseline list` or `nel byob list`?"),
        ("sandbox prnue", "Did you mean `nel sandbox prune`?"),
        ("config show", "`nel init` writes a file, `nel eval run FILE -O key=value` changes one value of it."),
        ("eval logs", "Did you mean `nel eval watch`?"),
        ("eval clean", "deleting that is all"),
        ("quiz.py", "Did you mean `nel eval run --bench quiz.py`?"),
        ("eval stop", "press Ctrl-C where the run goes on; `nel eval resume` continues it."),
    ],
)
def test_a_command_that_is_not_there_names_the_one_that_is_meant(line: str, meant: str) -> None:
    """Synonyms, commands of other groups and misspelled ones are offered with their whole path."""
    assert meant in _said(line)


def test_a_word_like_no_command_gets_no_offer() -> None:
    """Nothing is offered where nothing is near."""
    assert "No such command 'frobnicate'." in _said("frobnicate")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("eval run --max_tokens 3", "Did you mean --max-tokens?"),
        ("eval run --api-key=SECRET", "Did you mean --api-key-env? It takes the name of the variable"),
        ("eval run --model_type chat", "the end of --model-url says it"),
        ("gate a b --strict", "No such option: --strict: `nel gate` always exits with 4 for NO-GO and 5"),
        ("compare a b --max-drop", "No such option: --max-drop: max_drop is a key of the policy of `nel gate`"),
        ("eval run --background", "No such option: --background: `nohup nel eval run … &` runs it in the background"),
        ("eval run -L 3", "No such option: -L. Did you mean --sample?"),
        ("eval run -M a=b", "--model-url and --model-id name it"),
        ("eval run -T a=b", "-O benchmarks.0.KEY=VALUE"),
        ("eval run --gen_kwargs a=b", "-O generation.extra.NAME=VALUE sends any other field"),
        ("eval run --max-retries 3", "-O endpoint.attempts_max=N"),
        ("eval run --override a=b", "-O KEY=VALUE sets any key"),
        ("export DIR --format csv", "Did you mean --to?"),
    ],
)
def test_an_option_of_another_tool_names_the_one_that_is_meant(line: str, meant: str) -> None:
    """Another spelling, or what other tools call it; the value is not repeated, since it may be a key."""
    said = _said(line)
    assert meant in said
    assert "SECRET" not in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("eval run --repeats 1.5", '"1.5" is not a whole number'),
        ("endpoint demo --port 99999", '"99999" is too large: at most 65535'),
    ],
)
def test_what_is_no_number_is_said_in_plain_words(line: str, words: str) -> None:
    """The value and what is wrong with it, without a parser's vocabulary."""
    assert words in _said(line)
