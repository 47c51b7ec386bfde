"""Changes the settings of all requests where a reasoning model's server asks for it.

That is done only before the first answer.

The run's identity is stored with the changes before anything is asked with them, and a resume makes
the same ones. What was in flight meanwhile was asked with other settings: its answer is not stored,
and it is asked again.
"""

from __future__ import annotations

import logging

from nel.engine.asking.asker import Asker
from nel.engine.asking.work import WorkItem
from nel.engine.preparation import plan_with_fields
from nel.models.adaptation import changes_for, in_words
from nel.types import ResponseError

_LOG = logging.getLogger(__name__)


async def adapt(item: WorkItem, error: ResponseError, asker: Asker) -> bool:
    """Make the changes that a refusal of a sample asks for; return whether it asks for any.

    Args:
        item: The sample.
        error: The refusal.
        asker: Of the session; sends with the settings, and takes the changes.
    """
    plan, runner, opened = item.job.plan, asker.runner, asker.opened
    before = runner.generation_of(plan)
    changes = changes_for(error, before)
    if not changes or plan.protocol == "completions":
        return False
    runner.changes = {**runner.changes, **changes}
    runner.version += 1
    plans = {job.key: job.plan for job in opened.jobs}
    for key, _, _, plan_json in runner.snapshot.benchmarks():
        if key in plans:
            adapted = plans[key].adapting(runner.changes)
            if adapted.adapted:  # recorded answers have nothing to change
                await runner.store.put_plan(key, plan_with_fields(plan_json, adapted.fields))
    note = (
        f"{plan.model}: {in_words(changes, before)}, as the endpoint asks for; the run's"
        " identity says so"
    )
    opened.progress.notes.append(note)
    _LOG.warning("%s", note)
    return True
