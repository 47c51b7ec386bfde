"""`retrieval_metrics`: how well a ranked list of ids finds the relevant ones.

Depends on the dataset row alone, which holds both lists. Note: an id that is retrieved twice is one
hit. It counts at its first place, and its later places stay as misses, so that no number exceeds 1
and repeating an id is never worth it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from nel.errors import DatasetError
from nel.scoring.declarations import in_process
from nel.types import ScorerInput


@in_process
def retrieval_metrics(sample: ScorerInput) -> dict[str, float]:
    """Return a ranking's precision@k, recall@k, reciprocal rank and normalised discounted gain.

    Rule: ``metadata["retrieved"]`` is the ranking, best first, ``metadata["relevant"]`` the ids it
    should hold, and ``metadata["k"]`` how far down it is read; without k, to its end. With hits the
    relevant ids in the first k::

        precision_at_k = hits / k
        recall_at_k    = hits / relevant
        mrr            = 1 / rank of the first relevant id in the whole ranking, 0 without one
        ndcg           = sum of 1 / log2(rank + 1) over hits, divided by that sum for
                         the ranks 1 to min(k, relevant)

    Source: Manning et al., Introduction to Information Retrieval, chapter 8; NDCG of Järvelin and
    Kekäläinen, 2002 (https://doi.org/10.1145/582415.582418) with relevance 0 or 1, as
    `sklearn.metrics.ndcg_score`.

    Edge cases: ids are compared as ``str(id)``, so 1 equals "1", and 1.0 does not. An id retrieved
    twice is a hit at its first place only; an id listed twice as relevant is one. With k above the
    length of the ranking precision still divides by k. An empty ranking scores 0.0 everywhere. The
    response is not read.

    Returns:
        ``precision_at_k``, ``recall_at_k``, ``mrr`` and ``ndcg`` between 0 and 1.

    Raises:
        DatasetError: The row lacks a field, a field is not a list, ``relevant`` is empty, or k is
            not an integer above 0.

    >>> row = {"retrieved": ["d1", "d7", "d3"], "relevant": ["d3", "d1"], "k": 2}
    >>> scores = retrieval_metrics(ScorerInput(response="", target=None, metadata=row))
    >>> scores["precision_at_k"], scores["recall_at_k"], scores["mrr"], round(scores["ndcg"], 4)
    (0.5, 0.5, 1.0, 0.6131)
    """
    row = sample.metadata
    retrieved, relevant = _ids(row, "retrieved"), set(_ids(row, "relevant"))
    if not relevant:
        raise DatasetError(
            '"relevant" is empty, so recall is undefined; drop the row or name a relevant id'
        )
    k = _depth(row.get("k"), len(retrieved))
    ranks = _hit_ranks(retrieved, relevant)
    top = [rank for rank in ranks if rank <= k]
    return {
        "precision_at_k": len(top) / k if k else 0.0,
        "recall_at_k": len(top) / len(relevant),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "ndcg": _gain(top) / _gain(range(1, min(k, len(relevant)) + 1)) if top else 0.0,
    }


def _ids(row: Mapping[str, object], field: str) -> list[str]:
    value = row.get(field)
    if value is None:
        state = "is null" if field in row else "is missing"
        has = ", ".join(f'"{name}"' for name in row) or "no fields"
        raise DatasetError(
            f'"{field}" {state}; give "retrieved" and "relevant" as lists of ids; it has {has}'
        )
    if not isinstance(value, (list, tuple)):
        raise DatasetError(f'"{field}" is a {type(value).__name__}; give a list of ids')
    return [str(each) for each in value]


def _depth(k: object, length: int) -> int:
    if k is None:
        return length
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise DatasetError(f'"k" is {k!r:.40}; give an integer of 1 or more, or leave it out')
    return k


def _hit_ranks(retrieved: list[str], relevant: set[str]) -> list[int]:
    """Return the ranks, from 1, at which relevant ids occur for the first time."""
    unseen = set(relevant)
    ranks = []
    for rank, each in enumerate(retrieved, start=1):
        if each in unseen:
            unseen.remove(each)
            ranks.append(rank)
    return ranks


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)
