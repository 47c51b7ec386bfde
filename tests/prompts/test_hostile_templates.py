"""Templates of strangers that look for work without end: each is refused, or rendered, within the bounds.

The time is CPU time of this thread, which does not depend on what else the machine does.
"""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress

import pytest

from nel.errors import PromptError
from nel.prompts import compile_template
from nel.prompts.values import RENDER_SECONDS_MAX

BIG = "{% set s = 'ab c' * 1000000 %}"
LIST = "{% set l = range(60000)|list %}"
NESTED = (
    "{% set n = namespace(x=1, y=1) %}"
    "{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}"
)
HUGE = "{% set h = ('9' * 200000)|int(0, 16) %}"
TEXTS = [  # of each way to make work without end one; `test_prompts.py` has those that are refused at once
    "{# #}{{ 9**9**9 }}",
    "{# #}{{ ('9'*5000000)|int }}",
    HUGE + "{{ h }}",
    HUGE + "{{ h * h * h * h }}",
    "{# #}{{ (5).to_bytes(2000000000, 'big') }}",
    "{# #}{{ 'a' * 10**9 }}",
    "{% set n = namespace(x=['a']) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|length }}",
    BIG + "{{ s" + ".upper()" * 1500 + "|length }}",
    BIG + "{% set x = " + " or ".join(["s == s ~ 'x'"] * 1000) + " %}",
    BIG + "{{ s.replace('a', s) }}",
    BIG + "{{ s.split()|map('upper')|join(s) }}",
    BIG + "{% for i in range(99999) %}{% set x = s.find('zz') %}{% endfor %}",
    "{# #}{{ [0] * 10**9 }}",
    LIST + "{{ (l * 100)|sort }}",
    LIST + "{{ l|map('string')|map('int')|map('string')|map('length')|sum }}",
    LIST + "{{ l|map(attribute='" + ".".join(["real"] * 3000) + "')|list }}",
    NESTED + "{{ n.x }}",
    NESTED + "{{ n.x|tojson }}",
    "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "{% for i in [[[[]]]] recursive %}{{ loop([i, i, i]) }}{% endfor %}",
    "{% raw %}" + "{{" * 200000 + "{% endraw %}",
    "{# #}{{ " + "(" * 4000 + ")" * 4000 + " }}",
    "{# #}{{ " + "1+" * 7000 + "1 }}",
    "{% set " + ",".join(f"a{i}" for i in range(3000)) + " = range(3000) %}x",
    "{% set x = namespace() %}{% set x.a = x %}{{ x }}{{ x == x }}",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_hostile_template_ends_within_its_bounds(text: str) -> None:
    """Each takes a few seconds of CPU time at most."""
    started = time.thread_time()
    with suppress(PromptError):
        compiled = compile_template(text, name="prompt")
        compiled.render({"x": "a row", "a": [1]})
    assert time.thread_time() - started < 3 * RENDER_SECONDS_MAX


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_hostile_template_takes_little_memory(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None takes more than 512 MB at its peak."""
    monkeypatch.setattr("nel.prompts.values.RENDER_SECONDS_MAX", 10.0)  # tracing takes time
    tracemalloc.start()
    try:
        with suppress(PromptError):
            compile_template(text, name="prompt").render({"x": "a row", "a": [1]})
        assert tracemalloc.get_traced_memory()[1] < 512 << 20
    finally:
        tracemalloc.stop()
