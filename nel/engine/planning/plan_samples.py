"""The samples of a plan, as its dataset streams by, and their digests, which complete its identity.

Note: a run's identity covers the rendered samples, so a benchmark whose prompt depends on the clock
can never be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nel.authoring.prompt_check import AskedPrompts
from nel.config.identity import Identity
from nel.datasets.ids import content_id, occurrence_id, own_id
from nel.datasets.source import RawRow
from nel.engine.planning.plan import Plan
from nel.engine.planning.rendering import Renderer, number_of
from nel.engine.planning.selection import first_rows, sampled_rows
from nel.engine.store.codec import decode_sample
from nel.engine.store.plans import StoredSelection
from nel.engine.store.snapshot import DIGEST_MODULUS, StoredSample
from nel.errors import DatasetError


@dataclass(slots=True)
class Digests:
    """Order-independent digests of a dataset as it streams by.

    The sum of the rows' SHA-256 modulo 2^256: the same rows in another order give the same digest.
    """

    rows: int = 0
    made: int = 0
    """Rows that make a sample."""
    good: int = 0
    """Rows that are asked: the gold answer of their sample decides something, too."""
    raw: int = 0
    rendered: int = 0
    first_fault: str | None = None
    duplicates: dict[str, int] = field(default_factory=dict)
    noted: StoredSelection | None = None
    """What the rows are of the benchmark's, where the run was to ask a part."""

    def note(self, selection: StoredSelection) -> None:
        """Note what the rows are of the benchmark's."""
        self.noted = selection

    @property
    def selection(self) -> StoredSelection:
        """Return what has streamed by of the benchmark's rows: all where nothing else was noted."""
        n = self.rows
        return self.noted or {
            "kind": "all",
            "n": n,
            "of": n,
            "is_exact": True,
            "seed": None,
            "by": None,
            "n_strata": None,
            "n_strata_asked": None,
            "strata": {},
        }

    def fields(self) -> dict[str, Any]:
        """Return the identity fields of what has streamed by."""
        return {
            "dataset.sha256": f"{self.raw % DIGEST_MODULUS:064x}",
            "prompt.sha256": f"{self.rendered % DIGEST_MODULUS:064x}",
        }


def stream_samples(
    plan: Plan,
    digests: Digests,
    row_number_of: Callable[[str], int | None],
    *,
    n_stored: int = 0,
) -> Iterator[StoredSample]:
    """Yield the plan's samples in dataset order and add each to the digests.

    Args:
        row_number_of: Returns the number of the row that has a sample id already, or None.
        n_stored: The first so many samples are stored with their ids; they are yielded without one.

    Raises:
        DatasetError: The dataset is unreadable or empty, an id of it is unusable, or no row makes a
            sample.
    """
    rows, prompts = _select(plan, digests), AskedPrompts()
    renderer = Renderer(plan.benchmark)
    for idx, row in enumerate(rows):
        content = content_id(row.data)
        digests.rows += 1
        sample_id = "" if idx < n_stored else _sample_id(plan, row, content, digests, row_number_of)
        made = renderer.rendering(row.data, sample_id)
        digests.raw += number_of(content)
        digests.rendered += made.number
        digests.made += made.encoded is not None
        if made.encoded is not None and not prompts.differ:
            prompts.add(decode_sample("", made.encoded), content)
        if made.fault is not None:
            fault = f"{plan.dataset.unit} {row.number}: {made.fault}".encode(
                "utf-8", "backslashreplace"
            ).decode()
            digests.first_fault = digests.first_fault or fault
            yield StoredSample(idx, sample_id, row.number, made.encoded, fault)
            continue
        digests.good += 1
        yield StoredSample(idx, sample_id, row.number, made.encoded, None)
    if digests.rows == 0:
        raise DatasetError(
            f"{plan.benchmark.name} takes no row of {plan.dataset.uri}; correct its subsets or"
            " filters"
        )
    if digests.made == 0:
        raise DatasetError(
            f"no row of {plan.dataset.uri} is usable by {plan.benchmark.name}:"
            f" {digests.first_fault}"
        )
    if not plan.eval_only and plan.solver is None:  # an episode asks more than its first prompt
        prompts.check(plan.benchmark.name)


def _select(plan: Plan, digests: Digests) -> Iterator[RawRow]:
    benchmark, entry = plan.benchmark, plan.config

    def rows() -> Iterable[RawRow]:
        return benchmark.select(plan.dataset.read())

    if entry.sample is not None:
        return sampled_rows(benchmark, rows, entry.sample, entry.sample_seed, digests.note)
    unlimited = benchmark.without_limit()
    if entry.max_problems is not None or unlimited is not benchmark:
        every = None if unlimited is benchmark else unlimited.select(plan.dataset.read())
        return first_rows(benchmark, rows(), entry.max_problems, digests.note, every=every)
    return iter(rows())


def identity_of(plan: Plan, digests: Digests) -> Identity:
    """Return the identity of a plan with its snapshot."""
    return Identity(fields={**plan.fields, **digests.fields()})


def duplicate_id(plan: Plan, sample: StoredSample, first_row: int | None) -> DatasetError:
    """Return the error that names both rows of a duplicate id."""
    unit = plan.dataset.unit
    return DatasetError(
        f"{plan.dataset.uri}: {unit} {first_row} and {unit} {sample.row_number} have the same id"
        f' "{sample.sample_id}" (1 and "1" are one id); make the ids unique, or take the id field'
        " away to use content hashes"
    )


def _sample_id(
    plan: Plan,
    row: RawRow,
    content: str,
    digests: Digests,
    row_number_of: Callable[[str], int | None],
) -> str:
    id_field = plan.benchmark.id_field_of(row.data)
    if id_field is not None and id_field in row.data:
        try:
            sample_id = own_id(row.data[id_field])
            sample_id.encode()
            return sample_id
        except (DatasetError, UnicodeEncodeError) as error:
            raise DatasetError(
                f"{plan.dataset.uri}: {plan.dataset.unit} {row.number}: {error}"
            ) from error
    if row_number_of(content) is None:
        return content
    # Equal rows are told apart by their occurrence.
    count = digests.duplicates.get(content, 1) + 1
    while row_number_of(occurrence_id(content, count)) is not None:
        count += 1
    digests.duplicates[content] = count
    return occurrence_id(content, count)
