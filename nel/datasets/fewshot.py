"""Where few-shot examples come from, and which of them a sample gets.

Which examples a sample gets depends on the sample's own content and never on how many came before
it, so a limit, another order or a resume changes no prompt. lm-evaluation-harness draws from one
stream of random numbers instead.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode

from nel.datasets.base import Dataset, RawRow
from nel.datasets.files import folder_at
from nel.datasets.source import open_dataset
from nel.datasets.table_form import split_options
from nel.errors import DatasetError, NelError

ExampleSource: TypeAlias = (
    "str | Path | Callable[[], Iterable[Mapping[str, Any]]] | Sequence[Mapping[str, Any]]"
)
"""A path, a URI, a function that returns rows, or the rows themselves."""

POOL_ROWS_MAX: Final = 10_000
"""So many rows of a source are drawn from, since they are held in memory."""
EACH_ROWS_MAX: Final = 1_000
"""So many rows of each value, where examples must have the sample's own."""

_WITH_SPLITS: Final = re.compile(r"(hf|ms)://", re.IGNORECASE)
_CONFIG_PARTS: Final = 3


def open_examples(
    source: ExampleSource, split: str | None, *, base_dir: Path | None = None
) -> Dataset:
    """Return the dataset that examples are taken from.

    Args:
        source: See `ExampleSource`.
        split: The split of a hub dataset, instead of the one that its URI names.
        base_dir: Where relative paths are looked for first.

    Raises:
        DatasetError: It cannot be opened, or a split is asked of something that has none.
    """
    if isinstance(source, Sequence) and not isinstance(source, str):
        rows = [dict(row) for row in source]
        if not rows:
            raise DatasetError(
                "the list of few-shot examples is empty; give it rows, or num_fewshot=0"
            )
        if split is None:
            return replace(open_dataset(lambda: rows), uri="the list of few-shot examples")
    elif split is None:
        return open_dataset(source, base_dir=base_dir)
    if not isinstance(source, str):
        raise DatasetError(
            f'few-shot examples are to come from the split "{split}", and {_source_name(source)} has no'
            " splits; name the examples themselves with fewshot_dataset, and no split"
        )
    return open_dataset(with_split(source, split, base_dir=base_dir), base_dir=base_dir)


def with_split(uri: str, split: str, *, base_dir: Path | None = None) -> str:
    """Return the address of another split of a hub dataset or of a folder.

    Args:
        uri: The address of one split.
        split: The other one.
        base_dir: Where relative paths are looked for before the working directory.

    Raises:
        DatasetError: It is neither, so that it has no splits.

    >>> with_split("hf://openai/gsm8k?config=main&split=test", "train")
    'hf://openai/gsm8k?config=main&split=train'
    """
    folder, options = split_options(uri)
    if folder_at(uri, base_dir) is not None:
        return f"{folder}?{urlencode({**options, 'split': split}, safe='/*,')}"
    if not _WITH_SPLITS.match(uri):
        raise DatasetError(
            f'few-shot examples are to come from the split "{split}", and {uri} has no splits; '
            "name a file with the examples: --fewshot-dataset PATH"
        )
    path, _, query = uri.partition("?")
    scheme, _, names = path.partition("://")
    # ORG/NAME/CONFIG: a fourth part would be the other split.
    repository = "/".join(names.strip("/").split("/")[:_CONFIG_PARTS])
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "split"]
    pairs.append(("split", split))
    return f"{scheme}://{repository}?{urlencode(pairs, safe='/')}"


def read_examples(
    dataset: Dataset,
    rows_max: int | None,
    *,
    is_example: Callable[[Mapping[str, object]], bool] = lambda _: True,
    value_of: Callable[[Mapping[str, object]], str | None] | None = None,
    prompt_of: Callable[[Mapping[str, object]], str] | None = None,
) -> list[RawRow]:
    """Return the first rows of a source of examples.

    Args:
        dataset: The source.
        rows_max: So many at most; None: as many as are ever drawn from.
        is_example: Whether a row may be an example; others do not count.
        value_of: The value that must match; the source is then read to its end, and the limit holds
            for each value.
        prompt_of: The prompt of a row as shown; of rows with the same one, only the first is
            returned.

    Raises:
        DatasetError: It cannot be read.
    """
    bound = POOL_ROWS_MAX if value_of is None else EACH_ROWS_MAX
    each_max = min(rows_max or bound, bound)
    examples: Iterator[RawRow] = (row for row in dataset.read() if is_example(row.data))
    if value_of is None:
        examples = islice(examples, POOL_ROWS_MAX)
    rows = []
    keys_by_value = defaultdict[str | None, set[str]](set)
    for row in examples:
        keys = keys_by_value[value_of(row.data) if value_of else None]
        key = str(row.number) if prompt_of is None else _prompt_key_of(row, prompt_of)
        if key not in keys and len(keys) < each_max:
            keys.add(key)
            rows.append(row)
        if value_of is None and len(rows) == each_max:
            break
    return rows


def _prompt_key_of(row: RawRow, prompt_of: Callable[[Mapping[str, object]], str]) -> str:
    try:
        return prompt_key(prompt_of(row.data))
    except NelError:  # reported where the row is rendered
        return str(row.number)


def prompt_key(prompt: str) -> str:
    """Return a key of a prompt, white space aside, that an example shares with the same sample.

    >>> prompt_key("Q: 0+1?\\nA:") == prompt_key("Q:  0+1? A: ")
    True
    """
    return hashlib.sha256(" ".join(prompt.split()).encode("utf-8", "surrogatepass")).hexdigest()


def draw(keys: Sequence[str], n: int, *, own: str, seed: int | None = None) -> list[int]:
    """Return the positions of at most ``n`` examples, none of which has the sample's own key.

    Without a seed the first ones. With one, those of a Fisher-Yates shuffle whose numbers are the
    SHA-256 of seed, own key and draw, so that they are the same on every machine.

    >>> draw(["a", "b", "c"], 2, own="a")
    [1, 2]
    >>> draw(list("abcdef"), 3, own="a", seed=1) == draw(list("abcdef"), 3, own="a", seed=1)
    True
    """
    order = range(len(keys)) if seed is None else _shuffle(len(keys), f"{seed}:{own}")
    return list(islice((position for position in order if keys[position] != own), n))


def _shuffle(size: int, seed: str) -> Iterator[int]:
    # The shuffled list as its differences from range(size): few are drawn of many.
    moves: dict[int, int] = {}
    for n_remaining in range(size, 0, -1):
        digest = hashlib.sha256(f"{seed}:{n_remaining}".encode()).digest()
        pick = int.from_bytes(digest) % n_remaining
        yield moves.get(pick, pick)
        # The last of those that remain takes the place of the one that was picked.
        last = n_remaining - 1
        moves[pick] = moves.get(last, last)


def _source_name(source: object) -> str:
    if isinstance(source, Path):
        return str(source)
    return str(getattr(source, "__qualname__", type(source).__name__))
