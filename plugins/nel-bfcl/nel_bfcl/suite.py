"""BFCL v4 as its leaderboard weighs it (bfcl_eval, eval_runner_helper.py). Rows of relevance count
in none of its scores.
"""

from __future__ import annotations

from typing import Any, Final

_NO_WEB: Final = "nel-bfcl does not run it, since it searches the web"
_NO_VECTORS: Final = "nel-bfcl does not run it, since it needs a model of embeddings"

BFCL_V4: Final[dict[str, Any]] = {
    "suite": "bfcl-v4",
    "description": "The Berkeley function calling leaderboard, version 4.",
    "members": [
        {
            "name": "non-live",
            "weight": 10,
            "members": [
                {
                    "name": "simple",
                    "members": [
                        "bfcl_simple_python",
                        "bfcl_simple_java",
                        "bfcl_simple_javascript",
                    ],
                },
                "bfcl_multiple",
                "bfcl_parallel",
                "bfcl_parallel_multiple",
            ],
        },
        {
            "name": "live",
            "weight": 10,
            "weigh": "by_size",
            "members": [
                "bfcl_live_simple",
                "bfcl_live_multiple",
                "bfcl_live_parallel",
                "bfcl_live_parallel_multiple",
            ],
        },
        {
            "name": "irrelevance",
            "weight": 10,
            "members": ["bfcl_irrelevance_official", "bfcl_live_irrelevance_official"],
        },
        {
            "name": "multi-turn",
            "weight": 30,
            "members": [
                "bfcl_multi_turn_base",
                "bfcl_multi_turn_miss_func",
                "bfcl_multi_turn_miss_param",
                "bfcl_multi_turn_long_context",
            ],
        },
        {
            "name": "agentic",
            "weight": 40,
            "members": [
                {
                    "name": "web-search",
                    "members": [
                        {"name": "bfcl_web_search_base", "missing": _NO_WEB},
                        {"name": "bfcl_web_search_no_snippet", "missing": _NO_WEB},
                    ],
                },
                {
                    "name": "memory",
                    "members": [
                        "bfcl_memory_kv",
                        {"name": "bfcl_memory_vector", "missing": _NO_VECTORS},
                        "bfcl_memory_rec_sum",
                    ],
                },
            ],
        },
    ],
}
