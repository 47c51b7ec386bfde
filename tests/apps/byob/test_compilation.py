"""A benchmark file becomes a package: the same samples, nothing of this machine, no other package overwritten."""

from __future__ import annotations

import os
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from nel.apps.byob.shipping.compilation import compile_file, wheel_of
from nel.apps.byob.shipping.package import package_of
from nel.apps.byob.shipping.source import read_source
from nel.errors import NelError, OutputError, PluginError
from tests.support.endpoint import answer, scripted
from tests.support.environments import Environment, make_environment
from tests.support.runs import only_run, read_results

CAPITALS = '''"""Two capitals."""
from nel import ScorerInput, answer_line, benchmark, scorer


@benchmark(name="{name}", dataset={dataset!r}, prompt={prompt!r}, target_field="capital"{more})
@scorer
def capitals(sample: ScorerInput) -> dict:
    """Compare the city on the answer line."""
    return answer_line(sample)
'''


def write_benchmark(
    folder: Path, *, file: str = "capitals.py", name: str = "my-capitals", dataset: str = "rows.csv",
    prompt: str = "Capital of {country}?", more: str = "",
) -> Path:  # fmt: skip
    """Write a benchmark of two capitals and its rows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.csv").write_text("country,capital\nFrance,Paris\nJapan,Tokyo\n")
    path = folder / file
    path.write_text(CAPITALS.format(name=name, dataset=dataset, prompt=prompt, more=more))
    return path


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return make_environment(tmp_path / "environment")


@pytest.mark.slow
def test_a_package_runs_after_its_file_is_gone(tmp_path: Path, environment: Environment) -> None:
    """Compiled, installed and with its folder deleted, the benchmark gives a score from a server's answers."""
    path = write_benchmark(tmp_path / "work", dataset=str(tmp_path / "work" / "rows.csv"))
    done = environment.nel("byob", "compile", str(path), "-o", str(tmp_path / "packages"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nel eval run --bench my-capitals --model-url" in done.stdout
    assert "pip uninstall nel-byob-my-capitals" in done.stdout
    path.unlink()
    (tmp_path / "work" / "rows.csv").unlink()
    with scripted(lambda call, _: answer("Answer: Paris")) as endpoint:
        flags = ("--model-url", endpoint.url, "--model-id", "m")
        done = environment.nel("eval", "run", "--bench", "my-capitals", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rewards = [row["reward"] for row in read_results(only_run(tmp_path / "eval_results"), "my-capitals")]
    assert sorted(rewards) == [0.0, 1.0]
    listed = environment.nel("byob", "list", cwd=tmp_path)
    assert "my-capitals  nel-byob-my-capitals 0.1.0+c" in listed.stdout


def test_a_package_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Name, version and wheel depend on the content, and not on the place or the clock."""
    wheels = [wheel_of(package_of(read_source(write_benchmark(tmp_path / place)))) for place in ("a", "b")]
    assert wheels[0] == wheels[1]


def test_the_wheel_holds_what_it_declares(tmp_path: Path) -> None:
    """Its metadata is read by the standard library, and no path of this machine is in any of its files."""
    path = write_benchmark(tmp_path / "work", dataset=str(tmp_path / "work" / "rows.csv"))
    compiled = compile_file(path, output_dir=tmp_path / "out", with_install=False)
    with zipfile.ZipFile(compiled.wheel) as wheel:
        assert all(str(tmp_path).encode() not in wheel.read(name) for name in wheel.namelist())
        assert wheel.testzip() is None
        wheel.extractall(tmp_path / "site")
    (found,) = metadata.distributions(path=[str(tmp_path / "site")])
    assert found.metadata["Name"] == "nel-byob-my-capitals"
    assert found.requires == ["nel-eval>=0.1"]
    assert {entry.name for entry in found.entry_points} == {"my-capitals"}
    everything = [file for file in compiled.directory.rglob("*") if file.is_file()]
    assert all(str(tmp_path).encode() not in file.read_bytes() for file in everything)


def test_templates_that_the_file_names_come_along(tmp_path: Path) -> None:
    """A prompt file beside the benchmark is packed at its relative path."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "ask.jinja").write_text("{% if country %}Capital of {{ country }}?{% endif %}")
    path = write_benchmark(tmp_path, prompt="prompts/ask.jinja")
    compiled = compile_file(path, with_install=False)
    assert "nel_byob_my_capitals/prompts/ask.jinja" in compiled.package.files


def test_hidden_files_stay_here(tmp_path: Path) -> None:
    """A file of keys is not packed because the text names it."""
    path = write_benchmark(tmp_path)
    (tmp_path / ".env").write_text("KEY=sk-secret")
    path.write_text(path.read_text() + "SETTINGS = '.env'\n")
    compiled = compile_file(path, with_install=False)
    assert b"sk-secret" not in b"".join(compiled.package.files.values())


@pytest.mark.parametrize("line", ["# see {folder}/notes", "NOTES = '{folder}/notes.txt'", "NOTES = '{other}'"])
def test_a_path_of_this_machine_is_refused(tmp_path: Path, line: str) -> None:
    """Comments and constants that name a file of this machine stop the compilation, with the line."""
    path = write_benchmark(tmp_path / "work")
    other = tmp_path / "elsewhere.jsonl"
    other.write_text("{}\n")
    path.write_text(path.read_text() + line.format(folder=path.parent, other=other) + "\n")
    with pytest.raises(PluginError, match=r"capitals\.py, line 10 names .* relative path"):
        compile_file(path, with_install=False)
    assert not (path.parent / "byob_packages").exists()


@pytest.mark.parametrize("name", ['a"b.txt', "a\\b.txt", "a.txt ", "\u202e.txt", "plugin.py"])
def test_a_file_of_a_name_that_systems_read_differently_is_refused(tmp_path: Path, name: str) -> None:
    """So is one that has the place of a file of nel's own."""
    path = write_benchmark(tmp_path)
    (tmp_path / name).write_text("hi")
    path.write_text(f"{path.read_text()}NAMED = {name!r}\n")
    with pytest.raises(PluginError, match="cannot hold a file of that name"):
        package_of(read_source(path))


def test_metadata_has_no_line_of_a_description_or_a_requirement(tmp_path: Path) -> None:
    """What a file says of itself adds no field, no entry point and no code to its package."""
    about = 'x\nEvil: y\u2028Evil: z"""\nprint("PWNED")\n"""'
    path = write_benchmark(tmp_path, more=f", description={about!r}")
    package = package_of(read_source(path))
    assert "\nEvil" not in package.metadata.replace("\u2028", "\n")
    assert package.entry_points_text.count("[") == 1
    compile(package.files["nel_byob_my_capitals/__init__.py"], "__init__.py", "exec")
    assert b'\nprint("PWNED")' not in package.files["nel_byob_my_capitals/__init__.py"]
    path = write_benchmark(tmp_path, more=', requirements=["x\\nRequires-Dist: evil"]')
    with pytest.raises(NelError):
        package_of(read_source(path))


@pytest.mark.parametrize("target", ["/etc/passwd", "/proc/self/environ", "a pipe"])
def test_what_is_not_a_file_of_the_folder_is_not_packed(tmp_path: Path, target: str) -> None:
    """A link out of the folder is not followed, and nothing waits for a pipe."""
    path = write_benchmark(tmp_path)
    path.write_text(path.read_text() + "NAMED = 'named.txt'\n")
    if target.startswith("/"):
        (tmp_path / "named.txt").symlink_to(target)
    else:
        os.mkfifo(tmp_path / "named.txt")
    package = package_of(read_source(path))
    assert "nel_byob_my_capitals/named.txt" not in package.files


def test_files_larger_than_the_limit_are_refused(tmp_path: Path) -> None:
    """Their sizes are added up before one of them is read."""
    path = write_benchmark(tmp_path)
    for name in ("one.bin", "two.bin"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(200 << 20)
    path.write_text(path.read_text() + "NAMED = 'one.bin', 'two.bin'\n")
    with pytest.raises(PluginError, match="larger than 256 MiB together"):
        package_of(read_source(path))


@pytest.mark.slow
def test_only_its_own_output_is_overwritten(tmp_path: Path) -> None:
    """A stranger's directory, an edited file and another benchmark's package stop it; its own output does not."""
    path = write_benchmark(tmp_path)
    compiled = compile_file(path, with_install=False)
    assert compile_file(path, with_install=False).wheel == compiled.wheel
    (compiled.directory / "README.md").write_text("mine")
    with pytest.raises(OutputError, match=r"README\.md was changed or added"):
        compile_file(path, with_install=False)
    stranger = tmp_path / "out" / "nel-byob-my-capitals"
    stranger.mkdir(parents=True)
    (stranger / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="was not made by nel byob compile"):
        compile_file(path, output_dir=tmp_path / "out", with_install=False)
    assert (stranger / "thesis.txt").read_text() == "mine"
    twin = write_benchmark(tmp_path, file="twin.py")
    compile_file(path, output_dir=tmp_path / "fresh", with_install=False)
    with pytest.raises(OutputError, match=r"was made of capitals\.py, and twin\.py has a benchmark of the same name"):
        compile_file(twin, output_dir=tmp_path / "fresh", with_install=False)


def test_a_taken_name_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A benchmark with the name of an installed one is refused, and both are named."""
    path = write_benchmark(tmp_path, name="gsm8k")
    with pytest.raises(PluginError, match=r'"gsm8k" of capitals\.py has the name of one of nel .*rename it'):
        compile_file(path)
    assert not (tmp_path / "byob_packages").exists()


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """It names the files and leaves the folder as it was."""
    path = write_benchmark(tmp_path)
    compiled = compile_file(path, dry_run=True)
    assert (compiled.written, compiled.installed) == (False, False)
    assert not (tmp_path / "byob_packages").exists()


def test_a_package_that_reads_beside_its_file_is_refused(tmp_path: Path) -> None:
    """A file that works only where it lies fails the proof, and nothing is written."""
    path = write_benchmark(tmp_path)
    path.write_text(path.read_text() + "\nfrom pathlib import Path\nNAME = 'secret' + '.txt'\n")
    path.write_text(path.read_text() + "Path(__file__).with_name(NAME).read_text()\n")
    (tmp_path / "secret.txt").write_text("x")
    with pytest.raises(PluginError, match="works as a file and not as a package: FileNotFoundError"):
        compile_file(path, with_install=False)
    assert not (tmp_path / "byob_packages").exists()


def test_a_file_for_nemo_evaluator_is_loaded_by_nel_in_its_package(tmp_path: Path) -> None:
    """The text stays as it is, and the package hands it to the loader that lets nel stand for NeMo Evaluator."""
    path = write_benchmark(tmp_path)
    path.write_text(path.read_text() + "# from nemo_evaluator\n")
    compiled = compile_file(path, with_install=False)
    assert b"benchmarks_in_file" in compiled.package.files["nel_byob_my_capitals/plugin.py"]
    assert compiled.package.files["nel_byob_my_capitals/capitals.py"] == path.read_bytes()


def test_without_pip_and_uv_it_says_so(tmp_path: Path) -> None:
    """Without an installer the message says what to do, before anything is written."""
    from nel.apps.byob.shipping import install

    environment = make_environment(tmp_path / "environment")
    program = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'pip' else find(name, package)\n"
        "from nel.apps.byob.shipping.compilation import compile_file; from pathlib import Path\n"
        f"compile_file(Path({str(write_benchmark(tmp_path / 'work'))!r}))\n"
    )
    done = environment.run("-c", program, cwd=tmp_path)
    if "uv" in (install.shutil.which("uv") or ""):
        pytest.skip("uv is installed here")
    assert "no pip and there is no uv" in done.stderr
    assert "python -m ensurepip" in done.stderr
    assert not (tmp_path / "work" / "byob_packages").exists()
