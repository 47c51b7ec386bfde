"""MMLU's subjects in the four groups of its authors (github.com/hendrycks/test, categories.py), in
which every question weighs the same.
"""

from __future__ import annotations

from typing import Any, Final

GROUPS: Final = {
    "stem": """
        abstract_algebra astronomy college_biology college_chemistry college_computer_science
        college_mathematics college_physics computer_security conceptual_physics
        electrical_engineering elementary_mathematics high_school_biology high_school_chemistry
        high_school_computer_science high_school_mathematics high_school_physics
        high_school_statistics machine_learning
    """,
    "humanities": """
        formal_logic high_school_european_history high_school_us_history high_school_world_history
        international_law jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy
        prehistory professional_law world_religions
    """,
    "social-sciences": """
        econometrics high_school_geography high_school_government_and_politics
        high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality
        professional_psychology public_relations security_studies sociology us_foreign_policy
    """,
    "other": """
        anatomy business_ethics clinical_knowledge college_medicine global_facts human_aging
        management marketing medical_genetics miscellaneous nutrition professional_accounting
        professional_medicine virology
    """,
}


def _suite(benchmark: str, name: str) -> dict[str, Any]:
    groups = [
        {
            "name": group,
            "weigh": "by_size",
            "members": [f"{benchmark}#{subject}" for subject in subjects.split()],
        }
        for group, subjects in GROUPS.items()
    ]
    return {
        "suite": name,
        "description": "MMLU in four groups of subjects; every question weighs the same.",
        "weigh": "by_size",
        "members": groups,
    }


MMLU: Final = _suite("mmlu", "mmlu-subjects")
MMLU_GENERATIVE: Final = _suite("mmlu_generative", "mmlu-generative-subjects")
