"""Folders as the tools of the hubs leave them on a disk: which rows a benchmark reads, and what is refused."""

from __future__ import annotations

import base64
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.registry import find_benchmark
from nel.datasets.folder import in_place_of
from nel.datasets.images import image_urls
from nel.datasets.source import open_dataset
from nel.errors import DatasetError
from tests.e2e.test_canonical_hub import configs, parquet
from tests.support.runs import write_jsonl

GSM8K = "hf://openai/gsm8k?config=main&split=test"
PIXEL = bytes.fromhex("89504e470d0a1a0a") + bytes(8)
SHARD = "-00000-of-00001"


def rows(name: str, n: int = 2) -> list[dict[str, Any]]:
    return [{"question": f"{name} {number}", "answer": f"#### {number}"} for number in range(n)]


def downloaded(folder: Path) -> Path:
    """Write what `hf download openai/gsm8k` leaves."""
    splits = {name: {split: f"{name}/{split}-*" for split in ("train", "test")} for name in ("main", "socratic")}
    for name in splits:
        (folder / name).mkdir(parents=True)
        for split in ("train", "test"):
            (folder / name / f"{split}{SHARD}.parquet").write_bytes(parquet(rows(f"{name} {split}")))
    (folder / "README.md").write_bytes(configs(splits))
    (folder / ".cache" / "huggingface").mkdir(parents=True)
    write_jsonl(folder / ".cache" / "huggingface" / "test.jsonl", rows("metadata"))
    return folder


def questions(source: str) -> list[str]:
    return [row.data["question"] for row in open_dataset(source).read()]


def test_a_download_is_read_by_the_benchmarks_configuration_and_split(tmp_path: Path) -> None:
    """The card says which files; the folder's own options win; a folder of one configuration needs none."""
    folder = downloaded(tmp_path / "gsm8k")
    assert questions(in_place_of(GSM8K, str(folder))) == ["main test 0", "main test 1"]
    assert questions(in_place_of(GSM8K, f"{folder}?config=socratic")) == ["socratic test 0", "socratic test 1"]
    assert questions(in_place_of(GSM8K, str(folder / "main"))) == ["main test 0", "main test 1"]
    with pytest.raises(DatasetError, match=r"several configs; name one, as in .*gsm8k\?config=main: main, socratic"):
        open_dataset(str(folder))


def test_the_cache_of_the_hub_is_read_through_its_links(tmp_path: Path) -> None:
    """Its only version is taken; with two the message names their folders."""
    cache = tmp_path / "datasets--openai--gsm8k"
    blob = cache / "blobs" / "1"
    blob.parent.mkdir(parents=True)
    write_jsonl(blob, rows("cached"))
    for commit in ("a" * 40, "b" * 40):
        snapshot = cache / "snapshots" / commit / "main"
        snapshot.mkdir(parents=True)
        (snapshot / "test.jsonl").symlink_to(os.path.relpath(blob, snapshot))
        if commit.startswith("a"):
            assert questions(in_place_of(GSM8K, str(cache))) == ["cached 0", "cached 1"]
    with pytest.raises(DatasetError, match=r"2 versions of this dataset; name the folder of one: .*/snapshots/aaaa"):
        open_dataset(str(cache))


def test_what_the_datasets_library_saves_is_read(tmp_path: Path) -> None:
    """A dictionary of splits, one split alone, and the files of its cache."""
    datasets = pytest.importorskip("datasets")
    splits = {split: datasets.Dataset.from_list(rows(split)) for split in ("train", "test")}
    datasets.DatasetDict(splits).save_to_disk(str(tmp_path / "all"))
    splits["test"].save_to_disk(str(tmp_path / "one"))
    write_jsonl(tmp_path / "rows.jsonl", rows("test"))
    datasets.load_dataset("json", data_files={"test": str(tmp_path / "rows.jsonl")}, cache_dir=str(tmp_path / "cache"))
    cached = next((tmp_path / "cache").rglob("json-test.arrow")).parent
    for folder in (tmp_path / "all", tmp_path / "one", cached):
        assert questions(in_place_of(GSM8K, str(folder))) == ["test 0", "test 1"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (["other/test.jsonl"], 'it has no config "main"; its folders: other'),
        (["main/train.jsonl"], 'it has no split "test"; it has: train'),
        (["easy_test.jsonl", "hard_test.jsonl"], 'no config "main"; its files: easy_test.jsonl, hard_test.jsonl'),
        (["main/a_test.jsonl", "main/b_test.jsonl"], 'several files may be its split "test" (a_test, b_test)'),
        (["README.md"], "it has no files of rows that nel reads"),
        (["main/test-00001-of-00002.jsonl"], "it has 1 of the 2 shards of main/test; download the others"),
    ],
)
def test_what_a_folder_does_not_say_is_asked(tmp_path: Path, files: list[str], problem: str) -> None:
    """Another configuration, another split and one of several files are never read in place of what was asked for."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_jsonl(tmp_path / name, rows(name))
    with pytest.raises(DatasetError) as caught:
        open_dataset(in_place_of(GSM8K, str(tmp_path)))
    assert problem in str(caught.value)


def test_a_saved_split_is_not_read_as_another(tmp_path: Path) -> None:
    """`Dataset.save_to_disk` writes which split it saved; its file is read if it is named."""
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(rows("train"), split="train").save_to_disk(str(tmp_path))
    with pytest.raises(DatasetError, match=r'it is the split "train" of a dataset, .*, and not "test"'):
        open_dataset(in_place_of(GSM8K, str(tmp_path)))
    assert questions(f"{tmp_path}?file=*.arrow") == questions(f"{tmp_path}?split=train") == ["train 0", "train 1"]


def test_a_copy_stands_in_for_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of NEL_DATA holds datasets by their names on a hub; nothing is asked of the hub for them."""
    downloaded(tmp_path / "openai" / "gsm8k")
    monkeypatch.setenv("NEL_DATA", str(tmp_path))
    assert questions(GSM8K) == ["main test 0", "main test 1"]
    assert questions("hf://openai/gsm8k?config=socratic&split=train") == ["socratic train 0", "socratic train 1"]


def test_examples_come_from_the_folders_other_split(tmp_path: Path) -> None:
    """MMLU's examples are its split dev; a folder without one is no place for them."""
    for split in ("test", "dev"):
        made = [{"question": f"{split} {n}", "subject": "law", "choices": list("abcd"), "answer": n} for n in range(3)]
        write_jsonl(tmp_path / f"{split}.jsonl", made)
    mmlu = replace(find_benchmark("mmlu"), num_fewshot=2)
    bound, _ = bind_examples(mmlu, dataset=str(tmp_path))
    sample = bound.sample({"question": "?", "subject": "law", "choices": list("abcd"), "answer": 1}, sample_id="x")
    assert "dev 0" in str(sample.input)
    assert "test" not in str(sample.input)


def test_a_sample_is_never_its_own_example_where_one_file_is_both_splits(tmp_path: Path) -> None:
    """The only file of a folder is read for each split, so the examples hold the samples."""
    made = [{"question": f"only {n}", "subject": "law", "choices": list("abcd"), "answer": n} for n in range(4)]
    write_jsonl(tmp_path / "rows.jsonl", made)
    mmlu = replace(find_benchmark("mmlu"), num_fewshot=2)
    bound, note = bind_examples(mmlu, dataset=str(tmp_path))
    assert note is not None
    assert "few-shot examples are rows of" in note
    assert all(str(bound.sample(row, sample_id="x").input).count(row["question"]) == 1 for row in made)


def test_images_as_hubs_store_them_are_sent(tmp_path: Path) -> None:
    """A parquet file holds an image as its bytes and a path, of which either may be null."""
    (tmp_path / "beside.png").write_bytes(PIXEL)
    images = [{"bytes": PIXEL, "path": "x.png"}, {"bytes": None, "path": "beside.png"}]
    (tmp_path / f"test{SHARD}.parquet").write_bytes(parquet([{"image": image} for image in images]))
    dataset = open_dataset(str(tmp_path))
    url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    assert [image_urls(row.data, "image", dataset.folder) for row in dataset.read()] == [[url], [url]]
