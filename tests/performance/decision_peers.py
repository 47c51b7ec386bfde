"""nel beside four packages that decide from evaluation results, on the same recorded verdicts: what does each answer?

    python tests/performance/decision_peers.py [--environments DIR] [--tools nel,evalsig] [--cases …] [--write PAGE]

The baseline is Llama 3.1 8B on the 12,032 questions of MMLU-Pro with the official verdicts. Each candidate is the
baseline with seeded planted changes, so that the right answer is known. A package gets the case in its own format and
is started by its own command, with its defaults but for the margin. A cell is what it printed or wrote.
NeMo Evaluator needs Python 3.12; without one it is left out, and the table says so.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, norm, t

from tests.support.compared import line, write_run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mmlu_pro_outputs_llama31_8b.jsonl.gz"
PINS = {
    "evalsig": ("evalsig==0.1.2",),
    "evalproof": ("evalproof==0.2.1",),
    "evalstats": ("evalstats==0.3.3",),
    "nemo": ("nemo-evaluator[stats]==0.3.0",),
}
NEEDS_312 = {"nemo"}
TOOLS = ("nel", *PINS)
SECONDS_MAX = 600
SHOWN_MAX = 180
MARKS = "<!-- table: begin -->", "<!-- table: end -->"


@dataclass(frozen=True, slots=True)
class Row:
    """One answer of one side."""

    id: str
    category: str
    expected: str
    score: float | None
    """NaN and None are what the case gives, not what is unknown."""
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """Two sides, what was planted, and what a right answer must be."""

    title: str
    baseline: list[Row]
    candidate: list[Row]
    margin: float
    """The largest drop that may pass, 0 to 1."""
    reference: str
    """Computed here with scipy or by counting."""
    is_clustered: bool = False
    is_sequential: bool = False
    effect: float = 0.0
    """A difference to plan for, 0 to 1; 0 where nothing is planned."""


Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Base:
    """The recorded verdicts."""

    rows: list[Row]
    scores: Scores

    def changed(self, losses: int, wins: int, seed: int = 7, among: Callable[[Row], bool] | None = None) -> list[Row]:
        """Return the rows with so many right ones turned wrong, and wrong ones right."""
        allowed = np.array([among is None or among(row) for row in self.rows])
        rng = np.random.default_rng(seed)
        right = rng.permutation(np.flatnonzero((self.scores == 1) & allowed))[:losses]
        wrong = rng.permutation(np.flatnonzero((self.scores == 0) & allowed))[:wins]
        scores = self.scores.copy()
        scores[right], scores[wrong] = 0.0, 1.0
        return [replace(row, score=float(one)) for row, one in zip(self.rows, scores, strict=True)]


def read_base() -> Base:
    """Return the verdicts of the recorded outputs: the letter that was read is the answer, or not."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        found = [json.loads(text) for text in file]
    rows = [
        Row(str(one["question_id"]), one["category"], one["answer"], float(one["pred"] == one["answer"]))
        for one in found
    ]
    return Base(rows, np.array([row.score for row in rows], dtype=np.float64))


def exact(base: Base, candidate: list[Row]) -> str:
    """Return the planted difference with scipy's exact binomial test."""
    change = np.array([row.score for row in candidate], dtype=np.float64) - base.scores
    wins, losses = int((change > 0).sum()), int((change < 0).sum())
    p_value = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    return f"Δ {100 * change.mean():+.2f} points ({losses} lost, {wins} won), exact p {p_value:.2g}"


def needed(base: Base, candidate: list[Row]) -> str:
    """Return the questions that McNemar's test needs (Connor 1987, Biometrics 43, 207-211)."""
    change = np.array([row.score for row in candidate], dtype=np.float64) - base.scores
    share, effect = float((change**2).mean()), float(change.mean())
    root = norm.ppf(0.975) * math.sqrt(share) + norm.ppf(0.8) * math.sqrt(share - effect**2)
    return f"Connor's formula: {math.ceil((root / effect) ** 2):,} questions for {points(effect)} points"


def clustered(base: Base, candidate: list[Row]) -> str:
    """Return the intervals of CR1 errors with t(G - 1) and with z, by hand."""
    change = np.array([row.score for row in candidate], dtype=np.float64) - base.scores
    names = np.array([row.category for row in candidate])
    sums = np.array([(change - change.mean())[names == one].sum() for one in np.unique(names)])
    count, n = len(sums), len(change)
    error = math.sqrt(count / (count - 1) * float((sums**2).sum())) / n
    half = float(t.ppf(0.975, count - 1)) * error
    mean = float(change.mean())
    return (
        f"Δ {points(mean)}; CR1 and t13 {interval(mean - half, mean + half)}; "
        f"CR1 and z {interval(mean - 1.96 * error, mean + 1.96 * error)}"
    )


def cases(base: Base) -> dict[str, Case]:
    """Return the cases by name."""
    rows = base.rows
    planted, far = base.changed(421, 180), base.changed(3600, 183)
    better, worse = base.changed(1184, 1250), base.changed(1250, 1184)
    first_nan = next(place for place, row in enumerate(rows) if row.score == 1)
    not_a_number = [replace(row, score=math.nan) if place == first_nan else row for place, row in enumerate(rows)]
    right = [place for place, row in enumerate(rows) if row.score == 1]
    dropped = set(right[:532])
    short = [row for place, row in enumerate(better) if place not in dropped]
    copies = [replace(row, score=0.0) for row in better[:6000]]
    undecided = {place for place, row in enumerate(rows) if row.score == 0}
    undecided = set(sorted(undecided)[:469])
    unread = [replace(row, score=None) if place in undecided else row for place, row in enumerate(rows)]
    half = [replace(row, expected="changed") for row in rows[:6000]]
    twice = [*rows, *(replace(row, repeat=1) for row in rows)]
    second = [*better, *(replace(row, score=0.0, repeat=1) for row in better)]
    by_category = base.changed(430, 90, among=lambda row: row.category in ("law", "history", "health"))
    ordered = _in_blocks(base)
    return {
        "planted": Case("2 points worse, 421 lost and 180 won", rows, planted, 0.01, exact(base, planted)),
        "far": Case("28 points worse", rows, far, 0.005, exact(base, far)),
        "same": Case("the run against itself", rows, rows, 0.005, exact(base, rows)),
        "better": Case("half a point better, not significant", rows, better, 0.005, exact(base, better)),
        "margin": Case(
            "half a point worse, margin 2 points", rows, worse, 0.02,
            f"{exact(base, worse)}; smallest effect seen {100 * 2.8016 * math.sqrt(2434 / 12032 / 12032):.2f} points",
        ),
        "nan": Case("one score is NaN", rows, not_a_number, 0.005, "no number: an error"),
        "epochs": Case(
            "two answers a question, the second always wrong", twice, second, 0.005,
            f"Δ {100 * (np.mean([row.score for row in second]) - base.scores.mean()):+.2f} points over both answers",
        ),
        "short": Case("532 right answers missing in the candidate", rows, short, 0.005, "not the same questions"),
        "copies": Case("6,000 ids a second time, with score 0", rows, [*better, *copies], 0.005, exact(base, better)),
        "undecided": Case(
            "469 wrong answers set undecided", rows, unread, 0.005,
            "nothing is better: the difference is 0 when they are counted wrong",
        ),
        "half": Case("6,000 of 12,032 questions, other gold answers", rows, half, 0.05, "not the same questions"),
        "clusters": Case(
            "14 categories as clusters, changes in three", rows, by_category, 0.02, clustered(base, by_category), True
        ),
        "looks": Case(
            "looks in the order of ids, ids by category", *ordered, 0.005,
            "Δ +0.55 points in all; the first three categories alone show the opposite", is_sequential=True,
        ),
        "plan": Case(
            "questions for a power of 80 % to see that half point", rows, better, 0.005, needed(base, better),
            effect=66 / 12032,
        ),
    }  # fmt: skip


def _in_blocks(base: Base) -> tuple[list[Row], list[Row]]:
    """Return both sides with ids that sort by category; the gains are planted in the categories that sort last."""
    order = sorted(range(len(base.rows)), key=lambda place: (base.rows[place].category, place))
    first = set(sorted({row.category for row in base.rows})[:3])
    lost = base.changed(180, 20, among=lambda row: row.category in first)
    won = base.changed(124, 350, among=lambda row: row.category not in first)
    changed = [lost[place] if base.rows[place].category in first else won[place] for place in range(len(won))]
    sides = [[replace(rows[place], id=f"{n:05}") for n, place in enumerate(order)] for rows in (base.rows, changed)]
    return sides[0], sides[1]


def points(share: float) -> str:
    """Return a difference in points."""
    return f"{100 * share:+.2f}"


def interval(lower: float, upper: float) -> str:
    """Return an interval in points."""
    return f"[{100 * lower:+.2f}, {100 * upper:+.2f}]"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """Return the last two lines it wrote, without paths and links."""
        written = [one.strip() for one in (self.err or self.out).splitlines() if one.strip(" .")]
        kept = [one for one in written if "://" not in one and not one.startswith("^")] or ["nothing"]
        text = re.sub(r"\S*/(\S+)", r"\1", " ".join(kept[-2:]))
        return text if len(text) <= SHOWN_MAX else f"{text[: SHOWN_MAX - 1]}…"


def run(*command: object, cwd: Path) -> Done:
    """Run a command to its end; what takes longer than ten minutes is stopped, with status -1."""
    try:
        done = subprocess.run(
            [*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return Done(-1, "", f"still running after {SECONDS_MAX} s")
    return Done(done.returncode, done.stdout, done.stderr)


def nel(case: Case, place: Path, programs: Path) -> str:
    """Return what `nel compare` and `nel gate` answer."""
    for name, side in (("a", case.baseline), ("b", case.candidate)):
        rows = [
            line(idx, row.score, sample_id=row.id, repeat=row.repeat, category=row.category, expected=row.expected,
                 question=f"Question {row.id}?", group=row.category if case.is_clustered else None)
            for idx, row in enumerate(side)
        ]  # fmt: skip
        for row in rows:  # a second answer, or a copy, is of the same question at the same position
            row["problem_idx"] = row["problem_idx"] % 12032
        scored = [{**row, "reward": 1.0} if row["reward"] != row["reward"] else row for row in rows]
        results = write_run(place / name, scored) / "quiz" / "results.jsonl"
        results.write_text("".join(json.dumps(row) + "\n" for row in rows))  # with NaN, where the case has one
    if case.effect:
        planned = run(sys.executable, "-m", "nel", "power", "a", "b", "--effect", case.effect, "--json", cwd=place)
        n = next(one["questions"] for one in json.loads(planned.out)["plans"] if one["repeats"] == 1)
        return f"power: {n:,} questions"
    compared = run(sys.executable, "-m", "nel", "compare", "a", "b", "--json", cwd=place)
    (place / "policy.yaml").write_text(f"defaults: {{max_drop: {case.margin}}}\n")
    gated = run(sys.executable, "-m", "nel", "gate", "a", "b", "--policy", "policy.yaml", "-o", "out", cwd=place)
    if compared.status:
        return f"compare: exit {compared.status}, “{compared.last}”; gate: exit {gated.status}"
    headline = json.loads(compared.out)["candidates"][0]["benchmarks"][0]["headline"]
    found = headline["difference"]
    bounds = headline["bounds"]
    said = f"Δ {points(found['value'])} {interval(found['ci_lower'], found['ci_upper'])}, p {found['p_value']:.2g}"
    said += f", {headline['verdict']}" + (f", bounds {interval(bounds['lower'], bounds['upper'])}" if bounds else "")
    seen = f", smallest effect {100 * found['smallest_detectable']:.2f}"
    return f"{said}{seen}; gate {gated.out.splitlines()[0]}, exit {gated.status}"


def evalsig(case: Case, place: Path, programs: Path) -> str:
    """Return what `evalsig compare` and `evalsig gate`, or `evalsig watch`, answer."""
    for name, side in (("a", case.baseline), ("b", case.candidate)):
        items = [
            {"item_id": row.id, "score": row.score, "cluster_id": row.category, "epoch": row.repeat} for row in side
        ]
        frame = {"run_id": name, "model_id": name, "task_id": "mmlu_pro", "metric_name": "acc", "items": items}
        (place / f"{name}.json").write_text(json.dumps(frame))
    sides = ("--baseline", "a.json", "--candidate", "b.json")
    program = programs / "evalsig"
    if case.effect:
        pairs = zip(case.baseline, case.candidate, strict=True)
        spread = float(np.std([(after.score or 0) - (before.score or 0) for before, after in pairs], ddof=1))
        done = run(program, "mde", "--sd-diff", spread, "--target-delta", case.effect, cwd=place)
        return f"mde: {done.out.splitlines()[0]}"
    if case.is_sequential:
        done = run(program, "watch", *sides, cwd=place)
        return " ".join(done.out.split("===")[-1].split()) or done.last
    more = ("--cluster", "cluster_id") if case.is_clustered else ()
    compared = run(program, "compare", *sides, "--output", "json", *more, cwd=place)
    gated = run(program, "gate", *sides, "--min-delta", case.margin, "--output", "json", *more, cwd=place)
    if not compared.out:
        return f"exit {compared.status}, “{compared.last}”"
    found = json.loads(compared.out)
    said = f"Δ {points(found['delta'])} {interval(*found['ci'])}, p {found['p_value']:.2g}"
    said += f", significant {found['significant']}, n {found['n_pairs']:,}"
    verdict = json.loads(gated.out)["verdict"] if gated.out else gated.last
    return f"{said}; gate {verdict}, exit {gated.status}"


def evalproof(case: Case, place: Path, programs: Path) -> str:
    """Return what `evalproof compare --gate` answers."""
    if missing := _missing(case):
        return missing
    info = {
        "suite": "s", "dataset_path": "d", "dataset_hash": "h", "started_at": "2026-01-01T00:00:00", "seed": 0,
        "finished_at": "2026-01-01T00:00:00", "wall_time_s": 1, "evalproof_version": "0.2.1",
    }  # fmt: skip
    for name, side in (("a", case.baseline), ("b", case.candidate)):
        results = [
            {"case_id": row.id, "output": {"output": "x"},
             "scores": {"acc": {"value": row.score, "passed": None if row.score is None else bool(row.score)}}}
            for row in side
        ]  # fmt: skip
        (place / f"{name}.json").write_text(json.dumps({"info": {**info, "system": name}, "results": results}))
    options = ("--metric", "acc", "--gate", "--max-drop", case.margin, "--json", "out.json")
    done = run(programs / "evalproof", "compare", "a.json", "b.json", *options, cwd=place)
    if not (place / "out.json").exists():
        return f"exit {done.status}, “{done.last}”"
    document = json.loads((place / "out.json").read_text())
    found, gate = document["comparison"]["metrics"]["acc"], document["gate"]
    said = f"Δ {points(found['delta'])} {interval(found['ci_low'], found['ci_high'])}, p {found['p_value']:.2g}"
    warned = f", warns “{gate['warnings'][0][:SHOWN_MAX]}”" if gate["warnings"] else ""
    return f"{said}, n {found['n_paired']:,}; gate {gate['status']}, exit {done.status}{warned}"


def evalstats(case: Case, place: Path, programs: Path) -> str:
    """Return what `evalstats analyze --p-values` answers; it has no gate."""
    if not case.effect and (missing := _missing(case)):
        return missing
    with (place / "scores.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        has_repeats = any(row.repeat for row in case.candidate)
        writer.writerow(["prompt", "input", "score", *(["run"] if has_repeats else [])])
        for name, side in (("a", case.baseline), ("b", case.candidate)):
            for row in side:
                score = "" if row.score is None else row.score
                writer.writerow([name, row.id, score, *([row.repeat] if has_repeats else [])])
    options = ("--format", "long", "--p-values", "--out", "out.json")
    done = run(programs / "evalstats", "analyze", "scores.csv", *options, cwd=place)
    if not (place / "out.json").exists():
        return f"exit {done.status}, “{done.last}”"
    pairwise = json.loads((place / "out.json").read_text())["analysis"]["pairwise"]["results"]
    ((_, found),) = pairwise.items()
    # It subtracts the second from the first.
    said = f"Δ {points(-found['point_diff'])} {interval(-found['ci_high'], -found['ci_low'])}, p {found['p_value']:.2g}"
    advice = re.search(r"Try [\w ]*[\d,]+ inputs", done.out)
    return f"{said} ({found['p_test']}){', “' + advice.group() + '”' if advice else ''}, exit {done.status}"


def _missing(case: Case) -> str:
    """Return what a package without clusters, looks and plans says to a case that is about them; else nothing."""
    if case.is_clustered:
        return "has no clusters"
    return "has no sequential test" if case.is_sequential else "does not plan" if case.effect else ""


def nemo(case: Case, place: Path, programs: Path) -> str:
    """Return what NeMo Evaluator's `nel compare` and `nel gate` answer."""
    if not case.is_clustered and (missing := _missing(case)):
        return missing
    position = {one: number for number, one in enumerate(dict.fromkeys(row.id for row in case.baseline))}
    for name, side in (("a", case.baseline), ("b", case.candidate)):
        _write_bundle(place / name / "mmlu_pro", name, side, position)
    options = ("--format", "json", "--no-report")
    compared = run(programs / "nel", "compare", "a", "b", "--max-drop", case.margin, *options, cwd=place)
    (place / "policy.yaml").write_text(f"version: 1\ndefaults: {{max_drop: {case.margin}}}\n")
    gated = run(programs / "nel", "gate", "a", "b", "-p", "policy.yaml", *options, cwd=place)
    first = _document(compared.out)
    if first is None:
        said = f"compare: exit {compared.status}, “{compared.last}”"
    else:
        test = first.get(first.get("test_used") or "") or {}
        p_value = f", p {test['p_value']}" if "p_value" in test else ""
        said = f"compare {first['verdict']}{p_value}, exit {compared.status}"
        detects = re.search(r"can detect ~\S+ regression", " ".join(first.get("verdict_reasons") or ()))
        said += f" (“{detects.group()}”)" if detects else ""
    second = _document(gated.out)
    if second is None:
        return f"{said}; gate: exit {gated.status}, “{gated.last}”"
    (entry,) = second["benchmarks"]
    ends = entry.get("delta_ci_lower"), entry.get("delta_ci_upper")
    span = f" {interval(*ends)}" if None not in ends else ""
    delta = f"Δ {points(entry['delta'] or 0)}{span}, n {entry['n_paired']:,}"
    return f"{said}; gate {second['verdict']}, {delta}, exit {gated.status}"


def _write_bundle(directory: Path, name: str, side: list[Row], position: Mapping[str, int]) -> None:
    directory.mkdir(parents=True)
    with (directory / "results.jsonl").open("w") as file:
        for row in side:
            value = {
                "problem_idx": position[row.id], "repeat": row.repeat, "reward": row.score,
                "expected_answer": row.expected, "model_response": "x", "prompt": f"Question {row.id}?",
                "metadata": {"category": row.category},
            }  # fmt: skip
            file.write(json.dumps(value) + "\n")
    known = [row.score for row in side if row.score is not None and not math.isnan(row.score)]
    mean = sum(known) / len(known)
    half = 1.96 * math.sqrt(mean * (1 - mean) / len(known))
    scores = {"mean_reward": {"value": mean, "ci_lower": mean - half, "ci_upper": mean + half}}
    repeats = 1 + max(row.repeat for row in side)
    samples = len({row.id for row in side})
    bundle = {
        "run_id": name, "config": {"benchmark": "mmlu_pro", "model": name},
        "benchmark": {"name": "mmlu_pro", "samples": samples, "repeats": repeats, "scores": scores},
    }  # fmt: skip
    (directory / "eval-20260101T000000Z-mmlu_pro.json").write_text(json.dumps(bundle))


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text[text.index("{") :])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


ANSWERS: Mapping[str, Callable[[Case, Path, Path], str]] = {
    "nel": nel, "evalsig": evalsig, "evalproof": evalproof, "evalstats": evalstats, "nemo": nemo,
}  # fmt: skip


def python_312() -> str | None:
    """Return a Python of version 3.12 or newer, None where there is none."""
    names = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    names += map(str, sorted((Path.home() / ".pyenv" / "versions").glob("3.1[2-9]*/bin/python")))
    check = ["-c", "import sys; sys.exit(sys.version_info < (3, 12))"]
    return next((one for one in names if one and not run(one, *check, cwd=Path.cwd()).status), None)


def install(tool: str, environments: Path) -> Path | None:
    """Return the folder of a package's programs, installing it where these pins are not there; None where none can."""
    if tool == "nel":
        return Path(sys.executable).parent
    folder, wanted = environments / tool, "\n".join(PINS[tool])
    if not (folder / "pins.txt").exists() or (folder / "pins.txt").read_text() != wanted:
        python = python_312() if tool in NEEDS_312 else sys.executable
        if python is None:
            return None
        shutil.rmtree(folder, ignore_errors=True)
        for command in (
            [python, "-m", "venv", folder],
            [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *PINS[tool]],
        ):
            done = run(*command, cwd=environments)
            if done.status:
                raise SystemExit(f"{tool} cannot be installed: {done.err}")
        (folder / "pins.txt").write_text(wanted)
    return folder / "bin"


def main() -> None:
    """Install, ask each package about each case, and print or write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--environments", type=Path, default=Path(".peers") / "decisions")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--cases", default="")
    parser.add_argument("--write", type=Path, help="a page whose table is replaced")
    options = parser.parse_args()
    environments = options.environments.absolute()
    environments.mkdir(parents=True, exist_ok=True)
    tools = options.tools.split(",")
    programs = {tool: install(tool, environments) for tool in tools}
    base = read_base()
    found = cases(base)
    written = []
    for name in options.cases.split(",") if options.cases else found:
        case = found[name]
        written += ["", f"**{case.title}** (margin {100 * case.margin:g} points). Known: {case.reference}.", ""]
        written += ["| package | answer |", "|---|---|"]
        for tool in tools:
            folder = programs[tool]
            with tempfile.TemporaryDirectory() as place:
                answer = "needs Python 3.12" if folder is None else ANSWERS[tool](case, Path(place), folder)
            label = PINS[tool][0].replace("==", " ").replace("[stats]", "") if tool in PINS else "nel"
            written.append(f"| {label} | {answer.replace('|', '/')} |")
            print(name, written[-1], file=sys.stderr, flush=True)
    table = "\n".join(written[1:])
    if options.write is None:
        print(table)
        return
    before, rest = options.write.read_text().split(MARKS[0])
    options.write.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")


if __name__ == "__main__":
    main()
