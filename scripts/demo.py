"""Serve an embedded endpoint, evaluate it over HTTP with the `nel` command, and stop it again.

python scripts/demo.py demo     the demo endpoint and the quickstart benchmark
python scripts/demo.py model    a real small language model, a few quickstart problems
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NEL = [sys.executable, "-m", "nel"]
ENDPOINTS = {
    "demo": ["endpoint", "demo", "--port", "0", "--accuracy", "0.8", "--rate-limit-rate", "0.05", "--latency-ms", "20"],
    "model": ["endpoint", "model", "--port", "0"],
}
RUNS = {"demo": ["--concurrency", "8"], "model": ["--concurrency", "4", "--max-tokens", "200", "--temperature", "0"]}


def main(which: str) -> int:
    """Return the exit code of the evaluation."""
    Path("eval_results").mkdir(exist_ok=True)
    server = subprocess.Popen([*NEL, *ENDPOINTS[which]], stdout=subprocess.PIPE, text=True)
    try:
        ready = server.stdout.readline().split() if server.stdout else []
        if len(ready) < 4 or ready[0] != "serving":
            print("the endpoint did not start", file=sys.stderr)
            return server.wait(timeout=10) or 1
        url, model = ready[1], ready[3].rstrip(")")
        command = ["eval", "run", "--bench", "quickstart", "--model-url", url, "--model-id", model, *RUNS[which]]
        print("$ nel " + " ".join(command), flush=True)
        return subprocess.run([*NEL, *command], check=False).returncode
    finally:
        server.terminate()
        server.wait(timeout=10)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "demo"))
