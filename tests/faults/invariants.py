"""What holds after every fault, checked on a run's directory and on the server's log.

I1 one state for each (sample, repeat), I2 totals that agree everywhere, I3 kill and resume equal one go, I4 nothing is
paid twice, I6 strict JSON, I7 no secret in any file, I8 the exit code says what happened. Note: a check that finds no
file passes; so each reads the files that a run always writes and fails where they are absent.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from tests.faults.server import Server
from tests.support.runs import comparable, without_volatile

CANARY = "cnry5f/7+bQ==zz9917&k"
CANARY_ENV = "NEL_TEST_CANARY"
CAUSES = {"infra", "judge", "scorer", "sandbox", "budget", "cancelled", "bad_row"}
FAILURES = {"truncated", "empty", "refusal", "content_filter", "no_answer", "context_exceeded"}


@dataclass(frozen=True)
class Ran:
    """A run's directory after the run, read back."""

    run_dir: Path
    exit_code: int
    rows: list[dict[str, Any]]
    metrics: dict[str, Any]
    failures: dict[str, Any]
    bundle: dict[str, Any]
    stats: dict[str, Any]
    reason: str = ""

    @property
    def accounting(self) -> dict[str, Any]:
        found: dict[str, Any] = self.metrics["accounting"]
        return found

    @property
    def states(self) -> list[str]:
        """Of each row: ``scored``, the model failure's kind, or ``cause:kind``."""
        return [state_of(row) for row in self.rows]

    @property
    def attempts(self) -> list[int]:
        return [row["timing"]["attempts"] for row in self.rows]


def state_of(row: dict[str, Any]) -> str:
    """Return a row's state in a word."""
    outcome = row["outcome"]
    if outcome["state"] == "scored":
        return "scored"
    return str(outcome["kind"]) if outcome["state"] == "model_failure" else f"{outcome['cause']}:{outcome['kind']}"


def read_run(run_dir: Path, exit_code: int, *, benchmark: str = "gsm8k", reason: str = "", killed: bool = False) -> Ran:
    """Read what a run wrote, strictly, and check everything that needs no more than that.

    Args:
        killed: A SIGKILL may have left a temporary file.
    """
    folder = run_dir / benchmark
    text = (folder / "results.jsonl").read_bytes().decode("utf-8", "strict")
    assert text == "" or text.endswith("\n")
    rows = [strict_json(line) for line in text.split("\n")[:-1]]
    names = ("metrics", "failure_analysis", f"eval-{benchmark}", "runtime_stats")
    metrics, failures, bundle, stats = (strict_json((folder / f"{name}.json").read_bytes().decode()) for name in names)
    ran = Ran(run_dir, exit_code, rows, metrics, failures, bundle, stats, reason)
    one_state_each(ran)
    totals_agree(ran)
    no_secret(run_dir)
    exit_code_says_it(ran)
    leftovers = [path.name for path in run_dir.rglob("*") if path.name.endswith(".tmp") or path.name == ".probe"]
    assert killed or leftovers == []
    return ran


def strict_json(text: str) -> Any:
    """Parse JSON that has no NaN, no infinity and no duplicate key; a lone surrogate can only be an escape."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), f"a key stands twice: {[key for key, _ in pairs]}"
        return found

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def one_state_each(ran: Ran) -> None:
    """I1: exactly one known state for each (sample, repeat), and no reward where there is no score."""
    keys = Counter((row["problem_idx"], row["repeat"]) for row in ran.rows)
    assert not keys or max(keys.values()) == 1
    for row in ran.rows:
        outcome, reward = row["outcome"], row["reward"]
        if outcome["state"] == "unscored":
            assert reward is None
            assert outcome["cause"] in CAUSES
        elif outcome["state"] == "model_failure":
            assert reward == 0.0
            assert outcome["kind"] in FAILURES
        else:
            assert outcome["state"] == "scored"
            assert isinstance(reward, float)
            assert math.isfinite(reward)


def totals_agree(ran: Ran, *, stdout: dict[str, Any] | None = None) -> None:
    """I2: the same totals in every file, and in ``--json`` where it was printed."""
    states = Counter(row["outcome"]["state"] for row in ran.rows)
    accounting = ran.accounting
    assert accounting["n_total"] == len(ran.rows)
    assert accounting["n_scored"] == states["scored"]
    assert accounting["n_model_failure"] == states["model_failure"]
    assert accounting["n_unscored"] == states["unscored"]
    assert accounting["n_not_asked"] == states["not_asked"]
    assert ran.failures["accounting"] == accounting
    assert ran.bundle["benchmark"]["accounting"] == accounting
    causes = Counter(row["outcome"]["cause"] for row in ran.rows if row["outcome"]["cause"])
    assert {name: part["n"] for name, part in accounting["unscored"].items()} == dict(causes)
    named = Counter(state for state in map(state_of, ran.rows) if state != "scored")
    counted = {name: part["count"] for name, part in ran.failures["kinds"].items()}
    assert {name: counted.get(name) for name in named} == dict(named)
    if stdout is not None:
        (printed,) = stdout["benchmarks"].values()
        assert printed["accounting"] == accounting
        assert stdout["exit_code"] == ran.exit_code


def same_artifacts(first: Ran, second: Ran) -> None:
    """I3: two runs have the same artifacts but for what may differ; the endpoint's port and the
    dataset's path are not compared, and the first is part of an identity."""
    assert without_volatile(first.rows) == without_volatile(second.rows)
    for name in ("metrics", "failures", "bundle"):
        ours, theirs = comparable(getattr(first, name)), comparable(getattr(second, name))
        for part in (ours, theirs):
            if "config" in part:
                part["config"] = {**part["config"], "base_url": None}
                part["config"]["dataset"] = {**part["config"]["dataset"], "uri": None}
                part["identity"] = part["identity_fields"] = ""
        differing = {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}
        assert ours.keys() == theirs.keys()
        assert differing == {}


def nothing_paid_twice(server: Server, *, at_most: int = 0) -> None:
    """I4: an answer that was given whole is not asked for again, but for so many that a kill took with it."""
    done: set[str] = set()
    again = 0
    for call in sorted(server.calls, key=lambda call: call.at):
        again += call.digest in done
        if call.good and call.answered:
            done.add(call.digest)
    assert again <= at_most, f"{again} answers were paid for twice"


def no_secret(*places: Path | str | bytes, secret: str = CANARY) -> None:
    """I7: the secret is in no file and no text: not raw, percent-encoded, in base64, escaped or as a prefix."""
    encoded = base64.b64encode(secret.encode()).decode()
    spellings = {secret, quote(secret, safe=""), quote_plus(secret), encoded, encoded.rstrip("=")[:-1]}
    spellings |= {json.dumps(secret)[1:-1], repr(secret)[1:-1], secret[:8], secret.encode().hex()}
    for place in places:
        for name, data in _contents(place):
            for spelling in spellings:
                assert spelling.encode() not in data, f"the key is in {name}"


def exit_code_says_it(ran: Ran) -> None:
    """I8: 0 only when the run is whole and everything is scored; 3 when something is not."""
    complete = ran.metrics["complete"]
    if ran.exit_code == 0:
        assert complete
        assert ran.accounting["n_unscored"] == 0
    if complete and ran.accounting["n_unscored"]:
        assert ran.exit_code != 0
    if not complete:
        assert ran.exit_code in (2, 3, 75, 130, 143)


def _contents(place: Path | str | bytes) -> Iterable[tuple[str, bytes]]:
    if isinstance(place, Path):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            assert not path.name.encode().count(CANARY.encode())
            if path.is_file():
                yield str(path), path.read_bytes()
    else:
        yield "text", place.encode() if isinstance(place, str) else place
