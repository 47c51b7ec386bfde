"""How much longer a judged run takes than its slower half: answering alone, or judging recorded answers alone.

    python tests/performance/judging.py [--samples 2000] [--milliseconds 200] [--concurrency 32]

The model and the judge are two servers that answer after the same time. The judged run is made twice: the scorer hands
over to the judge (`needs_judge`), and the scorer asks the judge itself, blocking (`judge_fn`). What counts is the whole
command, from start to exit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from tests.support.serving import serve_in_thread

HANDED_OVER = "    return needs_judge(sample)\n"
ASKED = "    return {'correct': sample.judge_fn(Case()).grade.score}\n"
RULE = "    return {'correct': sample.response == sample.target}\n"
BENCH = (
    "from nel import Case, ScorerInput, benchmark, needs_judge, scorer\n"
    "@benchmark(name='sums', dataset='rows.jsonl', prompt='{question}', target_field='answer',\n"
    "           response_field=RECORDED)\n"
    "@scorer\n"
    "def s(sample: ScorerInput) -> dict:\n"
)


@contextmanager
def serving(text: str, seconds: float) -> Iterator[str]:
    """Serve one answer, after so many seconds, from a thread of its own; yields the base URL."""

    async def reply(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(seconds)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return web.json_response({"model": "m", "choices": [choice], "usage": {}})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", reply)
    with serve_in_thread(app) as port:
        yield f"http://127.0.0.1:{port}/v1"


def run(directory: Path, scorer: str, *flags: str, recorded: bool = False) -> float:
    """Return the seconds that one whole command takes; raises when it does not end well."""
    text = BENCH.replace("RECORDED", repr("answer" if recorded else None))
    (directory / "bench.py").write_text(text + scorer)
    command = [sys.executable, "-m", "nel", "eval", "run", "--bench", "./bench.py", *flags]
    started = time.monotonic()
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return time.monotonic() - started


def main() -> None:
    """Run the four commands and print a table and the ratios as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--milliseconds", type=float, default=200.0)
    parser.add_argument("--concurrency", type=int, default=32)
    given = parser.parse_args()
    seconds = given.milliseconds / 1000
    with (
        tempfile.TemporaryDirectory() as name,
        serving("42", seconds) as model,
        serving("It is right.\nGRADE: C", seconds) as judge,
    ):
        directory = Path(name)
        rows = ({"id": i, "question": f"What is {i} plus {i}?", "answer": "42"} for i in range(given.samples))
        (directory / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        common = ["--concurrency", str(given.concurrency)]
        asking = ["--model-url", model, "--model-id", "m"]
        judging = ["--judge-url", judge, "--judge-id", "j"]
        took = {
            "answers alone": run(directory, RULE, *asking, *common),
            "judging alone": run(directory, HANDED_OVER, *judging, *common, recorded=True),
            "both, handed over": run(directory, HANDED_OVER, *asking, *judging, *common),
            "both, asked by the scorer": run(directory, ASKED, *asking, *judging, *common),
        }
    slower = max(took["answers alone"], took["judging alone"])
    for what, elapsed in took.items():
        print(f"{what:28} {elapsed:6.2f} s  {elapsed / slower:.3f} of the slower alone")
    print(json.dumps({what: round(elapsed / slower, 3) for what, elapsed in took.items() if what.startswith("both")}))


if __name__ == "__main__":
    main()
