"""Templates: what they may say, what data may hold, and what an attacker gets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from nel.errors import PromptError
from nel.prompts import compile_template, load_template
from nel.prompts import values as prompt_values
from nel.prompts.values import OUTPUT_CHARS_MAX

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let other limits than that of time decide, however slow the machine is."""
    monkeypatch.setattr(prompt_values, "RENDER_SECONDS_MAX", 60.0)


def rendered(text: str, **values: Any) -> str:
    return compile_template(text, name="prompt").render(values)


def problem_of(text: str, **values: Any) -> str:
    with pytest.raises(PromptError) as caught:
        rendered(text, **values)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("Q: {q}\nA:", {"q": "why?"}, "Q: why?\nA:"),
        ("{{{q}}} {{}}", {"q": "x"}, "{x} {}"),
        (r"\boxed{{answer}} {q}", {"q": "x"}, r"\boxed{answer} x"),
        ("no fields", {}, "no fields"),
        ("{Correct Answer} {a-b}", {"Correct Answer": "C", "a-b": "d"}, "C d"),
        ("{c.text}", {"c": {"text": "x"}}, "x"),
        ("{c.text}", {"c.text": "flat", "c": {"text": "x"}}, "flat"),
        ("{c.items}", {"c": {"items": "a key"}}, "a key"),
        ("{n} {f} {b}", {"n": 10**30, "f": 1.5, "b": True}, f"{10**30} 1.5 True"),
        ("{l} {d}", {"l": ["é", None], "d": {"a": 1}}, '["é", null] {"a": 1}'),
    ],
)
def test_plain_templates_fill_in_fields(text: str, values: dict[str, Any], expected: str) -> None:
    """Fields, dotted keys and escaped braces give the expected text."""
    assert rendered(text, **values) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{x.__class__.__mro__}", "the private name in {x.__class__.__mro__}"),
        ("{x[__init__]}", "the index in {x[__init__]}"),
        ("{x!r}", "the conversion in {x!r}"),
        ("{x:>9999999999}", "the format in {x:>9999999999}"),
        ("{x:{y}}", 'a single "{"'),
        ("{}", "the positional field {}"),
        ('{"answer": 1}', '{"answer": 1} is not a field name'),
        ("{x", 'a single "{"'),
        ("x}", 'a single "}"'),
        ("Q: {{ question }}", "write {x}, or put the template in a file that ends in .jinja"),
        (" \n", "is empty"),
        ("x" * (1024 * 1024 + 1), "is longer than"),
    ],
)
def test_plain_templates_allow_names_only(text: str, problem: str) -> None:
    """Conversions, formats, indexes, attributes and positions are refused when the template is compiled."""
    with pytest.raises(PromptError) as caught:
        compile_template(text, name="prompt")
    assert problem in str(caught.value)
    assert 'template "prompt"' in str(caught.value)


@pytest.mark.parametrize("text", ["{questoin}", "{# #}{{ questoin }}"])
def test_missing_fields_are_named(text: str) -> None:
    """A missing field names itself, the template, what is there and what was probably meant."""
    message = problem_of(text, question="q", answer="a")
    assert message == (
        'template "prompt" needs the field "questoin", which is missing; did you mean "question"? '
        "the row has answer, question"
    )


@pytest.mark.parametrize(
    ("text", "value", "problem"),
    [
        ("{q}", None, 'the field "q" is null'),
        ("{q}", {1}, 'the field "q" is a set'),
        ("{q.text}", "x", 'needs the field "q.text"'),
        ("{q.real}", 1, 'needs the field "q.real"'),
        ("{# #}\n{{ q }}", None, "line 2: it is null"),
        ("{# #}{{ q.text }}", {"a": 1}, "has no attribute 'text'"),
        ("{# #}{{ q.upper }}", "x", "has no text form"),
    ],
)
def test_values_without_a_text_are_refused(text: str, value: Any, problem: str) -> None:
    """A null or an object of Python is a bad row, never the text "None"."""
    assert problem in problem_of(text, q=value)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{a} {b.c} {{d}}", {"a", "b"}),
        ("{% for x in a %}{{ x.y }}{{ loop.index }}{{ range(3)|list }}{% endfor %}{{ b.c }}", {"a", "b"}),
        ("none", set()),
    ],
)
def test_fields_are_top_level_names(text: str, fields: set[str]) -> None:
    assert compile_template(text, name="prompt").fields == fields


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{% for c in cs %}{{ loop.index }}. {{ c }}\n{% endfor %}", "1. a\n2. b\n"),
        ("{# hidden #}{{ q }}\n", "hi\n"),
        ("{% if missing is defined %}x{% else %}y{% endif %}", "y"),
        ("{# #}{{ cs }} {{ row.items }} {{ n }} {{ t }}", '["a", "b"] key 3 True'),
        ("{# #}{{ cs|join(', ') }} {{ '-'.join(cs) }} {{ q ~ n }}", "a, b a-b hi3"),
        ("{# #}{{ q|replace('h', 'H')|upper }} {{ q.replace('i', 'o') }} {{ row|tojson }}", 'HI ho {"items": "key"}'),
        ("{# #}{{ [1, 2.5]|sum }} {{ 2.567|round(1) }} {{ n * 2 + 1 }} {{ '=' * 3 }} {{ 2 ** 3 }}", "3.5 2.6 7 === 8"),
        ("{# #}{{ 1234|round(-2) }} {{ 7|round }} {{ '12'|int + '0x1f'|int(0, 16) }} {{ 'x'|int(3) }}", "1200 7 43 3"),
        ("{# #}{{ cs[1:] }} {{ 'abc'[::-1] }} {{ cs|map('upper')|join('-') }} {{ 1 < 2 < 3 }}", '["b"] cba A-B True'),
        ("{# #}{{ cs|select('in', ['a'])|list }} {{ cs.index('b') }} {{ row.get('x', 5) }}", '["a"] 1 5'),
        ("{% for k, v in row|dictsort %}{{ k }}={{ v }}{% endfor %} {{ z|default('none') }}", "items=key none"),
        ("{# #}{{ 7 // 2 }} {{ 7 % 2 }} {{ 7 / 2 }} {{ 7 - 9 }}", "3 1 3.5 -2"),
        ("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(q) }}", "<hi>"),
        ("{# #}{{ '<b>' }}", "<b>"),
    ],
)
def test_jinja_templates_work(text: str, expected: str) -> None:
    """Loops, conditions, filters and macros work, without HTML escaping and with JSON for lists."""
    template = compile_template(text, name="prompt")
    assert template.kind == "jinja"
    values = {"cs": ["a", "b"], "q": "hi", "n": 3, "t": True, "row": {"items": "key"}}
    assert template.render(values) == expected


NS = "{% set ns = namespace(x='ab') %}"
LOOP = "{% for i in range(99) %}"
END = "{% endfor %}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{# #}{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{# #}{{ cycler.__init__.__globals__ }}", "unsafe"),
        ("{# #}{{ '{0.__class__}'.format(q) }}", "unsafe"),
        ("{# #}{{ '{:>999999999}'.format(1) }}", "unsafe"),
        ("{# #}{{ q|attr('__class__') }}", "No filter named 'attr'"),
        ("{% include '/etc/passwd' %}", "line 1: it names another template"),
        ("{% for i in range(10**9) %}x{% endfor %}", "Range too big"),
        ("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", "RecursionError"),
        ("{% block b %}{{ self.b() }}{% endblock %}", "RecursionError"),
        ("{% for i in range(99999) %}" + "x" * 99 + END, f"more than {OUTPUT_CHARS_MAX} characters"),
        (NS + LOOP + "{% set ns.x = ns.x ~ ns.x %}" + END, "characters"),
        pytest.param(
            NS + LOOP + "{% set ns.x = [ns.x, ns.x] %}" + END + "{{ ns.x|tojson }}", "it ", marks=pytest.mark.slow
        ),
        (NS + "{% set ns.x = 3 %}" + LOOP + "{% set ns.x = ns.x * ns.x %}" + END, "4096 bits"),
        ("{# #}{{ 'a' * 10**9 }}", "characters"),
        ("{# #}{{ 10**(10**10) }}", "4096 bits"),
        ("{# #}{{ '%999999999d' % 1 }}", "formats text with %"),
        ("{# #}{{ ('a' * 999999).replace('a', 'b' * 99999) }}", "characters"),
        ("{% if q %}\n\n{{ 1 / 0 }}{% endif %}", "line 3: ZeroDivisionError"),
        ("a\n{% if %}", "line 2: TemplateSyntaxError"),
    ],
)
def test_attacks_by_jinja_templates_fail(text: str, problem: str) -> None:
    """Escapes from the sandbox, other files, and texts or numbers that grow without bound end in an error."""
    assert problem in problem_of(text, q="hi")


@pytest.mark.parametrize(
    "text",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(99) }}",
    ],
)
def test_endless_jinja_templates_are_stopped(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that computes for ever without output is stopped at its deadline."""
    monkeypatch.setattr(prompt_values, "RENDER_SECONDS_MAX", 0.2)
    problem = problem_of(text)
    assert "takes longer than 0.2 s" in problem or "handles more than" in problem


def test_a_rendering_that_has_to_wait_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time in which others have the CPU is not the template's."""

    class Late(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            time.sleep(0.5)
            return super().__getitem__(key)

    monkeypatch.setattr(prompt_values, "RENDER_SECONDS_MAX", 0.4)
    assert rendered("{# #}{{ row.a }}{{ q }}", row=Late(a="x"), q="y") == "xy"


@pytest.mark.parametrize("name", ["p.txt", "p.md", "p.jinja", "p.JINJA2"])
def test_files_are_read_below_the_base(tmp_path: Path, name: str) -> None:
    """A file name is read, its ending makes it Jinja, and its bytes are kept but for a byte order mark."""
    (tmp_path / name).write_bytes("\ufeffQ: {{q}}\r\n".encode())
    template = load_template(name, base_dir=tmp_path)
    assert (template.name, template.kind) == (name, "jinja" if "j" in name.lower() else "format")
    assert template.render({"q": "x"}) == ("Q: x\n" if template.kind == "jinja" else "Q: {q}\r\n")


def test_unreadable_files_say_why(tmp_path: Path) -> None:
    """A missing, oversized or damaged file is an error and never sent as a prompt."""
    (tmp_path / "prompt.txt").write_bytes(b"\xff")
    (tmp_path / "big.txt").write_bytes(b"x" * (1024 * 1024 + 1))
    with pytest.raises(PromptError, match=r'promt\.txt does not exist; did you mean "prompt\.txt"\?'):
        load_template("promt.txt", base_dir=tmp_path)
    with pytest.raises(PromptError, match=r"does not exist; check the path"):
        load_template(tmp_path / "a b")
    with pytest.raises(PromptError, match=r"invalid UTF-8 \(byte 1\)"):
        load_template("prompt.txt", base_dir=tmp_path)
    with pytest.raises(PromptError, match="larger than"):
        load_template(tmp_path / "big.txt")
