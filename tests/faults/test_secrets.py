"""A key that an endpoint, a judge, a proxy or a scorer repeats, in any spelling, is in no file and on no terminal."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.config.test_redaction import SPELLINGS
from tests.faults.invariants import CANARY
from tests.faults.runs import cli_run, nel_cli, run, write_config
from tests.faults.server import Call, Reply, answer, answer_json, error, http, right, serving
from tests.faults.test_judge import judged
from tests.faults.test_streaming import event, lines, sse
from tests.support.runs import only_run
from tests.support.tiers import representatives

KEY = "sk-live_9f3/Qx+77=Lm&zZ4~pR"
ENV = "NEL_TEST_KEY"
QUICKLY = {"api_key_env": ENV, "attempts_max": 1, "outage_seconds_max": 0.3}
FORMS = list(SPELLINGS.values())


def decoded(text: str) -> str:
    """Return a text with what it says in any encoding appended, so that a key in it is found whichever it is in."""
    seen = [text]
    for _ in range(3):
        last = seen[-1]
        last = re.sub(r"\\+u\{?0*([0-9a-fA-F]{2})\}?", lambda found: chr(int(found[1], 16)), last)
        last = re.sub(r"\\+x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), last)
        seen.append(html.unescape(unquote(re.sub(r"\\+([^\w\s])", r"\1", last))))
    words = {word for one in seen for word in re.findall(r"[A-Za-z0-9+/_=-]{12,}", one)}
    for word in words:
        plain = re.sub(r"[^A-Za-z0-9+/]", "", word.replace("-", "+").replace("_", "/"))
        for at in range(4):
            whole = plain[at : at + (len(plain) - at) // 4 * 4]
            seen.append(base64.b64decode(whole).decode("latin-1"))
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", word):
            seen.append(bytes.fromhex(word).decode("latin-1"))
    return "\n".join(seen)


def no_trace(place: Path | str, key: str = KEY) -> None:
    """Fail where eight characters of a key in a row stand anywhere, in any encoding."""
    pieces = {key[at : at + 8].lower() for at in range(len(key) - 7)}
    files = [path for path in place.rglob("*") if path.is_file()] if isinstance(place, Path) else [place]
    for found in files:
        text = found.read_bytes().decode("latin-1") if isinstance(found, Path) else found
        shown = decoded(text).lower()
        assert not [piece for piece in pieces if piece in shown], f"the key is in {found}"[:300]


def test_the_check_itself_finds_every_spelling() -> None:
    """A check that finds nothing would let everything pass."""
    for spell in FORMS:
        with pytest.raises(AssertionError, match="the key is in"):
            no_trace(f"x {spell(KEY)} y")


def _in_error(form: str) -> Reply:
    return http(f'{{"error": {{"message": "bad key {form} given", "param": "{form}"}}}}', status=400)


def _in_long_error(form: str) -> Reply:
    return http(f'{{"error": {{"message": "{"x" * 270} {form}"}}}}', status=400)


def _in_text(form: str) -> Reply:
    return http(json.dumps(answer_json("SAID Answer: 0")).replace("SAID", form))


def _in_model(form: str) -> Reply:
    return http(json.dumps({**answer_json("Answer: 0"), "model": "SAID"}).replace("SAID", form))


def _in_no_json(form: str) -> Reply:
    return http(f"<html>{form}</html>")


def _in_stream(form: str) -> Reply:
    text = json.loads(f'"{form}"')
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    events = [*(event({"content": piece}) for piece in pieces), event({"content": " Answer: 0"}, finish="stop")]
    return sse(lines(events))


def _in_broken_chunk(form: str) -> Reply:
    return sse(f"data: {{{'x' * 40} {form}\n\n".encode())


def _in_redirect(form: str) -> Reply:
    where = "".join(form.split())
    return http(status=302, headers=[("Location", f"http://u:{where}@h/{where}?key={where}")])


def _in_header(form: str) -> Reply:
    return http(
        json.dumps(answer_json("Answer: 0")),
        headers=[("X-Request-Id", form), ("Retry-After", form), ("x-ratelimit-limit-requests", form)],
    )


PLACES: list[Callable[[str], Reply]] = [
    _in_error, _in_long_error, _in_text, _in_model, _in_no_json, _in_stream, _in_broken_chunk, _in_redirect, _in_header,
]  # fmt: skip


@pytest.mark.parametrize("place", representatives({one.__name__: one for one in PLACES}, "_in_error", "_in_stream"))
def test_a_key_that_the_endpoint_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any, record_property: Callable[[str, object], None]
) -> None:
    """Errors, answers, names, streams, redirects, headers: every spelling in each, and no trace of one is kept."""
    record_property("cases", len(FORMS))
    monkeypatch.setenv(ENV, KEY)

    def script(call: Call) -> Reply:
        return place(json_safe(FORMS[call.number](KEY)))

    with serving(script) as server:
        endpoint = {**QUICKLY, "stream": place in (_in_stream, _in_broken_chunk)}
        ran = run(tmp_path, server, n=len(FORMS), endpoint=endpoint, observability={"log_level": "debug"})
    assert len(ran.rows) == len(FORMS)
    no_trace(ran.run_dir)


def json_safe(form: str) -> str:
    """Return a spelling as it may stand between the quotes of JSON: backslashes that JSON has not are doubled."""
    return re.sub(r'\\(?!u[0-9a-fA-F]{4}|[\\/"])', r"\\\\", form.replace('"', ""))


def test_the_keys_of_all_endpoints_are_kept_from_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that knows the judge's key, and a judge that knows the model's, get neither into a file."""
    monkeypatch.setenv(ENV, KEY)
    with (
        serving(lambda call: answer(f"{SPELLINGS['percent-all'](KEY)} Answer: {2 * call.number}")) as model,
        serving(lambda call: answer(f"Key {SPELLINGS['json-u'](CANARY)}.\nGRADE: C")) as judge,
    ):
        settings = judged(tmp_path, judge.url)
        settings["judge"]["panel"][0]["api_key_env"] = ENV
        ran = run(tmp_path, model, n=3, **settings)
    assert ran.states == ["scored"] * 3
    no_trace(ran.run_dir, KEY)
    no_trace(ran.run_dir, CANARY)


SCORER = """
import os
from nel import benchmark, scorer
@benchmark(
    name="gsm8k", dataset="unset.jsonl", prompt="{question}", target_field="answer", env="NEL_TEST_CANARY"
)
@scorer
def tells(sample):
    key = os.environ["NEL_TEST_CANARY"]
    if "What is 0" in sample.metadata["question"]:
        raise ValueError(f"cannot ask with {key}")
    return {"correct": True, "key": key, "url": "https://h/?k=" + key}
"""


def test_a_key_that_a_scorer_raises_or_returns(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(SCORER)
    with serving(right) as server:
        done, ran = cli_run(tmp_path, server, benchmark={"name": str(tmp_path / "b.py")})
    assert ran.states == ["scorer:raised", "scored", "scored"]
    no_trace(ran.run_dir, CANARY)
    no_trace(done.stdout, CANARY)


def test_a_password_of_a_proxy(tmp_path: Path) -> None:
    """A proxy that repeats what it was sent: neither the password nor its header is kept."""
    password = "pr0xy-Zq7/tt+41"

    def proxy(call: Call) -> Reply:
        said = call.headers.get("proxy-authorization", "none")
        return error(407, f"not with {said}, user:{password}") if call.number else [*right(call)]

    with serving(proxy) as server:
        where = f"http://someone:{password.replace('/', '%2F').replace('+', '%2B')}@127.0.0.1:{server.port}"
        path = write_config(tmp_path, "http://model.example/v1", endpoint={"attempts_max": 1})
        env = {"HTTP_PROXY": where, "http_proxy": where, "no_proxy": "", "NO_PROXY": ""}
        done = nel_cli(["eval", "run", str(path)], tmp_path, env=env)
    assert server.calls[0].headers["proxy-authorization"]
    no_trace(done.stdout + done.stderr, password)
    no_trace(only_run(tmp_path / "out"), password)
