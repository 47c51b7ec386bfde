"""What must hold of every world, whatever happened in it. Each violation is one line that names its invariant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from nel.errors import EXIT_STOPPED_EARLY
from tests.simulation.endpoint import Sent, expected
from tests.simulation.script import Script
from tests.simulation.world import Past, Place, World
from tests.support.runs import comparable, read_json, read_lines

_REQUESTS_MIN = 3
_NEAR = 1e-9
_SETTLED = ("sample_id", "repeat", "outcome", "reward", "scoring_details", "model_response", "expected_answer")
"""What of a result does not depend on how often its episode began."""
_RETRIES_AT_ONCE, _RETRIES_PER_SECOND, _RETRY_SHARE = 10.0, 5.0, 0.1


def violations(world: World, reference: Path) -> list[str]:
    """Return every way in which a finished world broke what must hold.

    Args:
        reference: The run directory of the same samples in a world without trouble.
    """
    found = list(world.violations)
    found += _of_artifacts(world.script, world.run_dir / "simulated")
    found += _of_equality(world.run_dir / "simulated", reference / "simulated")
    found += _of_keys([sent for endpoint in world.endpoints for sent in endpoint.log])
    for past in world.past:
        for endpoint in world.endpoints:
            sent = [one for one in endpoint.log if one.session == past.number]
            later = {one.place for one in endpoint.log if one.session > past.number}
            found += _of_session(past, endpoint.model, sent, later)
            found += _of_retries(past, sent)
        found += _of_answers(past)
    found += _of_budget(world)
    found += _of_outages(world)
    found += _of_judges(world)
    found += _of_verdicts_asked_again(world)
    found += _of_scoring_only(world)
    return found


def _of_artifacts(script: Script, directory: Path) -> Iterator[str]:
    """I1 and I2: every sample's state is the one its kind stands for, and all files agree on the totals."""
    lines = read_lines(directory / "results.jsonl")
    if len(lines) != len(script.kinds) * script.repeats:
        yield f"I2 results.jsonl has {len(lines)} lines for {len(script.kinds)} x {script.repeats} samples"
    counts: dict[str, int] = defaultdict(int)
    for line in lines:
        outcome, kind = line["outcome"], script.kinds[line["problem_idx"]]
        counts[outcome["state"]] += 1
        if (outcome["state"], outcome["kind"]) != expected(script, line["problem_idx"]):
            yield f"I1 sample {line['problem_idx']} ({kind}) ended {outcome}"
        if (line["reward"] is None) != (outcome["state"] == "unscored"):
            yield f"I1 sample {line['problem_idx']} is {outcome['state']} with the reward {line['reward']}"
        wanted = _reward(script, line["problem_idx"])
        if wanted is not None and (line["reward"] is None or abs(line["reward"] - wanted) > _NEAR):
            yield f"I1 sample {line['problem_idx']} ({kind}) is worth {wanted} and got {line['reward']}"
        for record in line["scoring_details"].get("judgements", []):
            yield from _of_repeats(line["problem_idx"], record["opinions"])
    totals = {
        "n_total": len(lines),
        "n_scored": counts["scored"],
        "n_model_failure": counts["model_failure"],
        "n_unscored": counts["unscored"],
        "n_not_asked": counts["not_asked"],
    }
    bundle = read_json(directory / "eval-simulated.json")["benchmark"]
    for name, accounting in (
        ("metrics.json", read_json(directory / "metrics.json")["accounting"]),
        ("failure_analysis.json", read_json(directory / "failure_analysis.json")["accounting"]),
        ("bundle", bundle["accounting"]),
    ):
        if {total: accounting[total] for total in totals} != totals:
            yield f"I2 {name} says {accounting}, results.jsonl has {totals}"


def _of_repeats(idx: int, opinions: list[dict[str, Any]]) -> Iterator[str]:
    for opinion in opinions:
        given = [one for one in opinion["repeats"] if one is not None]
        if opinion["grade"] is not None and opinion["repeats"] and len(given) * 2 <= len(opinion["repeats"]):
            yield f"I1 sample {idx}: {len(given)} of {len(opinion['repeats'])} repeats decided for {opinion['judge']}"


def _reward(script: Script, idx: int) -> float | None:
    """Return what a sample is worth, None where that takes a look at its answer, or where it has no score."""
    kind, judging = script.kinds[idx], script.judging
    if expected(script, idx)[0] != "scored":
        return None
    if judging is not None and judging.ways[idx] != "rule":
        return judging.worth(idx)
    return float(script.rescored_at is None) if kind == "right" else None


def _of_equality(directory: Path, reference: Path) -> Iterator[str]:
    """I3: what was killed and resumed equals what was not.

    An episode that began again, or whose model read of a call that a kill interrupted, differs in what it cost and said.
    """
    names = ["results.jsonl", "metrics.json", "eval-simulated.json", "failure_analysis.json"]
    unlike = {number for where in (directory, reference) for number in _begun_again(where / names[0])}
    for name in names[:1] if unlike else names:
        here, there = (_comparable(where / name) for where in (directory, reference))
        for number, (mine, theirs) in enumerate(zip(here, there, strict=True)):
            compared = _SETTLED if number in unlike else sorted({*mine, *theirs})
            parts = [part for part in compared if mine.get(part) != theirs.get(part)]
            if parts:
                yield f"I3 {name} differs in {parts}: {[(mine.get(part), theirs.get(part)) for part in parts]}"[:2000]


def _begun_again(results: Path) -> Iterator[int]:
    """Yield the lines of episodes that had another attempt, or a call that was interrupted."""
    for number, line in enumerate(read_lines(results)):
        timing = line["timing"].get("episode") or {"attempts": 1}
        if timing["attempts"] != 1 or "interrupted" in (line.get("episode") or {}).get("tool_errors", {}):
            yield number


def _comparable(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        return [comparable(read_json(path))]
    return list(map(comparable, read_lines(path)))


def _of_keys(log: list[Sent]) -> Iterator[str]:
    """One request keeps its idempotency key over all its attempts; no two requests share one."""
    places: dict[str, Place] = {}
    keys: dict[Place, str] = {}
    for sent in log:
        if places.setdefault(sent.key, sent.place) != sent.place:
            yield f"keys: {sent.key} stands for two requests of sample {sent.sample}"
        if keys.setdefault(sent.place, sent.key) != sent.key:
            yield f"keys: a request of sample {sent.sample} was sent under two keys"


def _of_session(past: Past, model: str, log: list[Sent], asked_later: set[Place]) -> Iterator[str]:
    """I4 and I5 of one session and one endpoint."""
    traffic = past.traffic[model]
    where = f"session {past.number} ({past.trouble}, concurrency {traffic.concurrency} of {model})"
    for sent in log:
        if sent.place in past.committed_before:
            yield f"I4 {where}: sample {sent.sample} was asked again though its answer was on disk"
    answered: set[Place] = set()
    for sent in log:
        if sent.place in answered:
            yield f"I4 {where}: sample {sent.sample} was asked again after its answer, without a kill"
        if sent.answered:
            answered.add(sent.place)
    answered = {sent.place for sent in log if sent.answered and sent.counts}
    at_risk = {*traffic.in_flight_at_end, *(answered - past.committed_after)}
    again = at_risk & asked_later
    if len(again) > traffic.concurrency:
        yield f"I4 {where}: {len(again)} requests were sent again"
    if past.ending is not None and past.ending.exit_code == 0 and answered - past.committed_after:
        yield f"I4 {where}: ended well with {len(answered - past.committed_after)} answers that are not on disk"
    if traffic.most_in_flight > traffic.concurrency:
        yield f"I5 {where}: {traffic.most_in_flight} requests were in flight at once"
    if traffic.permits_at_end:
        yield f"I5 {where}: {traffic.permits_at_end} permits were never given back"


def _of_answers(past: Past) -> Iterator[str]:
    """I4 of one session, and what it counted."""
    if past.committed_before - past.committed_after:
        yield f"I4 session {past.number}: {len(past.committed_before - past.committed_after)} answers on disk were lost"
    if past.counted > past.outcomes_committed:
        yield (
            f"I4 session {past.number}: {past.counted} outcomes were counted and {past.outcomes_committed} are on disk"
        )


def _of_retries(past: Past, log: list[Sent]) -> Iterator[str]:
    """Retries keep to their share of the requests and the few a second that are always allowed."""
    seen: dict[str, Sent] = {}
    retries, first = 0, None
    allowed = _RETRIES_AT_ONCE + _RETRY_SHARE * len({sent.key for sent in log}) + 1
    for sent in log:
        before = seen.get(sent.key)
        seen[sent.key] = sent
        if before is None or before.fate == "hung_up":
            continue
        first = before.over if first is None else first
        retries += 1
        if retries > allowed + _RETRIES_PER_SECOND * (sent.at - first):
            yield f"retries: {retries} after {sent.at - first:.1f} s in session {past.number}"
            return


def _of_budget(world: World) -> Iterator[str]:
    """Caps hold for all that the endpoint counted, but for what a killed session could not write down."""
    spent, unknown, unwritten = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0
    names = ("max_requests", "max_tokens_total", "max_cost")
    log = [sent for endpoint in world.endpoints for sent in endpoint.log]
    for past in world.past:
        if past.known is not None:
            known = (past.known.requests, past.known.tokens, float(past.known.cost))
            unknown = [max(0.0, spent[i] - known[i]) for i in range(3)]
            if unknown[0] > unwritten:
                yield f"budget: session {past.number} does not know of {unknown[0] - unwritten:g} requests on disk"
        mute = past.ending is None or past.trouble == "disk_full"  # neither can write how it ended
        for sent in log:
            if sent.session == past.number:
                for i, value in enumerate((sent.processed, sent.tokens, sent.cost)):
                    spent[i] += value
                unwritten += mute and sent.processed and sent.place not in past.stored_after
        n_sent = len(log) + sum(endpoint.n_neutral for endpoint in world.endpoints)
        if world.spent.requests > n_sent and past is world.past[-1]:
            yield f"budget: the run says that it sent {world.spent.requests} requests and sent {n_sent}"
        which = names.index(past.cap[0]) if past.cap is not None else 0
        if past.cap is not None and spent[which] > past.cap[1] * (1 + 1e-6) + unknown[which]:
            yield (
                f"budget: {spent[which]:g} of {past.cap[0]}={past.cap[1]:g} after session {past.number}, "
                f"{unknown[which]:g} of it unknown"
            )


def _of_outages(world: World) -> Iterator[str]:
    """Where nothing but outages went wrong, none of them costs a sample.

    But for one that fewer than three requests saw, or only such as had failed before the last answer: the breaker takes
    those for requests that fail by themselves.
    """
    script = world.script
    if script.profile != "outages" or script.cap is not None:
        return
    for past in world.past:
        if past.ending is None or past.ending.exit_code != 0:
            continue
        for idx, kind in past.lost:
            if script.kinds[idx] not in ("refused", "poison") and _was_one_of_many(world, past, idx):
                yield f"outage: session {past.number} lost sample {idx} by {kind}"


def _of_judges(world: World) -> Iterator[str]:
    """Fault 38: a judge that is down parks samples, holds nothing up, and ends a session resumably."""
    for past in world.past:
        where = f"session {past.number} ({past.trouble})"
        parked = [idx for idx, kind in past.unjudged if kind == "parked"]
        if parked:
            yield f"judges: {where} committed {len(parked)} samples that only wait for their judge"
        if past.ending is None:
            continue
        out = [idx for idx, kind in past.unjudged if kind in ("outage", "not_asked")]
        if past.ending.exit_code == 0 and out and not past.scoring_only:
            yield f"judges: {where} ended well, and {len(out)} samples have no verdict since their judge was down"
        if past.ending.reason.startswith("the judge is down"):
            if past.ending.exit_code != EXIT_STOPPED_EARLY:
                yield f"judges: {where} ended with {past.ending.exit_code} since the judge is down"
            if past.unanswered:
                yield f"fault 38: {where} left {past.unanswered} samples unanswered since the judge is down"


def _of_verdicts_asked_again(world: World) -> Iterator[str]:
    """An unreadable reply is asked for again in every later session that ends well."""
    for before, past in pairwise(world.past):
        if past.ending is None or past.ending.exit_code != 0 or past.scoring_only:
            continue
        asked = {sent.sample for endpoint in world.endpoints for sent in endpoint.log if sent.session == past.number}
        still = {idx for idx, _ in past.unjudged}
        for idx, kind in before.unjudged:
            if idx in still and idx not in asked:
                yield f"judges: session {past.number} did not ask again for sample {idx} ({kind})"


def _of_scoring_only(world: World) -> Iterator[str]:
    """A session that only scores sends nothing, forgets no answer and no fault, and scores again what was scored."""
    for before, past in pairwise(world.past):
        if not past.scoring_only:
            continue
        if past.asked:
            yield f"score: session {past.number} only scores and sent {past.asked} requests"
        if past.unanswered > before.unanswered:
            yield f"score: session {past.number} forgot {past.unanswered - before.unanswered} answers or faults"
        is_same = past.scorer == before.scorer
        if past.ending is None or past.ending.exit_code != 0 or (world.script.scorer_faults and not is_same):
            continue
        may_fault = bool(world.script.scorer_faults)  # the scorer's faults make unscored what a resume scores again
        lost = [
            place
            for place, reward in before.scored.items()
            if (is_same and past.scored.get(place, reward) != reward) or (place not in past.scored and not may_fault)
        ]
        if lost:
            yield f"score: session {past.number} took the score of {lost[:5]} away or changed it"


def _was_one_of_many(world: World, past: Past, idx: int) -> bool:
    """Return whether the failures in a row that cost a sample were those of enough requests to open the breaker."""
    log = [sent for sent in world.endpoint.log if sent.session == past.number]
    log.sort(key=lambda sent: sent.over)  # as the client saw it: one late answer ends a streak
    last = max(number for number, sent in enumerate(log) if sent.sample == idx)
    streak: set[str] = set()
    number = last + 1
    while number and not (log[number - 1].answered or log[number - 1].fate in ("context", "bad_request")):
        number -= 1
    for sent in log[number : last + 1]:
        streak.add(sent.key)
    before = {sent.key for sent in log[:number] if not sent.answered}
    return len(streak) >= _REQUESTS_MIN and not streak <= before
