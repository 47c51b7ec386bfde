"""The page of format versions has the numbers of the code."""

from __future__ import annotations

import re
from pathlib import Path

from nel.apps.leaderboard import standings
from nel.apps.view import notes
from nel.apps.view.index import database
from nel.comparison import decision, document
from nel.compat.atif import export as atif
from nel.compat.evalscope import export as evalscope
from nel.compat.every_eval_ever import export as every_eval_ever
from nel.compat.inspect import export_log
from nel.engine.store import schema
from nel.models import cache
from nel.runs import matrix, verification

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "formats.md"
VERSIONS = {
    "`run.db`": schema.FORMAT,
    "`matrix.json`": matrix.FORMAT,
    "`comparisons.json` of a leaderboard": standings.FORMAT,
    "`manifest.json` of a verified run": verification.FORMAT,
    "`RUN.notes.json`": notes.FORMAT,
    "the index of `nel view`": database.FORMAT,
    "the cache of answers (`--cache`)": cache.FORMAT,
    "what `nel compare --json` prints and writes": document.FORMAT,
    "what `nel gate --json` prints and writes": decision.FORMAT,
    "`leaderboard.json`": standings.FORMAT,
    "`atif`": atif.SCHEMA_VERSION,
    "`evalscope`": evalscope.SCHEMA,
    "`every-eval-ever`": every_eval_ever.SCHEMA,
    "`inspect`": export_log.FORMAT_VERSION,
}


def test_the_page_of_formats_has_the_versions_of_the_code() -> None:
    """Each row's number is that of the constant that is written."""
    rows = re.findall(r"^\| ([^|]+?) \| [^|]+ \| (\S+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    shown = {name: version for name, version in rows if version not in ("---", "version")}
    assert shown == {name: str(version) for name, version in VERSIONS.items()}
