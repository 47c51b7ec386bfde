"""The house keeps its shape: each library behind one fence, no swallowed error, no path of a machine, true docs."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from nel.config import schema
from nel.config.settings import settings

ROOT = Path(__file__).resolve().parents[1]
FENCES = {  # the rooms and modules that may import a library
    "docker": ("nel/sandbox/isolation/", "nel/environments/", "nel/apps/byob/shipping/"),
    "math_verify": ("nel/scoring/mathematics/",),
    "numpy": (
        "nel/metrics/",
        "nel/decide/",
        "nel/judges/stats/",
        "nel/comparison/",
        "nel/apps/leaderboard/",
        "nel/apps/power/",
    ),
    "orjson": (
        "nel/core/strict_json.py",
        "nel/datasets/",
        "nel/artifacts/schema.py",
        "nel/reports/",
        "nel/apps/mock/demo.py",
    ),
    "pydantic": (
        "nel/config/",
        "nel/artifacts/",
        "nel/comparison/",
        "nel/compat/evalscope/task.py",
        "nel/reports/agreement.py",
        "nel/runs/",
        "nel/decide/policy.py",
        "nel/authoring/judge_settings.py",
        "nel/episodes/solver_names.py",
        "nel/tools/declaration.py",
        "nel/apps/",
    ),
    "yaml": (
        "nel/config/",
        "nel/artifacts/write.py",
        "nel/authoring/scorer_names.py",
        "nel/datasets/repository.py",
        "nel/environments/tasks/terminal_bench.py",
        "nel/compat/nemo/",
        "nel/apps/",
    ),
    "typer": ("nel/cli/", "nel/apps/"),
    "rich": ("nel/cli/", "nel/apps/"),
    "rapidfuzz": ("nel/scoring/text.py", "nel/scoring/tokens.py"),
    "sacrebleu": ("nel/scoring/overlap.py",),
    "packaging": ("nel/authoring/",),
    "regex": ("nel/core/timed_regex.py",),
    "jsonschema": ("nel/scoring/json_schema.py", "nel/tools/declaration.py"),
    "aiohttp": ("nel/models/", "nel/apps/", "nel/environments/agents/gateway.py"),
    "stevedore": ("nel/plugins.py",),
    "sqlite3": ("nel/engine/store/", "nel/models/cache.py", "nel/apps/view/index/"),
    "jinja2": ("nel/prompts/jinja.py", "nel/reports/", "nel/apps/view/pages.py"),
    "datasets": ("nel/datasets/hub.py",),
    "huggingface_hub": ("nel/datasets/hub.py",),
    "modelscope_hub": ("nel/datasets/modelscope.py",),
    "pyarrow": (),
    "python_calamine": ("nel/datasets/workbook.py",),
    "arro3": ("nel/datasets/parquet.py", "nel/artifacts/exporting/parquet_tables.py"),
    "scipy": (),  # an oracle of the tests
    "xllamacpp": ("nel/apps/mock/local_model.py",),
    "langdetect": ("nel/benchmarks/instructions/language.py",),
    "fcntl": ("nel/engine/store/lock.py", "nel/apps/pytest_plugin.py"),
    "pandas": ("nel/artifacts/exporting/frames.py", "nel/runs/result.py"),  # the latter for its type alone
    "fsspec": (),  # of nel-remote
    "IPython": ("nel/runs/notebook.py",),
    "opentelemetry": (),  # of nel-tracking
    "prometheus_client": ("nel/engine/observability/metrics.py",),
}


ROOMS = {
    "apps": 73_380,
    "artifacts": 34_170,
    "authoring": 16_280,
    "benchmarks": 11_860,
    "byob": 400,
    "cli": 18_240,
    "comparison": 23_260,
    "compat": 41_140,
    "config": 14_520,
    "core": 5_640,
    "datasets": 17_040,
    "decide": 8_940,
    "discovery": 3_590,
    "engine": 74_410,
    "environments": 24_380,
    "episodes": 4_370,
    "judges": 24_100,
    "metrics": 15_260,
    "models": 37_720,
    "prompts": 2_690,
    "reading": 17_140,
    "reports": 19_870,
    "runs": 11_350,
    "sandbox": 26_400,
    "scoring": 22_880,
    "tools": 1_900,
    "types": 2_210,
}
"""Nodes of syntax trees (without Load, Store and Del) that a room may have; an edit here says why in its commit."""
PLUGINS = 30_190
"""Nodes of all plugins together, without their tests."""
TEMPLATES = {"apps": 73_570, "reports": 1_560}
"""Lines of the templates of a room."""
FUNCTION_NODES = 250
"""Of a body; a signature is the options of a command or of a decorator."""
MODULE_NODES = 3_300
VAGUE_SHARE = 0.01
VAGUE = {"found", "one", "said", "given", "place", "part", "kept", "told", "shown", "held", "taken", "behind"}
VERBS_IN_ED = {"embed", "exceed", "feed", "need", "proceed", "seed"}
IRREGULAR = {
    "built",
    "drawn",
    "found",
    "given",
    "held",
    "kept",
    "known",
    "lent",
    "lost",
    "made",
    "said",
    "sent",
    "shown",
}
IRREGULAR |= {"spent", "taken", "told", "written"}
NAMES_OF_PEERS = {
    # Inspect
    "Score",
    "SampleScore",
    "Target",
    "TaskState",
    "ModelOutput",
    "grouped",
    "unscored",
    # EvalScope
    "Choice",
    "Dataset",
    "DefaultDataAdapter",
    "MultiChoiceAdapter",
    "Filter",
    "Sample",
    "Tags",
    # NeMo Evaluator
    "JudgeConfig",
}
"""What users import by another tool's name, whatever else has that name here."""
WIDE_LINES = 76
LOOSE = {"__init__", "__main__", "clients", "doors", "errors", "plugins", "scorers", "version"}
"""Modules of nel that lie in no room."""


def _size(nodes: Iterable[ast.AST]) -> int:
    return sum(not isinstance(node, ast.expr_context) for node in nodes)


@cache
def _sources() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "nel").rglob("*.py"))}


@cache
def _trees() -> dict[Path, list[ast.AST]]:
    """Parse everything once, without the collector, which would look through all that was parsed so far again."""
    gc.disable()
    try:
        trees = {path: list(ast.walk(ast.parse(text))) for path, text in _sources().items()}
    finally:
        gc.enable()
    gc.freeze()
    return trees


def _nodes(path: Path) -> list[ast.AST]:
    return _trees()[path]


@cache
def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_each_library_stays_behind_its_fence() -> None:
    """A dependency is imported in one place, imports inside functions included."""
    outside = [
        f"{path.relative_to(ROOT)}: {library}"
        for path in _sources()
        for library in sorted(_imports(path) & FENCES.keys())
        if not str(path.relative_to(ROOT)).startswith(FENCES[library])
    ]
    assert outside == []


def test_one_room_speaks_to_the_log() -> None:
    """Queries of run.db are in the store alone."""
    tables = re.compile(r"\b(FROM|INTO|UPDATE|JOIN) (main\.|shard\.)?(steps|samples|sessions|benchmarks|pool)\b")
    rooms = {
        str(path.relative_to(ROOT))
        for path in _sources()
        for node in _nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and tables.search(node.value)
    }
    assert {path for path in rooms if not path.startswith("nel/engine/store/")} == set()


def test_functions_and_modules_are_small() -> None:
    """No function has more syntax nodes than the limit, no module either."""
    long = []
    for path in _sources():
        if (size := _size(_nodes(path))) > MODULE_NODES:
            long.append(f"{path.relative_to(ROOT)}: {size} nodes")
        for node in _nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                size = sum(_size(ast.walk(statement)) for statement in node.body)
                if size > FUNCTION_NODES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {size} nodes")
    assert long == []


def test_names_say_what_a_value_is() -> None:
    """Of the names that nel binds, at most one in a hundred says nothing of its value."""
    names = [
        name.strip("_")
        for path in _sources()
        for node in _nodes(path)
        if isinstance(node, (ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for name in [_bound(node)]
        if name
    ]
    assert sum(name in VAGUE for name in names) <= VAGUE_SHARE * len(names)


def test_functions_are_not_named_by_a_participle() -> None:
    """A function is a verb, or a noun for what it returns: `quote` or `quotation`, and not `quoted`."""
    plugins = [*(ROOT / "plugins").glob("*/nel_*/**/*.py")]
    trees = {path: _nodes(path) for path in _sources()}
    trees |= {path: list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in plugins}
    participles = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path, nodes in trees.items()
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        for word in [node.name.strip("_")]
        if word in IRREGULAR or (re.fullmatch("[a-z]+ed", word) and word not in VERBS_IN_ED | NAMES_OF_PEERS)
    ]
    assert participles == []


def test_a_name_of_a_class_has_one_meaning() -> None:
    """No public class of one room has the name of another room's, unless it is the JSON of that class."""
    rooms: dict[str, set[str]] = {}
    for path in _sources():
        parts = path.relative_to(ROOT / "nel").parts
        room = "/".join(parts[:2] if parts[0] in ("apps", "compat") else parts[:1])
        for node in ast.iter_child_nodes(_nodes(path)[0]):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and "shapes" not in parts:
                rooms.setdefault(node.name, set()).add(room)
    assert {name: where for name, where in rooms.items() if len(where) > 1 and name not in NAMES_OF_PEERS} == {}


def _bound(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    return node.arg if isinstance(node, ast.arg) else getattr(node, "name", None)


def test_code_has_100_columns() -> None:
    """Only tables and patterns are wider; texts of several lines and words to a linter do not count."""
    long = []
    for path, text in _sources().items():
        inside = {
            line
            for node in _nodes(path)
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        for number, line in enumerate(text.splitlines(), 1):
            code = re.sub(r"  # (noqa|type|fmt|pragma).*", "", line)
            if len(code) > 100 and number not in inside:
                long.append(f"{path.relative_to(ROOT)}:{number}")
    assert len(long) <= WIDE_LINES, long


def test_rooms_keep_their_budget() -> None:
    """A room that grows is divided, cut, or given a new budget above."""
    nodes = dict.fromkeys(ROOMS, 0)
    loose = set()
    for path in _sources():
        room = path.relative_to(ROOT / "nel").parts[0]
        if room.endswith(".py"):
            loose.add(path.stem)
        else:
            nodes[room] = nodes.get(room, 0) + _size(_nodes(path))
    assert loose == LOOSE
    assert {room: n for room, n in nodes.items() if n > ROOMS.get(room, 0)} == {}


def test_plugins_and_templates_keep_their_budget() -> None:
    """What leaves a room for a plugin or a template is counted there."""
    modules = (ROOT / "plugins").glob("*/nel_*/**/*.py")
    assert sum(_size(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in modules) <= PLUGINS
    lines: dict[str, int] = {}
    for path in (ROOT / "nel").rglob("templates/**/*"):
        if path.is_file() and path.suffix != ".pyc":
            room = path.relative_to(ROOT / "nel").parts[0]
            lines[room] = lines.get(room, 0) + len(path.read_text(encoding="utf-8").splitlines())
    assert {room: n for room, n in lines.items() if n > TEMPLATES.get(room, 0)} == {}


def test_no_error_is_swallowed_without_a_word() -> None:
    """No `except Exception: pass`."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _sources()
        for node in _nodes(path)
        if isinstance(node, ast.ExceptHandler) and all(isinstance(line, ast.Pass) for line in node.body)
    ]
    assert silent == []


def test_every_flag_of_eval_run_is_documented() -> None:
    """The generated page of the command line names every flag; run `make docs` when this fails."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    flags = set(re.findall(r'"(--[a-z-]+)"', (ROOT / "nel" / "cli" / "eval_run.py").read_text(encoding="utf-8")))
    flags |= {setting.flag.name for setting in settings()}
    assert {"--dry-run", "--temperature"} <= flags
    assert sorted(flag for flag in flags if flag not in page) == []


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link in the README and docs/ points to a file that is there."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_key_of_the_configuration_is_documented() -> None:
    """The generated page of the configuration names every key; run `make docs` when this fails."""
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    models: tuple[type[schema.Strict], ...]
    models = (schema.RunConfig, schema.EndpointConfig, schema.BenchmarkConfig, schema.GenerationConfig)
    models += (schema.EngineConfig, schema.SandboxConfig, schema.SandboxLimits, schema.OutputConfig)
    models += (schema.BudgetConfig, schema.Price, schema.CacheConfig)
    models += (schema.ObservabilityConfig,)
    keys = {key for model in models for key in model.model_fields}
    assert sorted(key for key in keys if f"| `{key}` |" not in page) == []


def _imported_modules(path: Path, modules: dict[str, Path]) -> set[str]:
    """Return the modules of nel that a file imports, inside functions and for type checking too."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & modules.keys() or {node.module}
    return found & modules.keys()


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Every module can be understood after those it imports."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in _sources()}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    left = {name: _imported_modules(path, modules) - {name} for name, path in modules.items()}
    while free := [name for name, used in left.items() if not used & left.keys()]:
        for name in free:
            del left[name]
    assert sorted(left) == []


def test_the_road_of_a_sample_on_the_page_is_in_the_code() -> None:
    """Each place that docs/explanation/architecture.md names, as path and name, is there."""
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    places = re.findall(r"`(nel/[\w/]+\.py)(?::(\w+))?`", page)
    assert len(places) >= 20
    missing = [
        (path, name)
        for path, name in places
        if not (ROOT / path).is_file()
        or (name and not re.search(rf"^(async )?(class|def) {name}\b", (ROOT / path).read_text("utf-8"), re.MULTILINE))
    ]
    assert missing == []
