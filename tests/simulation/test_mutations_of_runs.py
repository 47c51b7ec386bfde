"""Mechanisms that hold between sessions, runs and judges, taken out in turn; the checks must see each."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from nel.config.identity import Identity
from nel.engine import preparation, resume_checks, run
from nel.engine.judging import endpoint_set, judges
from nel.engine.judging.endpoints import JudgeEndpoint
from nel.engine.judging.judges import Judges
from nel.engine.judging.replies import Reply, settle_round
from nel.engine.scorers.call import ScoringContext
from nel.engine.session import Session
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.judges import registry
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judge
from nel.models import cache as cache_module
from nel.models.cache import ResponseCache
from nel.models.client import Client
from nel.types import Response
from tests.simulation.mutating import Mutate, Patch, Suits, has_moved, violations
from tests.simulation.script import Script


def _keep_what_is_cut_off(patch: Patch) -> None:
    """Whatever the endpoint sent is found again."""
    put = ResponseCache.put

    def anything(self: ResponseCache, key: str, response: Response) -> None:
        put(self, key, replace(response, finish_reason="stop", error=None, text=response.text or " -"))

    patch.setattr(ResponseCache, "put", anything)


def _take_one_repeat_for_another(patch: Patch) -> None:
    """The same body has the same answer."""
    key = ResponseCache.key

    def without_repeat(self: ResponseCache, *, repeat: int, **more: Any) -> str:
        return key(self, repeat=0, **more)

    patch.setattr(ResponseCache, "key", without_repeat)


def _believe_the_file(patch: Patch) -> None:
    """What the cache holds is not compared with its digest."""
    patch.setattr(cache_module, "_digest", lambda text: "")


def _remember_before_reading(patch: Patch) -> None:
    """A judge's reply is kept for other runs whether it holds a verdict or not."""
    answering = Client.answering

    def remembering(self: Client, *request: Any, remembers: bool = True, **more: Any) -> Any:
        return answering(self, *request, remembers=True, **more)

    patch.setattr(Client, "answering", remembering)


def _keep_nothing(patch: Patch) -> None:
    """A second run pays for everything again."""
    patch.setattr(ResponseCache, "get", lambda self, key: None)


def _pay_for_what_is_found(patch: Patch) -> None:
    """An answer from the cache counts as one that was sent for."""
    answering = Client.answering

    @asynccontextmanager
    async def as_if_sent(self: Client, *request: Any, **more: Any) -> AsyncIterator[Response]:
        async with answering(self, *request, **more) as response:
            self.ledger.spent.requests += response.cached
            yield response

    patch.setattr(Client, "answering", as_if_sent)


def _settle_by_what_was_answered(patch: Patch) -> None:
    """A criterion, or an order, whose verdict could not be read is left out."""

    async def lenient(judge: Judge, case: Case, replies: Sequence[Reply], threads: Any) -> Any:
        known = next((reply for reply in replies if isinstance(reply.grade, Grade)), None)
        whole = [known if known is not None and not isinstance(one.grade, Grade) else one for one in replies]
        return await settle_round(judge, case, whole, threads)

    patch.setattr(judges, "settle_round", lenient)


def _know_questions_by_their_number(patch: Patch) -> None:
    """The reply to a question is found by when it was asked, and not by what was asked."""

    class Fixed:
        sha256 = staticmethod(lambda body: hashlib.sha256(b""))

    patch.setattr(judges, "hashlib", Fixed)


def _with_another_settle(settle: Callable[[Case, Sequence[Grade]], Grade], name: str) -> Mutate:
    def mutate(patch: Patch) -> None:
        def found(case: Case) -> Judge:
            judge = judge_for(case)
            return replace(judge, settle=settle) if judge.name == name else judge

        patch.setattr(registry, "judge_for", found)

    return mutate


def _let_the_first_order_decide(patch: Patch) -> None:
    """A winner that changes with the order wins all the same."""
    _with_another_settle(lambda case, grades: replace(grades[0], label="win"), "pairwise")(patch)


def _weigh_all_criteria_alike(patch: Patch) -> None:
    """A criterion's points are not looked at."""

    def share(case: Case, grades: Sequence[Grade]) -> Grade:
        return Grade(label="share", score=sum(grade.score for grade in grades) / len(grades))

    _with_another_settle(share, "rubric")(patch)


def _ask_while_scoring_only(patch: Patch) -> None:
    """A session that only scores asks what is left to ask."""
    patch.setattr(Session, "scoring_only", property(lambda self: False, lambda self, value: None))


def _forget_faults_while_scoring_only(patch: Patch) -> None:
    """What was never answered is forgotten, though nothing is going to be asked."""
    drop = Store.drop_outcomes

    def forget(self: Store, benchmark: int, *, only_retryable: bool, keep_unanswered: bool = False) -> None:
        drop(self, benchmark, only_retryable=only_retryable)

    patch.setattr(Store, "drop_outcomes", forget)


def _judge_without_what_is_stored(patch: Patch) -> None:
    """Replies of judges are only used where judges can be asked."""
    kept = Judges._stored_or_asked

    async def asking(self: Judges, *given: Any) -> Any:
        return await (kept if self._judge_endpoints else Judges._complete)(self, *given)

    patch.setattr(Judges, "_stored_or_asked", asking)


def _score_on_as_before(patch: Patch) -> None:
    """Another scorer, or another judge, scores only what has no score yet."""
    check = preparation.check_resume

    def never(*given: Any, **more: Any) -> bool:
        check(*given, **more)
        return False

    patch.setattr(preparation, "check_resume", never)


def _allow_any_judge(patch: Patch) -> None:
    """Another judge goes on where the first had stopped."""
    check = preparation.check_resume

    def lax(name: str, stored: Identity, now: Identity, *, allowed: frozenset[str] = frozenset()) -> bool:
        return check(name, stored, now, allowed=allowed | {"judge"})

    for module in (preparation, resume_checks):
        patch.setattr(module, "check_resume", lax)


def _find_replies_by_sample(patch: Patch) -> None:
    """What any judge said of a sample counts for each."""
    call = Snapshot.call

    def any_judge(self: Snapshot, benchmark: int, idx: int, repeat: int, key: str) -> str | None:
        found = call(self, benchmark, idx, repeat, key)
        if found is None and key.startswith(judges.KEY_PREFIX):
            query = "SELECT response FROM calls WHERE idx = ? AND repeat = ? AND key LIKE 'judge-%'"
            row = self._connection.execute(query, (idx, repeat)).fetchone()
            return None if row is None else str(row[0])
        return found

    patch.setattr(Snapshot, "call", any_judge)


def _refuse_too_late(patch: Patch) -> None:
    """A session is noted before it is known whether the run may go on."""
    prepare = run.prepare_job

    def noting(store: Store, *given: Any) -> Any:
        store.begin_session()
        store._connection.execute("COMMIT")
        store._connection.execute("BEGIN IMMEDIATE")
        return prepare(store, *given)

    patch.setattr(run, "prepare_job", noting)


def _give_judges_all_the_room(patch: Patch) -> None:
    """Judges have as many slots as they ask for."""
    patch.setattr(endpoint_set, "share_slots", lambda judge_endpoints: None)


def _wait_for_silent_judges(patch: Patch) -> None:
    """A sample waits for a slot of a judge, however long no request of it ends."""
    patch.setattr(JudgeEndpoint, "is_stalled", property(lambda self: False))


def _do_without_what_an_outage_took(patch: Patch) -> None:
    """Repeats and members of a panel that were lost while the others decided are never asked again."""
    patch.setattr(ScoringContext, "has_missing_grades", property(lambda self: False, lambda self, value: None))


def _is_cached(script: Script) -> bool:
    return script.caching == "none"


def _is_cached_with_cut_offs(script: Script) -> bool:
    return script.caching == "none" and "length" in script.kinds


def _is_cached_and_repeats(script: Script) -> bool:
    return script.caching is not None and script.repeats > 1 and script.stream_seed is None


def _is_damaged(script: Script) -> bool:
    return script.caching == "texts"


def _is_cached_and_hesitates(script: Script) -> bool:
    return script.caching == "none" and script.judging is not None and not script.judging.itself


def _asks_a_rubric(script: Script) -> bool:
    return script.judging is not None and script.judging.template == "rubric"


def _asks_about_pairs(script: Script) -> bool:
    return script.judging is not None and "seated" in script.judging.tempers


def _asks_several(script: Script) -> bool:
    return script.judging is not None and "last_mute" in script.judging.tempers


def _asks_several_among_kills(script: Script) -> bool:
    return script.judging is not None and script.judging.template != "binary_qa" and script.has_kills


def _scores_only(script: Script) -> bool:
    return any(session.scoring_only and session.trouble == "none" for session in script.sessions)


def _scores_faults(script: Script) -> bool:
    return _scores_only(script) and ("refused" in script.kinds or "poison" in script.kinds)


def _scores_judged(script: Script) -> bool:
    return _is_rescored(script) and script.judging is not None and not script.scorer_faults


def _is_rescored(script: Script) -> bool:
    return script.rescored_at is not None


def _has_another_judge(script: Script) -> bool:
    return script.judging is not None and script.judging.replaced_at > 0


def _is_crammed(script: Script) -> bool:
    return script.judging is not None and script.judging.thronged and script.judging.crammed and script.cap is None


def _has_silent_judges(script: Script) -> bool:
    judges = script.judging
    return judges is not None and judges.narrow and any(one.fate == "silent" for one in judges.outages)


def _may_do_without(script: Script) -> bool:
    judges = script.judging
    if judges is None or script.cap is not None or judges.needed == judges.size:
        return False
    return judges.down_before > 0 and len(judges.down_members) < judges.needed


_MUTATIONS: list[tuple[Mutate, Suits, tuple[str, ...]]] = [
    (_keep_what_is_cut_off, _is_cached_with_cut_offs, ("cache",)),
    (_take_one_repeat_for_another, _is_cached_and_repeats, ("cache",)),
    (_believe_the_file, _is_damaged, ("I1", "I3")),
    (_remember_before_reading, _is_cached_and_hesitates, ("cache",)),
    (_keep_nothing, _is_cached, ("cache",)),
    (_pay_for_what_is_found, _is_cached, ("budget",)),
    (_settle_by_what_was_answered, _asks_several, ("I1",)),
    (_know_questions_by_their_number, _asks_several_among_kills, ("I1", "I3")),
    (_let_the_first_order_decide, _asks_about_pairs, ("I1",)),
    (_weigh_all_criteria_alike, _asks_a_rubric, ("I1",)),
    (_ask_while_scoring_only, _scores_only, ("score",)),
    (_forget_faults_while_scoring_only, _scores_faults, ("score",)),
    (_judge_without_what_is_stored, _scores_judged, ("score",)),
    (_score_on_as_before, _is_rescored, ("I1", "I3")),
    (_score_on_as_before, _has_another_judge, ("I1", "I3")),
    (_allow_any_judge, _has_another_judge, ("judge change",)),
    (_find_replies_by_sample, _has_another_judge, ("I1", "I3")),
    (_refuse_too_late, _has_another_judge, ("judge change",)),
    (_give_judges_all_the_room, _is_crammed, ("fault 38",)),
    (_wait_for_silent_judges, _has_silent_judges, ("fault 38",)),
    (_do_without_what_an_outage_took, _may_do_without, ("I3",)),
]


def test_every_mechanism_between_runs_is_where_it_is_taken_out() -> None:
    """A mechanism that moves is followed here; the worlds themselves run in the slow tier alone."""
    assert [mutate.__name__ for mutate, _, _ in _MUTATIONS if has_moved(mutate)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("mutate", "suits", "named"), _MUTATIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_mechanism_between_runs_that_is_missing_is_seen(
    mutate: Mutate, suits: Suits, named: tuple[str, ...], monkeypatch: Patch
) -> None:
    """Without it, one of a handful of worlds breaks what it upholds."""
    assert violations(mutate, suits, named, monkeypatch) != []
