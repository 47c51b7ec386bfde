"""The code of docs/how-to/write-a-plugin.md runs as it stands, and its plugins pass nel's own check."""

from __future__ import annotations

import re
from pathlib import Path

from nel.discovery.conformance import check_plugin
from tests.support.distributions import install

PAGE = Path(__file__).parents[2] / "docs/how-to/write-a-plugin.md"
PLUGINS = {"scorers": ["names_colours"], "judges": ["yes_no", "right_and_complete"]}


def test_the_plugins_of_the_page_pass_the_check(tmp_path, monkeypatch) -> None:
    """Its blocks make one module; scorer and both judges are what the page says they are."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    code = "\n".join(block for block in blocks if "check_plugin" not in block)
    entries = {f"nel.{kind}": {name: f"page_evals:{name}" for name in names} for kind, names in PLUGINS.items()}
    install(tmp_path, "page-evals", entries, modules={"page_evals": code})
    monkeypatch.syspath_prepend(tmp_path)
    for kind, names in PLUGINS.items():
        for name in names:
            assert [each for each in check_plugin(name, kind=kind) if not each.passed] == []
