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
TEXTS = [
    "{# #}{{ 9**9**9 }}",
    "{# #}{{ (9**999)**999 }}",
    "{# #}{{ ('9'*5000000)|int }}",
    HUGE + "{{ h }}",
    HUGE + "{{ (h + 1) // (h // 3) }}",
    HUGE + "{{ h * h * h * h }}",
    "{# #}{{ ('1'*8000000)|float }}",
    "{# #}{{ (5).to_bytes(2000000000, 'big') }}",
    "{# #}{{ 'a' * 10**9 }}",
    "{# #}{{ '%1000000000s' % 'x' }}",
    "{# #}{{ '{:>1000000000}'.format('x') }}",
    "{# #}{{ '\t'.expandtabs(1000000000) }}",
    "{# #}{{ 'x y'|wordwrap(1, wrapstring='z'*100000000) }}",
    "{# #}{{ 'http://x '*100000|urlize }}",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x=['a']) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x|length }}",
    BIG + "{{ s" + ".upper()" * 1500 + "|length }}",
    BIG + "{% set x = " + " or ".join(["s == s ~ 'x'"] * 1000) + " %}",
    BIG + "{{ s.replace('a', s) }}",
    BIG + "{{ s.split()|map('upper')|join(s) }}",
    BIG + "{% for i in range(99999) %}{% set x = s.find('zz') %}{% endfor %}",
    "{# #}{{ [0] * 10**9 }}",
    "{# #}{{ range(10**9)|list }}",
    LIST + "{{ (l * 100)|sort }}",
    LIST + "{{ l|map('string')|map('int')|map('string')|map('length')|sum }}",
    LIST + "{{ l|map(attribute='" + ".".join(["real"] * 3000) + "')|list }}",
    NESTED + "{{ n.x }}",
    NESTED + "{{ n.x|tojson }}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}x",
    "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n }}{% endmacro %}{{ f(60) }}",
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{# #}{{ 2.567|round(2) }} {{ 1234|round(-2) }} {{ 7|round }}", "2.57 1200 7"),
        ("{# #}{{ '12'|int + '0x1f'|int(0, 16) }} {{ 'x'|int(3) }} {{ 3.9|int }}", "43 3 3"),
        ("{# #}{{ l[1:] }} {{ 'abc'[::-1] }} {{ l|map('upper')|join('-') }}", '["b", "c"] cba A-B-C'),
        ("{# #}{{ l|select('in', ['a', 'c'])|list }} {{ 'a' in l }} {{ 1 < 2 < 3 }}", '["a", "c"] True True'),
        ("{# #}{{ {'k': 1}.items()|list }} {{ l.index('b') }} {{ d.get('x', 5) }}", '[["k", 1]] 1 5'),
        ("{% for k, v in d|dictsort %}{{ loop.index }}{{ k }}{{ v }}{% endfor %}", "1p12q2"),
        ("{% if z is defined %}z{% else %}no{% endif %} {{ z|default('none') }}", "no none"),
        ("{# #}{{ 7 // 2 }} {{ 7 % 2 }} {{ 2 ** 10 }} {{ 7 / 2 }} {{ 7 - 9 }}", "3 1 1024 3.5 -2"),
    ],
)
def test_usual_templates_work(text: str, expected: str) -> None:
    """What benchmarks use gives what Jinja gives."""
    assert compile_template(text, name="prompt").render({"l": ["a", "b", "c"], "d": {"q": 2, "p": 1}}) == expected
