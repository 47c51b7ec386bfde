"""`nel byob` and `nel-byob`: the same calls after both, with the flags that NeMo Evaluator's users know."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.apps.byob import command as byob
from nel.apps.byob import script as byob_script
from tests.apps.byob.test_compilation import write_benchmark
from tests.support.environments import make_environment


def test_the_script_has_every_flag_of_the_seed() -> None:
    """Each documented flag is there, under its own name."""
    parameters = inspect.signature(byob_script.byob_command).parameters
    assert {
        "file", "show_list", "dry_run", "no_install", "check_requirements", "containerize", "base_image", "tag",
        "platform", "push",
    } <= set(parameters)  # fmt: skip
    for command in (byob.compile_benchmark, byob.containerize):
        assert set(inspect.signature(command).parameters) <= set(parameters)


@pytest.mark.slow
def test_a_file_alone_is_compiled_and_installed(tmp_path: Path) -> None:
    """`nel-byob FILE` is `nel byob compile FILE`; --list shows the package, and --no-install leaves it out."""
    environment = make_environment(tmp_path / "environment")
    program = "import sys; sys.argv[0] = 'nel-byob'; from nel.apps.byob.script import main; main()"
    path = write_benchmark(tmp_path / "work")
    done = environment.run("-c", program, str(path), "--no-install", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "install it:  python -m pip install" in done.stdout
    assert "my-capitals" not in environment.run("-c", program, "--list", cwd=tmp_path).stdout
    assert environment.run("-c", program, str(path), cwd=tmp_path).returncode == 0
    assert "my-capitals" in environment.run("-c", program, "--list", cwd=tmp_path).stdout


def test_its_errors_are_one_line_with_the_fix() -> None:
    """Errors look as they do in every command of nel, and end with exit code 2."""
    done = CliRunner().invoke(byob_script.app, [], prog_name="nel-byob")
    assert done.exit_code == 2
    assert done.output.startswith("nel: ")
    assert "name the benchmark file to compile, or give --list" in done.output
    assert done.output.count("\n") == 1
