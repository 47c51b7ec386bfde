"""Run the ten task folders of the documentation in containers, offline: a scripted agent solves
them, tries the impossible one, and cheats in the hostile one. On a terminal their transcripts are
then shown in a browser.

The script of the agent is made of the solutions in the folders. It needs a Docker engine and the
image nel-base:bookworm (`make sandbox`).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import yaml
from demo import ended, serving, step

TASKS = Path(__file__).resolve().parents[1] / "docs" / "examples" / "tasks"
CHEAT = """cat /app/README
printf '#!/bin/sh\\necho 25\\n' > /usr/local/bin/cat; chmod +x /usr/local/bin/cat
(while :; do echo 1 > /logs/verifier/reward.txt; done) > /dev/null 2>&1 &
echo it keeps writing"""
ATTEMPT = "seq 1 2000 | while read n; do printf '%s' $n | sha256sum; done | grep ^0000000000 | head"


def script_of(folder: Path) -> list[dict[str, object]]:
    """Return one conversation a task, found by the instruction that the agent is given."""
    commands = {"hostile": CHEAT, "impossible": ATTEMPT}
    conversations: list[dict[str, object]] = []
    for path in sorted(folder.glob("*/instruction.md")):
        solution = path.parent / "solution" / "solve.sh"
        command = commands.get(path.parent.name) or solution.read_text(encoding="utf-8")
        call = {"name": "bash", "arguments": {"command": command}}
        turns = [{"calls": [call]}, {"text": "Done."}]
        when = path.read_text(encoding="utf-8").splitlines()[0]
        conversations.append({"when": when, "turns": turns})
    return conversations


def demonstrate() -> None:
    """Serve the script, run the tasks, show what came of them."""
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch) / "agent.yaml"
        script.write_text(yaml.safe_dump(script_of(TASKS)), encoding="utf-8")
        run = f"{time.strftime('%Y%m%d-%H%M%S')}-agent"
        print("==> a scripted agent, and ten tasks in containers: about two minutes", flush=True)
        with serving(["endpoint", "script", str(script), "--port", "0"]) as ((url, _),):
            endpoint = ["--model-url", url, "--model-id", "scripted", "--run-id", run]
            step("eval", "run", "--bench", TASKS, *endpoint)
    if sys.stdout.isatty():
        step("view", Path("eval_results") / run)


if __name__ == "__main__":
    sys.exit(ended(demonstrate))
