"""A configuration of NeMo Evaluator is refused with the one that stands for it in nel."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import yaml

from nel import plugins
from nel.config.load import build_config, read_yaml
from nel.errors import ConfigError

PUBLISHED: Final = Path(__file__).parent / "nemo_configurations"
MISSING: Final = {
    "04_mmlu_pro_skills": "nel has no benchmark skills://mmlu-pro; it has mmlu_pro",
    "07_swebench_harbor": "nel has no benchmark harbor://swebench-verified@1.0",
    "07_swebench_harbor_prod": "nel has no benchmark harbor://swebench-verified@1.0",
    "07_swebench_multilingual_harbor": "nel has no benchmark swebench-multilingual",
    "07_swebench_pro_harbor": "nel has no benchmark harbor://swebenchpro@1.0",
    "07a_swebench_harbor_docker": "nel has no benchmark harbor://swebench-verified@1.0",
    "08_terminalbench_harbor": "nel has no benchmark harbor://terminal-bench@2.0",
    "08a_terminalbench_harbor_docker": "nel has no benchmark harbor://terminal-bench@2.0",
    "08b_terminalbench_v1_harbor": "nel has no benchmark terminal-bench-v1",
    "09_gym_runtime": "nel has no benchmark swebench-multilingual",
    "09f_skills_eval_caveman_local_ecs": "nel has no benchmark harbor://terminal-bench@2.0",
    "10_gym_full": "nel has no benchmark swebench-multilingual",
    "10_nmp_harbor": "nel has no benchmark nmp_harbor",
    "11_gym_env_harbor": "nel has no benchmark gym://localhost:8000?protocol=native",
    "12_pinchbench_openclaw": "benchmarks.0: nel has no playbook pinchbench",
    "13_vlmevalkit_mmbench": "nel has no benchmark vlmevalkit://MMBench_DEV_EN",
    "14_container_nemo_skills": "nel has no benchmark container://nvcr.io/nvidia/eval-factory/nemo-skills:26.03#ns_ifeval; it has ifeval",
    "16_slurm_swebench_harbor": "nel has no benchmark swebench-verified",
    "16a_slurm_swebench_harbor_apptainer": "nel has no benchmark swebench-verified",
    "19_gym_runtime_ecs": "nel has no benchmark swebench-multilingual",
    "20_slurm_gym_runtime": "nel has no benchmark swebench-multilingual",
    "20a_slurm_gym_runtime_apptainer": "nel has no benchmark swebench-multilingual",
    "21_tool_calling_gym": "nel has no benchmark swebench-multilingual",
    "22_tool_calling_sandbox": "nel has no benchmark swebench-verified",
    "23_tool_calling_combined": "nel has no benchmark research-bench",
}
"""The examples that need what nel does not have, and what the refusal names; all others are translated."""
OF_A_MODEL = """
model: {url: "http://h/v1", id: big, api_key: "${A_KEY:-}", temperature: 0.5, timeout: 9}
benchmarks:
  - name: mmlu
    repeats: 3
    max_problems: 9
    max_tokens: 64
    sandbox: {backend: docker}
output: {dir: out, export: [inspect]}
"""
OF_SERVICES = """
services:
  asked: {type: api, url: "http://h/v1/chat/completions", protocol: chat_completions, model: big, api_key: "${A_KEY}",
    generation: {max_tokens: 64, top_p: null, presence_penalty: 1}}
  other: {type: api, url: "http://h/v1", model: small}
  grader: {type: api, url: "http://g/v1", model: judge, api_key: plain-secret, generation: {temperature: 0.2}}
benchmarks:
  - name: simpleqa
    max_concurrent: 4
    solver: {type: simple, service: asked, system_prompt: "Be brief.", generation: {max_tokens: 8}}
    scoring: {metrics: [{type: judge, name: right, service: grader}]}
  - name: gsm8k
    max_concurrent: 4
    solver: {type: simple, service: other}
    scoring: {metrics: [{type: scorer, name: mcq_extract}]}
  - name: mmlu_pro
    solver: {type: harbor, service: other}
  - gsm9k
cluster: {type: slurm}
"""


LAUNCHER = """
defaults: [{execution: local}, {deployment: none}, _self_]
execution: {output_dir: results}
target:
  api_endpoint: {model_id: big, url: "http://h/v1/chat/completions", api_key_name: A_KEY}
evaluation:
  nemo_evaluator_config:
    config: {params: {temperature: 0.6, parallelism: 4, request_timeout: 3600}}
  tasks:
    - name: ifeval
    - name: gpqa_diamond
      env_vars: {HF_TOKEN: HF_TOKEN}
      nemo_evaluator_config: {config: {params: {temperature: 0, max_new_tokens: 64, limit_samples: 10}}}
    - name: adlr_mmlu
"""


def refusal(tmp_path: Path, text: str) -> str:
    (tmp_path / "run.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_yaml(tmp_path / "run.yaml")
    return str(caught.value)


def written(message: str) -> dict[str, object]:
    made: dict[str, object] = yaml.safe_load(message.split("\n\n")[1])
    return made


def test_the_form_of_the_launcher(tmp_path: Path) -> None:
    """A task's own settings win over those of all tasks; what nel has no key for is named."""
    message = refusal(tmp_path, LAUNCHER)
    assert written(message) == {
        "endpoint": {"url": "http://h/v1/chat/completions", "model": "big", "api_key_env": "A_KEY"},
        "benchmarks": [
            {"name": "ifeval", "generation": {"temperature": 0.6}},
            {"name": "gpqa_diamond", "max_problems": 10, "generation": {"temperature": 0, "max_tokens": 64}},
        ],
        "engine": {"concurrency": 4},
    }
    assert "nel cannot run them: nel has no benchmark adlr_mmlu" in message
    for key in ("benchmarks.0.request_timeout", "benchmarks.1.env_vars", "execution", "defaults"):
        assert key in message.partition("has no such key there: ")[2]


def test_the_form_with_a_model(tmp_path: Path) -> None:
    """What nel has under another name is written so, and what it does not have is named."""
    message = refusal(tmp_path, OF_A_MODEL)
    assert "run.yaml: this is a configuration of NeMo Evaluator; in nel it is" in message
    made = written(message)
    generation = {"max_tokens": 64}
    assert made == {
        "endpoint": {"url": "http://h/v1", "model": "big", "api_key_env": "A_KEY"},
        "benchmarks": [{"name": "mmlu_generative", "max_problems": 9, "repeats": 3, "generation": generation}],
        "generation": {"temperature": 0.5},
        "output": {"dir": "out"},
    }
    left = message.partition("has no such key there: ")[2]
    assert left.startswith("model.timeout, benchmarks.0.sandbox (programs run in the containers of nel sandbox build)")
    assert left.endswith("output.export (nel export --to NAME)")
    assert build_config(made).benchmarks[0].name == "mmlu_generative"


def test_the_form_with_services(tmp_path: Path) -> None:
    """Judges are those of the services; a second model needs a file of its own; no key is shown."""
    message = refusal(tmp_path, OF_SERVICES)
    made = written(message)
    assert made == {
        "endpoint": {"url": "http://h/v1/chat/completions", "model": "big", "api_key_env": "A_KEY"},
        "benchmarks": [
            {"name": "simpleqa", "system_prompt": "Be brief.", "generation": {"max_tokens": 8}},
            {"name": "gsm8k"},
        ],
        "generation": {"max_tokens": 64},
        "judge": {
            "url": "http://g/v1",
            "model": "judge",
            "api_key_env": "MY_KEY",
            "generation": {"temperature": 0.2},
        },
        "engine": {"concurrency": 4},
    }
    missing = "mmlu_pro: nel has no solver harbor; nel list solvers shows its own; nel has no benchmark gsm9k"
    assert f"Not in it, for nel cannot run them: {missing}\n" in message
    assert message.partition("no such key there: ")[2] == (
        "services.asked.generation.presence_penalty, benchmarks.1, which asks other (give it a file of its own), "
        "benchmarks.1.scoring (nel eval score DIR --scorer mcq_letter_extract), "
        "cluster (nel eval submit writes the files of a scheduler)"
    )
    assert "plain-secret" not in message
    assert build_config(made).judge is not None


def test_a_password_in_its_address_is_not_shown(tmp_path: Path) -> None:
    """The text may end in a log."""
    message = refusal(tmp_path, 'model: {url: "http://me:hidden@h/v1", id: m}\nbenchmarks: [gsm8k]\n')
    assert "hidden" not in message
    assert written(message)["benchmarks"] == [{"name": "gsm8k"}]


@pytest.mark.parametrize("file", sorted(PUBLISHED.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_published_example_is_translated_or_names_what_is_missing(file: Path) -> None:
    """What is written is a configuration whose benchmarks are installed; else one thing is named."""
    with pytest.raises(ConfigError) as caught:
        read_yaml(file)
    message = str(caught.value)
    missing = MISSING.get(file.stem)
    if missing is None:
        config = build_config(written(message))
        assert [is_installed(entry.name) for entry in config.benchmarks] == [True] * len(config.benchmarks)
        assert config.endpoint is not None
    else:
        assert message.endswith(f"that nel cannot run: {missing}")


def test_the_page_of_differences_counts_the_examples() -> None:
    """How many are written and how many name what is missing."""
    page = (Path(__file__).parents[2] / "docs/reference/differences.md").read_text("utf-8")
    n, n_missing = len(list(PUBLISHED.glob("*.yaml"))), len(MISSING)
    assert f"Of the {n} examples of commit ac66aff5 {n - n_missing} are written, and {n_missing} name" in page


def is_installed(name: str) -> bool:
    uri = plugins.split_uri(name)
    return uri == ("lm-eval", name) if uri is not None else bool(plugins.matching("benchmarks", name))


@pytest.mark.parametrize(
    "text",
    [
        "endpoint: {url: 'http://h/v1', model: m}\nbenchmarks: [sums]\nmodel: {id: m}\n",
        "benchmarks: [sums]\nmodel: m\n",
        "benchmarks: [sums]\nevaluation: full\n",
        "model: {id: m}\n",
    ],
)
def test_other_files_are_read(tmp_path: Path, text: str) -> None:
    """A wrong key of nel's own form is told of as such, later."""
    (tmp_path / "run.yaml").write_text(text)
    assert read_yaml(tmp_path / "run.yaml")
