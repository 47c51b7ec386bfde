"""The Python code of the three tools' pages runs as it stands, block by block; what differs is listed."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from nel import ScorerInput, scorer
from nel.authoring.lent_names import standing_in
from nel.authoring.registry import find_benchmark
from nel.errors import NelError
from tests.authoring.test_published_adapters import FILES, adapter_file
from tests.support.runs import SHARED
from tests.support.seed_blocks import code_blocks

SEEDS = SHARED.parent / "seeds"
BLOCKS: Final = [
    # Without an engine a program waits for one for half a minute.
    pytest.param(path.name, text, id=f"{path.name[:3]}-{line}", marks=[pytest.mark.slow] * ("code_sandbox(" in text))
    for path in sorted(SEEDS.glob("*.txt"))
    for line, text in code_blocks(path.read_text(encoding="utf-8"))
]
GIVEN: Final[dict[str, Any]] = {
    "dataclass": dataclass,
    "field": field,
    "scorer": scorer,
    "ScorerInput": ScorerInput,
    "response_text": '{"answer": "42"}',
    "scores": [1.0, 0.0, 1.0, 1.0],
    "results": [{"metadata": {"category": "a"}, "reward": 1.0}, {"metadata": {"category": "a"}, "reward": 0.0}],
    "prediction": "so it is 1,204.",
    **{name: getattr(__import__("typing"), name) for name in ("Any", "Callable", "Dict", "List", "Optional")},
}
"""What a page's text takes for granted: the rows, answers and imports of the block before."""
DIFFERENCES: Final = {
    "from modelscope import": (ModuleNotFoundError, "modelscope", "`from modelscope import …` in a file"),
    "run_task(task_cfg": (NelError, "no endpoint is named", '`run_task(TaskConfig(model="org/name"))`'),
    "code_sandbox": (NelError, "ocker", "`code_sandbox` without Docker"),
}
"""A part of a block, how nel or Python refuses it, and the row of the page of differences that says so."""
BROKEN: Final = {
    "    return res": (SyntaxError, "outside function", ""),
    "return res.replace": (SyntaxError, "outside function", ""),
}
"""Parts of blocks that lost their indentation on the page."""
PAGE: Final = Path(__file__).parents[2] / "docs/reference/differences.md"


def stated(block: str) -> list[tuple[str, object]]:
    """Return the calls of a block whose value stands in a comment after them, and that value."""
    found = (re.fullmatch(r"(\w+\(.*\))  # (\{.*\})", line) for line in block.splitlines())
    return [(match[1], ast.literal_eval(match[2])) for match in found if match]


class TestSeeds:
    pytestmark = pytest.mark.shared_data

    @pytest.mark.parametrize(("page", "block"), BLOCKS)
    def test_a_block_runs_or_is_refused_as_listed(self, page: str, block: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each block that imports or decorates is executed under the tool's own names."""
        monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
        refusals = [refusal for part, refusal in {**DIFFERENCES, **BROKEN}.items() if part in block]
        namespace: dict[str, Any] = {"__name__": __name__, **GIVEN}
        with standing_in():
            if not refusals:
                exec(compile(block, page, "exec", dont_inherit=True), namespace)  # noqa: S102 - that is the test
                assert [eval(call, namespace) for call, _ in stated(block)] == [told for _, told in stated(block)]  # noqa: S307
                return
            kind, message, _ = refusals[0]
            with pytest.raises(kind, match=message):
                exec(compile(block, page, "exec", dont_inherit=True), namespace)  # noqa: S102

    def test_a_module_that_a_page_names_has_the_names_it_lists(self) -> None:
        """Each row of the table of modules, such as "scoring/text.py: exact_match, fuzzy_match", is a module of nel."""
        page = (SEEDS / "002_0256a71414e7feb8.txt").read_text(encoding="utf-8")
        listed = re.findall(r"^(scoring/\w+)\.py\n\n([\w, ]+?) \S ", page, re.MULTILINE)
        assert len(listed) == 6
        for path, names in listed:
            module = import_module(f"nel.{path.replace('/', '.')}")
            assert [name for name in names.split(", ") if not hasattr(module, name)] == []

    @pytest.mark.parametrize("name", ["gsm8k", "mmlu_pro"])
    def test_the_adapters_of_the_page_are_loaded_as_they_stand(self, tmp_path: Path, name: str) -> None:
        """The page has lost its indentation; each line of the file is the page's, and it is a benchmark."""
        page = (SEEDS / "004_ae4935854aa31048.txt").read_text(encoding="utf-8")
        given = {line.strip() for line in page.splitlines()}
        source = (FILES / f"{name}_adapter.txt").read_text(encoding="utf-8").splitlines()[1:]
        assert [line for line in source if line.strip() not in given] == []
        found = find_benchmark(str(adapter_file(tmp_path, f"{name}_adapter", as_published=True)))
        assert found.name == name
        assert not [module for module in sys.modules if module.partition(".")[0] == "evalscope"]


@pytest.mark.parametrize("row", [row for _, _, row in DIFFERENCES.values()])
def test_what_differs_is_on_the_page(row: str) -> None:
    """Each block that does not run has its row on the page of differences."""
    assert f"| {row} |" in PAGE.read_text("utf-8")


def test_a_block_ends_where_its_code_does() -> None:
    """Prose, headings and the next block's label end a block; a line inside a text does not."""
    page = 'Text\nimport re\n\nx = """\nfrom prose\n"""\nprint(x)\nname(x)#\nWords\npython\nfrom re import sub\nNote'
    assert [(line, text.splitlines()[-1]) for line, text in code_blocks(page)] == [
        (2, "print(x)"),
        (11, "from re import sub"),
    ]
