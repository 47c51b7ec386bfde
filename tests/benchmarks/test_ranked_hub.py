"""The ranked benchmarks read the hub's own data sets: pinned commit, configuration, splits, and labels as numbers."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nel.benchmarks.knowledge import arc
from nel.benchmarks.knowledge.mmlu import ranked as mmlu
from nel.models.echo_probe import PROBES
from tests.support.endpoint import scripted
from tests.support.hub import FakeHub, running_hub
from tests.support.letters import letters
from tests.support.lm_eval import prompts_of, read_samples
from tests.support.runs import nel, only_run

pytestmark = pytest.mark.skipif(find_spec("datasets") is None, reason="the `datasets` library is not installed")
HERE = Path(__file__).parent
ROWS = json.loads((HERE / "lm_eval_rows.json").read_text(encoding="utf-8"))
HARNESS = json.loads((HERE / "lm_eval_fixture.json").read_text(encoding="utf-8"))
SUBJECTS = ("mmlu_anatomy", "mmlu_high_school_physics")
CARD = """---
configs:
- config_name: {config}
  data_files:
{files}
---
"""


class PinnedHub(FakeHub):
    """A hub whose repositories have the commits that the benchmarks pin."""

    def commit(self, repo: str) -> str:
        """Return the pinned commit."""
        return {"cais/mmlu": mmlu.REVISION, "allenai/ai2_arc": arc.REVISION}[repo]


def _repo(folder: Path, config: str, splits: dict[str, list[dict[str, Any]]], **kinds: Any) -> dict[str, bytes]:
    """Return the files of a repository: one parquet file for each split, with the hub's own types of columns."""
    from datasets import Dataset  # takes seconds to import

    files = {}
    for split, rows in splits.items():
        table = Dataset.from_list(rows)
        features = table.features.copy()
        features.update(kinds)
        place = folder / f"{config}-{split}.parquet"
        table.cast(features).to_parquet(str(place))
        files[f"{config}/{split}.parquet"] = place.read_bytes()
    listed = "\n".join(f"  - split: {split}\n    path: {config}/{split}.parquet" for split in splits)
    return {**files, "README.md": CARD.format(config=config, files=listed).encode()}


@pytest.fixture(scope="module")
def hub_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """Return the repositories with the rows of the fixture."""
    from datasets import ClassLabel

    folder = tmp_path_factory.mktemp("hub")
    dev, test = ([row for name in SUBJECTS for row in ROWS[name][part]] for part in ("examples", "samples"))
    letter = ClassLabel(names=["A", "B", "C", "D"])
    return {
        "cais/mmlu": _repo(folder, "all", {"test": test, "dev": dev}, answer=letter),
        "allenai/ai2_arc": _repo(folder, "ARC-Easy", {"test": ROWS["arc_easy"]["samples"]}),
    }


@pytest.mark.parametrize(
    ("bench", "tasks", "flags"),
    [("mmlu", SUBJECTS, ("--num-fewshot", "2")), ("arc_easy", ("arc_easy",), ())],
    ids=["mmlu", "arc_easy"],
)
def test_the_prompts_of_the_hubs_rows_are_those_of_the_harness(
    tmp_path: Path, hub_files: dict[str, dict[str, bytes]], bench: str, tasks: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    """Each question is asked with the examples of its own subject, from the pinned commit, and counts as it should."""
    with running_hub(PinnedHub(repos=hub_files)) as hub, scripted(letters, models=["letters"]) as endpoint:
        env = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        to = ("--model-url", endpoint.url, "--model-id", "letters", "-o", "out")
        done = nel("eval", "run", "--bench", bench, *to, *flags, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        probes = {probe.context + probe.continuation for probe in PROBES}
        sent = Counter(text for call in endpoint.calls for text in prompts_of(call) if text not in probes)
    known = [one for task in tasks for one in HARNESS[task]]
    assert sent == Counter("".join(pair) for one in known for pair in one["pairs"])
    lines = read_samples(only_run(tmp_path / "out"))
    assert [line["scoring_details"]["metrics"]["acc"] for line in lines] == [one["metrics"]["acc"] for one in known]
