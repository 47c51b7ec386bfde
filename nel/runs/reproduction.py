"""Checks that a run which is started again would still be comparable, before its endpoint is asked.

Depends on `nel.engine.planning.resolution` and `nel.comparison`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from nel.artifacts.files import directory_name
from nel.comparison.fields import Difference, part_of
from nel.comparison.sides import Side
from nel.config.identity import JUDGES_ADAPTED
from nel.config.schema import RunConfig
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, identity_of, stream_samples
from nel.engine.planning.resolution import make_plans
from nel.errors import UsageError

_ADAPTED: Final = "endpoint.adapted"
_DECODING: Final = "decoding"


def refuse_changed(config: RunConfig, before: Side) -> None:
    """Refuse a run whose dataset, prompts, scorer, judge or decoding are not an earlier one's.

    Reads every dataset once and sends nothing. What an endpoint's first answers change is not known
    here.

    Args:
        config: Of the run that is to be started.
        before: The earlier run.

    Raises:
        UsageError: The two could not be compared; the message names the fields with both values.
        NelError: A benchmark, dataset or setting is wrong.
    """
    fields_by_directory = {run.path.parent.name: run.fields for run in before.benchmarks.values()}
    for plan in make_plans(config):
        fields = fields_by_directory.get(directory_name(plan.slot))
        if fields is None or plan.eval_only:  # recorded answers cost nothing
            continue
        differences = list(_differences(fields, _fields_now(plan)))
        if differences:
            text = "; ".join(map(str, differences))
            raise UsageError(
                f"{plan.slot} would not be the same run again ({text}), and the two could not be"
                " compared; nothing was asked: undo the change, or start a new run and use nel"
                f" compare --despite {differences[0].part}"
            )


def _fields_now(plan: Plan) -> dict[str, object]:
    digests = Digests()
    for _ in stream_samples(plan, digests, lambda _: None):
        pass
    return identity_of(plan, digests).shown


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[Difference]:
    for name in sorted({*before, *now} - {_ADAPTED, JUDGES_ADAPTED}):
        identity_part = part_of(name)
        # An endpoint that refused a setting had it left out, which this run has yet to find out.
        if identity_part is None or (identity_part == _DECODING and _ADAPTED in before):
            continue
        if before.get(name) != now.get(name):
            yield Difference(
                part=identity_part, field=name, baseline=before.get(name), candidate=now.get(name)
            )
