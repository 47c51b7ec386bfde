"""The rules by which authors of benchmarks read answers, where they published them.

Depends on the modules of those benchmarks. The audit of a run and its explanations call such a rule
``official``.
"""

from __future__ import annotations

from nel.scoring.readings import Read
from nel.types import ScorerInput


def official_reading(benchmark: str, sample: ScorerInput) -> Read | None:
    """Return a benchmark's published rule, or None, as where its prompt asks for another form."""
    if benchmark == "mmlu_pro":
        from nel.benchmarks.knowledge.mmlu.pro import (  # noqa: PLC0415 - a benchmark registers itself
            read_official,
        )

        return read_official
    if benchmark == "bbh":
        from nel.benchmarks.reasoning.bbh import (  # noqa: PLC0415 - as above
            read_official as read_answer_is,
        )

        return read_answer_is
    if benchmark == "gsm8k" and sample.sample is not None and "####" in str(sample.sample.input):
        from nel.benchmarks.mathematics.gsm8k import (  # noqa: PLC0415 - as above
            read_official as read_hashes,
        )

        return read_hashes
    return None
