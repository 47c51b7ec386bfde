"""The addresses of the canonical benchmarks are read through the real client libraries, from a hub on loopback."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nel.authoring.registry import find_benchmark
from nel.benchmarks.mathematics.mgsm import LABELS
from nel.benchmarks.reasoning.bbh_tasks import TASKS
from nel.benchmarks.translation.pairs import FLORES_LANGUAGES, WMT24PP_PAIRS
from tests.datasets.test_hub import PATIENT
from tests.support.hub import FakeHub, running_hub

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="the `datasets` library is not installed"),
]
ROOT = Path(__file__).parents[2]
READ = """
import json, sys
from dataclasses import replace
from nel.authoring.registry import find_benchmark
from nel.datasets.source import open_dataset
from nel.datasets.fewshot import open_examples
name, what = sys.argv[1:]
found = find_benchmark(name)
settings = found.fewshot
opened = open_examples(settings.dataset or found.dataset, settings.split) if what == "examples" else None
rows = [row.data for row in (opened or open_dataset(found.dataset)).read()]
found = replace(found, num_fewshot=0)
samples = [found.sample(row, sample_id=str(n)) for n, row in enumerate(rows)]
print(json.dumps([[sample.subset, str(sample.input), sample.target] for sample in samples]))
"""


@dataclass(kw_only=True)
class PinnedHub(FakeHub):
    """A hub whose repositories are at the commits that the benchmarks pin."""

    commits: Mapping[str, str]

    def commit(self, repo: str) -> str:
        """Return the pinned commit."""
        return self.commits[repo]


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def configs(paths: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return a repository's README that says which file is which split of which configuration."""
    lines = ["---", "configs:"]
    for name, splits in paths.items():
        lines += [f"- config_name: {name}", "  data_files:"]
        for split, path in splits.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    return "\n".join([*lines, "---", ""]).encode()


def of_configs(rows: Mapping[str, Mapping[str, list[dict[str, Any]]]]) -> dict[str, bytes]:
    """Return the files of a repository from rows by configuration and split."""
    paths = {name: {split: f"{name}/{split}.jsonl" for split in splits} for name, splits in rows.items()}
    files = {paths[name][split]: jsonl(*found) for name, splits in rows.items() for split, found in splits.items()}
    return {"README.md": configs(paths), **files}


def mgsm_files() -> dict[str, bytes]:
    def rows(language: str, answer: str) -> list[dict[str, Any]]:
        return [{"question": f"Q {language}", "answer": answer, "answer_number": 7, "equation_solution": None}]

    return of_configs(
        {name: {"test": rows(name, ""), "train": rows(name, f"{LABELS[name][1]} 3 + 4 = 7.")} for name in LABELS}
    )


def wmt24pp_files() -> dict[str, bytes]:
    common = {"document_id": "d", "domain": "news", "original_target": "x"}
    rows = {
        f"en-{language}": {
            "train": [
                {"lp": f"en-{language}", "source": "good", "target": language, "is_bad_source": False, **common},
                {"lp": f"en-{language}", "source": "bad", "target": language, "is_bad_source": True, **common},
            ]
        }
        for language in WMT24PP_PAIRS
    }
    return of_configs(rows)


def flores_files() -> dict[str, bytes]:
    return of_configs(
        {
            name: {"devtest": [{"id": n, "text": f"{name} {n}", "iso_639_3": name[:3]} for n in range(2)]}
            for name in ("eng_Latn", *FLORES_LANGUAGES)
        }
    )


def healthbench_row(theme: str) -> dict[str, Any]:
    return {
        "prompt_id": theme,
        "prompt": [{"role": "user", "content": "It hurts."}],
        "rubrics": [{"criterion": "Asks", "points": 5, "tags": ["axis:x"]}],
        "example_tags": [f"theme:{theme}"],
    }


FILES: dict[str, dict[str, bytes]] = {
    "juletxara/mgsm": mgsm_files(),
    "lukaemon/bbh": of_configs({name: {"test": [{"input": f"I {name}", "target": "(A)"}]} for name in TASKS}),
    "google/wmt24pp": wmt24pp_files(),
    "openlanguagedata/flores_plus": flores_files(),
    "openai/healthbench": {
        "2025-05-07-06-14-12_oss_eval.jsonl": jsonl(healthbench_row("hedging")),
        "hard_2025-05-08-21-00-10.jsonl": jsonl(healthbench_row("other")),
    },
    "wmt/wmt14": {
        # Parquet on the hub; the libraries tell the format by the file, so the pattern is what is tested.
        "README.md": configs({"de-en": {"train": "de-en/train-*.parquet", "test": "de-en/test-*.parquet"}}),
    },
}


def parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    sink = pyarrow.BufferOutputStream()
    write_table(pyarrow.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


@pytest.fixture(scope="module")
def hub() -> Iterator[PinnedHub]:
    """The hub, its commits taken from the cards."""
    names = ("mgsm", "bbh", "wmt24pp", "flores_from_english", "healthbench", "wmt14_de_en")
    cards = [find_benchmark(name).card for name in names]
    commits = {card.homepage.partition("/datasets/")[2]: card.revision for card in cards if card}
    for split, word in (("test", "Tag"), ("validation", "Abend"), ("train", "never read")):
        row = {"translation": {"de": f"Guten {word}", "en": f"Good {word}"}}
        FILES["wmt/wmt14"][f"de-en/{split}-00000-of-00001.parquet"] = parquet([row])
    with running_hub(PinnedHub(repos=FILES, commits=commits)) as running:
        yield running


def read(hub: PinnedHub, home: Path, name: str, what: str = "rows") -> list[Any]:
    """Return subset, prompt and target of each sample, read in a process with an empty cache."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HF_HOME": str(home / "hf"), "HF_ENDPOINT": hub.url}
    env |= {"PYTHONPATH": str(ROOT), "NO_PROXY": "*"} | PATIENT
    done = subprocess.run(
        [sys.executable, "-c", READ, name, what], env=env, cwd=home, capture_output=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found: list[Any] = json.loads(done.stdout)
    return found


def test_wmt24pp_leaves_out_bad_sources(hub: PinnedHub, tmp_path: Path) -> None:
    """One of two rows of each pair is marked as bad."""
    rows = read(hub, tmp_path, "wmt24pp")
    assert [subset for subset, _, _ in rows] == [f"en-{language}" for language in WMT24PP_PAIRS]
    assert all(text.endswith("\n\ngood") for _, text, _ in rows)


def test_flores_pairs_sentences_by_number(hub: PinnedHub, tmp_path: Path) -> None:
    """Each sentence stands beside the English one of the same number, in both directions."""
    rows = read(hub, tmp_path, "flores_from_english")
    assert len(rows) == 2 * len(FLORES_LANGUAGES)
    subset, text, target = rows[1]
    assert (subset, target) == (f"eng_Latn-{FLORES_LANGUAGES[0]}", f"{FLORES_LANGUAGES[0]} 1")
    assert text.endswith("\n\neng_Latn 1")
    subset, text, target = read(hub, tmp_path, "flores_into_english")[0]
    assert (subset, target) == (f"{FLORES_LANGUAGES[0]}-eng_Latn", "eng_Latn 0")
