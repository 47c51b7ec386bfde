"""Names that would leave their directory, configurations that would run code, secrets in the wrong place."""

from __future__ import annotations

import base64
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.artifacts.files import directory_name
from nel.config.load import build_config, read_yaml
from nel.errors import ConfigError, NelError
from tests.faults.invariants import CANARY, CANARY_ENV, no_secret, read_run
from tests.faults.runs import config, nel_cli, run, write_config
from tests.faults.server import Call, Reply, answer, error, serving
from tests.support.distributions import install, path_with
from tests.support.runs import only_run, sums, write_bench, write_jsonl

NAMES = [
    "..", ".", "../../x", "/etc/x", "a/b", "a_b", "a\\b", "CON", "x" * 300, "a\x00b", "a\nb", "-rf", "caf\u00e9",
    "cafe\u0301", "a%2Fb", "a b", "a.b", ".hidden", "~", "a:b", "$HOME", "🙂", "a\u202eb", "con.json", " a", "a ", "*",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=[f"f109-{name.encode()[:16]!r}" for name in NAMES])
def test_every_name_is_a_directory_of_its_own(tmp_path: Path, name: str) -> None:
    """The directory of a benchmark stays inside the run's, can be made, and is no other name's."""
    folder = directory_name(name)
    assert "/" not in folder
    assert folder not in (".", "..", "")
    assert not folder.startswith(".")
    assert "\x00" not in folder
    assert len(folder.encode()) <= 255
    (tmp_path / folder).mkdir()
    assert [path.name for path in tmp_path.iterdir()] == [folder]
    others = [other for other in NAMES if other != name]
    assert folder not in {directory_name(other) for other in others}
    assert unicodedata.normalize("NFC", folder) not in {
        unicodedata.normalize("NFC", directory_name(other)) for other in others
    }


def test_f109_twins_in_one_run(tmp_path: Path) -> None:
    """Two benchmarks whose names differ in case or spelling alone keep their results apart."""
    data = sums(tmp_path / "d.jsonl", 2)
    names = ["Twin", "twin", "TWIN", "tw in", "tw-in"]
    paths = [
        write_bench(tmp_path / f"bench{index}.py", "True", name=name, dataset=data) for index, name in enumerate(names)
    ]
    with serving() as server:
        settings = config(tmp_path, server.url)
        settings["benchmarks"] = [{"name": str(path)} for path in paths]
        result = nel.evaluate(settings)
        assert len(server.calls) == 10
    folders = [path.parent.name for path in result.run_dir.glob("*/results.jsonl")]
    assert len({folder.casefold() for folder in folders}) == 5
    for item in result.benchmarks:
        assert item.accounting["n_scored"] == 2


IDS = [
    "..",
    "../../x",
    "/etc/passwd",
    "a\x00b",
    "a\nb",
    "x" * 5000,
    "cafe\u0301",
    "-x",
    "\x1b[2J",
    "=cmd()",
    "a\u200b",
    "<script>alert(1)</script>",
]


def test_f109_samples_with_hostile_ids(tmp_path: Path) -> None:
    """Ids of samples are data: stored, told apart, and never a path or a header."""
    rows = [
        {"id": name, "question": f"What is {index} plus {index}?", "answer": f"#### {2 * index}"}
        for index, name in enumerate(IDS)
    ]
    n = len(IDS)
    write_jsonl(tmp_path / f"sums{n}.jsonl", rows)
    with serving() as server:
        ran = run(tmp_path, server, n=n, endpoint={"send_sample_id": True})
        assert len(server.calls) == n
    assert ran.states == ["scored"] * n
    assert len({row["sample_id"] for row in ran.rows}) == n
    assert "<script>alert" not in (ran.run_dir / "report.html").read_text(encoding="utf-8")


def test_f109_a_hostile_model_name(tmp_path: Path) -> None:
    """A model's name is sent as it is and shown harmlessly; it is not a path, header or command of the terminal."""
    model = "../../m\nInjected: 1 \x1b]0;x\x07 🙂" + "m" * 2000
    with serving() as server:
        path = write_config(tmp_path, server.url, endpoint={"model": model})
        done = nel_cli(["eval", "run", str(path)], tmp_path)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert {call.body["model"] for call in server.calls} == {model}
        assert all("injected" not in call.headers for call in server.calls)
    assert read_run(only_run(tmp_path / "out"), 0).states == ["scored"] * 3


@pytest.mark.parametrize("run_id", ["..", "a/b", "/x", "", ".x", "-x", "a\n", "x" * 300, "a\x00"], ids=repr)
def test_f109_a_run_id_is_a_plain_name(tmp_path: Path, run_id: str) -> None:
    settings = config(tmp_path, "http://127.0.0.1:9/v1")
    settings["output"]["run_id"] = run_id
    with pytest.raises(ConfigError, match="run_id"):
        build_config(settings)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)
)
YAMLS: dict[str, tuple[str, str]] = {
    "f111-object": ("endpoint: !!python/object/apply:os.system ['touch pwned']\n", "python"),
    "f111-laughs": (BOMB, "alias"),
    "f111-duplicate": ("endpoint: {}\nendpoint: {}\n", "twice"),
    "f111-tab": ("endpoint:\n\turl: x\n", "YAML"),
    "f111-unset": ("endpoint: {url: '${NEL_TEST_NOT_SET}'}\n", "NEL_TEST_NOT_SET"),
    "f111-list": ("- a\n- b\n", "list"),
    "f111-two": ("a: 1\n---\nb: 2\n", "YAML"),
    "f111-binary": ("\x00\x01", "YAML"),
    "f111-deep": ("a: " + "[" * 1500 + "]" * 1500 + "\n", "YAML"),
    "f111-merge-key": ("endpoint: {<<: {model: m}}\n", "merge keys .* write the keys out"),
    "f111-octal": ("engine: {concurrency: 010}\n", "line 1: YAML reads 010 as a number to another base"),
    "f111-tag": ("endpoint: {url: !ENV URL}\n", "!ENV.*write a plain value"),
    "f111-no-space": ("endpoint:\n  url: x\n  model:m\n", "without the space"),
    "f111-list-wanted": ("benchmarks: gsm8k\n", 'a list is wanted.*"- "'),
    "f111-keys-wanted": (
        "benchmarks: [{name: b}]\nendpoint: {url: 'http://a/v1', model: m, headers: [a]}\n",
        "key: value",
    ),
    "f111-level": ("benchmarks: [{name: b}]\nmodel: m\n", "did you mean endpoint.model"),
    "f112-key-for-its-name": ("endpoint: {api_key_env: '${NEL_TEST_CANARY}'}\n", "NEL_TEST_CANARY.*without"),
}


@pytest.mark.parametrize(("text", "word"), YAMLS.values(), ids=YAMLS)
def test_a_configuration_that_is_none(tmp_path: Path, text: str, word: str) -> None:
    """Code, bombs, duplicates, tabs and unset variables are errors in one line, found fast, and nothing is run."""
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"(?i){word}") as caught:
        build_config(read_yaml(path), where=str(path))
    assert CANARY not in str(caught.value)
    assert not Path("pwned").exists()


SECRET_PLACES: dict[str, dict[str, Any]] = {
    "f112-userinfo": {"url": f"http://user:{base64.b32encode(CANARY.encode()).decode()}@127.0.0.1:9/v1"},
    "f112-query": {"url": "http://127.0.0.1:9/v1?api_key=cnry5f-secret-in-query"},
    "f112-env-name-like-one": {"api_key_env": "gsk_cnry5f0123456789abcdef"},
    "f112-env-name": {"api_key_env": "sk-cnry5f-not-a-name"},
}


@pytest.mark.parametrize("change", SECRET_PLACES.values(), ids=SECRET_PLACES)
def test_a_secret_in_the_wrong_place_is_refused_and_not_repeated(tmp_path: Path, change: dict[str, str]) -> None:
    """A key in the URL or in place of a variable's name is refused with what to do, and not shown."""
    (value,) = change.values()
    secret = value.rpartition("=")[2] if "//" in value else value
    if "user:" in value:
        secret = value.partition("user:")[2].partition("@")[0]
    with pytest.raises(NelError) as refused:
        run(tmp_path, "http://127.0.0.1:9/v1", endpoint=change)
    assert refused.value.exit_code == 2
    assert secret not in str(refused.value)
    assert "variable" in str(refused.value)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_f112_a_header_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """headers_env sends the value and stores the name; an echo of it is removed."""
    secret = "hdr-7f3a9c/secret+value=="
    monkeypatch.setenv("NEL_TEST_HEADER", secret)

    def echo(call: Call) -> Reply:
        said = call.headers["x-api-key"]
        return error(400, f"bad key {said}") if call.number == 1 else answer(f"{said} Answer: {2 * call.number}")

    with serving(echo) as server:
        ran = run(tmp_path, server, endpoint={"headers_env": {"X-Api-Key": "NEL_TEST_HEADER"}})
        assert {call.headers["x-api-key"] for call in server.calls} == {secret}
    assert ran.states == ["scored", "infra:bad_request", "scored"]
    no_secret(ran.run_dir, secret=secret)
    assert "NEL_TEST_HEADER" in (ran.run_dir / "run.yaml").read_text()


@pytest.mark.parametrize(
    "name", ["Authorization", "X-Api-Key", "api-key", "Cookie", "Proxy-Authorization"], ids=lambda name: f"f112-{name}"
)
def test_a_key_written_as_a_header_is_refused(tmp_path: Path, name: str) -> None:
    """A header that holds a secret by its name is refused in headers; headers_env takes it."""
    settings = config(tmp_path, "http://127.0.0.1:9/v1", endpoint={"headers": {name: "Bearer cnry-literal-secret"}})
    with pytest.raises(
        ConfigError, match=f"headers may not hold {name}; name the variable that holds it with headers_env"
    ) as caught:
        build_config(settings)
    assert "cnry-literal-secret" not in str(caught.value)


@pytest.mark.parametrize("field", ["headers", "headers_env"])
def test_a_header_that_frames_a_request_is_refused(tmp_path: Path, field: str) -> None:
    """Before a directory is made: it would say where another request ends than the one that is sent."""
    for name in ("Content-Length", "transfer-encoding", "CONNECTION"):
        with pytest.raises(ConfigError, match="says where a request ends"):
            build_config(config(tmp_path, "http://127.0.0.1:9/v1", endpoint={field: {name: "HOME"}}))


def test_f112_a_proxy_with_a_password(tmp_path: Path) -> None:
    """A password in a proxy's URL is refused, since the configuration is stored, and is not shown."""
    endpoint = {"proxy": "http://user:prx-9d2c-secret@127.0.0.1:9"}
    with pytest.raises(ConfigError, match="one with a password goes into HTTPS_PROXY") as refused:
        build_config(config(tmp_path, "http://model.example/v1", endpoint=endpoint))
    assert "prx-9d2c-secret" not in str(refused.value)


def test_f112_a_secret_in_extra_is_refused(tmp_path: Path) -> None:
    """The key's own value inside extra ends the run before anything is sent, and the message does not show it."""
    with serving() as server:
        settings = config(tmp_path, server.url, generation={"extra": {"auth": CANARY}})
        with pytest.raises(NelError) as refused:
            nel.evaluate(settings)
        assert server.calls == []
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "value",
    ["", " ", "a\nb", "ключ", "'gsk_1234567'", '"gsk_1234567"', "Bearer gsk_1234567"],
    ids=["f112-empty", "f112-blank", "f112-line", "f112-text", "f112-quotes", "f112-double-quotes", "f112-bearer"],
)
def test_a_key_that_no_header_can_carry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A key that is empty or broken is an error that names the variable and not the value."""
    monkeypatch.setenv(CANARY_ENV, value)
    with serving() as server:
        with pytest.raises(NelError, match=CANARY_ENV) as caught:
            run(tmp_path, server)
        assert server.calls == server.others == []
    assert "gsk_1234567" not in str(caught.value)


def test_f110_a_bad_plugin_harms_nothing_else(tmp_path: Path) -> None:
    """One that ends the process when imported is listed by name, and another benchmark runs."""
    entries = {"nel.benchmarks": {"bad-one": "bad_plugin:bench"}}
    install(tmp_path / "site", "bad", entries, modules={"bad_plugin": "import os; os._exit(7)"})
    with serving() as server:
        path = write_config(tmp_path, server.url)
        done = nel_cli(["eval", "run", str(path), "--json"], tmp_path, env=path_with(tmp_path / "site"))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["exit_code"] == 0
    listed = nel_cli(["list", "benchmarks"], tmp_path, env=path_with(tmp_path / "site"))
    assert listed.returncode == 0
    assert "gsm8k" in listed.stdout
    assert "BROKEN" in listed.stdout.split("bad-one")[1].split("\n")[0]


@pytest.mark.slow
def test_f110_bad_plugins_beside_each_other(tmp_path: Path) -> None:
    """Each is listed with what it does, wherever it stands among the others, and stdout is the list alone."""
    sources = {
        "a-exits": ("import os; os._exit(7)", "it ends the process with status 7; update or uninstall a_exits"),
        "b-raises": ("raise RuntimeError('broken')", "broken"),
        "c-leaves": ("import sys; sys.exit(0)", ""),
        "d-hangs": ("import time; time.sleep(600)", "longer than"),
        "e-prints": ("print('x' * 10**6)", "bench"),
        "f-misses": ("import a_module_that_nobody_has", "a_module_that_nobody_has"),
        "g-errs": ("def (", ""),
        "h-kills": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it ends the process by SIGKILL"),
        "q-closes": ("import os; os.closerange(0, 256)", "it ends the process"),
        "z-exits": ("import os; os._exit(0)", "it ends the process with status 0"),
    }
    good = "import os; os.write(1, b'noise'); from nel.benchmarks.quickstart import quickstart as bench"
    for name, (source, _) in {**sources, "x-good": (good, "")}.items():
        module = name.replace("-", "_")
        entries = {"nel.benchmarks": {name: f"{module}:bench"}}
        install(tmp_path / "site", module, entries, modules={module: source})
    done = nel_cli(["list", "benchmarks", "--json"], tmp_path, env=path_with(tmp_path / "site"))
    found = {plugin["name"]: plugin for plugin in json.loads(done.stdout)}
    errors = {name: found[name]["error"] for name in sources}
    assert [name for name, (_, words) in sources.items() if not errors[name] or words not in errors[name]] == []
    assert found["x-good"]["error"] is None
    assert found["x-good"]["description"] == found["quickstart"]["description"] != ""
