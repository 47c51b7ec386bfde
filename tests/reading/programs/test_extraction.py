"""The program in a response: a table of what models write, every problem of HumanEval in many forms, and laws.

A row of the table says what a careful reader would copy out of the response: the code, null where there is none, and
the program where the prompt completes it.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest

from nel.reading.programs import extract_program
from tests.support.runs import SHARED
from tests.support.tiers import ENDS, first_rows, representatives

TABLE = Path(__file__).parent / "responses.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").split("\n") if line]
OPTIONS = ("language", "fences", "prompt", "entry_point")


PROMPT = 'def f(x):\n    """Add one."""\n'
PROSE = "\n\nThis function is right because it's what was asked for.\n"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"].replace(" ", "-"))
def test_what_a_reader_would_copy(row: dict[str, Any]) -> None:
    """Code and program are those of the table."""
    found = extract_program(row["response"], **{key: row[key] for key in OPTIONS if key in row})
    assert (found and found.code) == row["code"], row["why"]
    if "program" in row:
        assert found is not None
        assert found.program == row["program"], row["why"]


def _fenced(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


def _indented(code: str) -> str:
    return textwrap.indent(code, "   ")


FORMS = {
    "continues": "{body}",
    "continues-stripped": "{stripped}",
    "continues-without-margin": "{dedented}",
    "continues-in-a-fence": "Here is the body:\n\n```python\n{body}\n```\n" + PROSE,
    "continues-then-prose": "{body}" + PROSE,
    "prose-then-body": "Here is the body of the function:\n\n{body}" + PROSE,
    "continues-then-tests": "{body}\n\ndef test():\n    {name}()\n\n\nif __name__ == '__main__':\n    test()\n",
    "continues-then-is-cut-off": '{body}\n\ndef other(x):\n    """ Unfinished\n   ',
    "continues-then-defines-again": "{body}\n\ndef {name}(*args):\n    return 'wrong'\n",
    "continues-then-closes-the-fence": "{body}```\n\nUsage:\n\n```python\nprint({name}(1))\n```",
    "repeats-all": "{whole}",
    "repeats-all-in-a-fence": "Sure!\n\n```python\n{whole}\n```\n" + PROSE,
    "repeats-without-imports": "```python\n{function}\n```",
    "repeats-without-fences": "Here is the solution:\n\n{function}" + PROSE,
    "repeats-with-main": "```python\n{function}\n\nif __name__ == '__main__':\n    {name}()\n```",
    "repeats-without-an-end": "```python\n{function}" + PROSE,
    "repeats-with-a-glued-end": "```python\n{function}```" + PROSE,
    "repeats-in-a-list": "1. Solution:\n   ```python\n{listed}\n   ```\n2. Done.",
    "repeats-in-an-element": "<code>\n{function}\n</code>",
    "repeats-then-breaks-off": "```python\n{function}\n\ndef check():\n    assert {name}(",
    "repeats-in-markdown": "````markdown\n# Solution\n```python\n{function}\n```\n````",
    "corrects": "```python\n{wrong}\n```\nWait, that is wrong:\n```python\n{function}\n```",
}


@pytest.mark.shared_data
@pytest.mark.parametrize("form", first_rows(2, FORMS))
def test_right_solutions_stay_right(form: str) -> None:
    """The canonical solutions of HumanEval pass their tests, in whatever form a model writes them."""
    failed = []
    with gzip.open(SHARED / "humaneval.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        found = extract_program(_response(FORMS[form], row), prompt=row["prompt"], entry_point=row["entry_point"])
        if found is None or not _passes(found.program, row):
            failed.append(row["task_id"])
    assert len(rows) == 164
    assert failed == []


def _response(form: str, row: dict[str, str]) -> str:
    prompt, body, name = row["prompt"], row["canonical_solution"], row["entry_point"]
    function = (prompt[prompt.rindex(f"def {name}") :] + body).rstrip()
    parts = {
        "name": name,
        "body": body,
        "stripped": body.strip(),
        "dedented": textwrap.dedent(body),
        "whole": prompt + body,
        "function": function,
        "listed": _indented(function),
        "wrong": function.replace("return", "return None and"),
    }
    for key, value in parts.items():
        form = form.replace(f"{{{key}}}", value)
    return form


def _passes(program: str, row: dict[str, str]) -> bool:
    source = f"{program}\n\n{row['test']}\ncheck({row['entry_point']})\n"
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in the dataset's docstrings
        try:
            exec(compile(source, row["task_id"], "exec"), {"__name__": "solution"})  # noqa: S102 - trusted solutions
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            return False
    return True


@pytest.mark.parametrize(
    "nested", ["(" * 5000, "-" * 100_000 + "1", "a" + ".b" * 50_000, "[" * 150, "9" * 5000, "lambda:" * 9000]
)
def test_what_python_cannot_parse_is_still_code(nested: str) -> None:
    """Code that breaks the parser, not only its rules, is given back as it is."""
    code = f"def f(x):\n    return {nested}"
    found = extract_program(_fenced(code), entry_point="f")
    assert found is not None
    assert found.code == code


@ENDS
@pytest.mark.parametrize(
    "unit",
    representatives(
        ["x = 1\n", "```python\n", "def f(x):\n    return (x\n", '"""\n', "A a, b "],
        "```python\n",
        "def f(x):\n    return (x\n",
    ),
)
@pytest.mark.parametrize("language", ["python", "cpp"])
def test_two_megabytes_take_no_time(unit: str, language: str) -> None:
    """However long a response is and whatever it repeats; work of its square would take hours."""
    response = unit * (2_000_000 // len(unit))
    found = extract_program(response, language=language, prompt=PROMPT, entry_point="f")
    assert found is None or len(found.code) <= len(response) + len(PROMPT)


def test_a_program_too_long_to_be_parsed_is_kept() -> None:
    """A block longer than what is parsed is taken by its tag, with the prompt's imports."""
    code = "def f(x):\n    return x\n" + "TABLE = [1, 2, 3]\n" * 20_000
    found = extract_program(
        f"Sure:\n{_fenced(code)}\nExample:\n{_fenced('print(f(1))')}",
        prompt=f"import math\n\n{PROMPT}",
        entry_point="f",
    )
    assert found is not None
    assert found.code == code.rstrip()
    assert found.program == f"import math\n\n\n{found.code}"


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ("<|python_tag|>def f(x):\n    return x + 1<|eom_id|>", "x + 1"),
        ("```python\ndef f(x):\n    end = '</think>'\n    return x + 1\n```", "x + 1"),
        ("def f(x):\n    # after </think>\n    return x + 1", "x + 1"),
    ],
)
def test_tokens_are_none_of_the_program_and_tags_of_reasoning_are(response: str, code: str) -> None:
    """A server leaves tokens; a program may be about the tags of reasoning, which was split off before."""
    found = extract_program(response, prompt=PROMPT, entry_point="f")
    assert found is not None
    assert found.code.rpartition("return ")[2] == code
