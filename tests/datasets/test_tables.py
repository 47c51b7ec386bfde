"""What a file of rows is, as spreadsheets, pandas and other tools write them: understood, or refused with the way on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from nel.datasets import open_dataset
from nel.datasets.column_names import gold_columns, question_column
from nel.datasets.formats import SUFFIXES
from nel.errors import DatasetError

ROWS = [{"Frage": "Wie groß, in Metern?", "Antwort": "3"}, {"Frage": 'Was heißt "so"?', "Antwort": "thus"}]
TABLE = 'Frage,Antwort\n"Wie groß, in Metern?",3\n"Was heißt ""so""?",thus\n'
SEMICOLONS = 'Frage;Antwort\nWie groß, in Metern?;3\n"Was heißt ""so""?";thus\n'


def read(folder: Path, name: str, content: bytes | str, form: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of a file and what its reading noted."""
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    dataset = open_dataset(f"{name}{form}", base_dir=folder)
    return [row.data for row in dataset.read()], list(dataset.notes)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TABLE),
        ("a.csv", SEMICOLONS),
        ("a.csv", "sep=;\r\n" + SEMICOLONS),
        ("a.csv", SEMICOLONS.replace(";", "\t").encode("utf-16")),
        ("a.csv", SEMICOLONS.replace(";", "|").encode("utf-16-le")),
        ("a.tsv", SEMICOLONS.replace(";", "\t")),
        ("a.tsv", TABLE),
        ("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode("utf-16")),
        ("a.json", json.dumps(ROWS, ensure_ascii=False).encode("utf-16-be")),
    ],
)
def test_delimiters_and_encodings_are_found_out(tmp_path: Path, name: str, content: bytes | str) -> None:
    """Comma, semicolon, tab, a sep= line and UTF-16 give the same rows, and nothing is said of them."""
    assert read(tmp_path, name, content) == (ROWS, [])


@pytest.mark.parametrize("form", ["?encoding=cp1252", "?encoding=windows-1252&delimiter=semicolon"])
def test_cp1252_is_proposed_by_name_with_the_option_that_takes_it(tmp_path: Path, form: str) -> None:
    """What Windows writes without saying so is shown as it would be read, and read so when told."""
    data = SEMICOLONS.encode("cp1252")
    with pytest.raises(DatasetError, match=r"line 2: .*it reads …Wie groß, in Metern.*'a\.csv\?encoding=cp1252'"):
        read(tmp_path, "a.csv", data)
    assert read(tmp_path, "a.csv", data, form) == (ROWS, [])


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """Columns without a name, an index of pandas and empty rows at the end are dropped with a note."""
    rows, notes = read(tmp_path, "a.csv", ",Unnamed: 0,q,a,\n0,0,x,1,\n1,1,y,2,\n,,,,\n,,,,\n")
    assert rows == [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]
    assert notes == [
        "a.csv: columns 1, 2, 5 of 5 left out: they have no name",
        "a.csv: 2 empty rows at the end left out",
    ]


def test_decimal_commas_are_read_as_points_or_asked_for(tmp_path: Path) -> None:
    """Numbers with a comma in a table with semicolons: plain ones are said, ambiguous ones need an option."""
    rows, notes = read(tmp_path, "a.csv", "q;n\na;3,5\nb;1.234,25\nc;1,000\n")
    assert [row["n"] for row in rows] == ["3.5", "1234.25", "1.000"]
    assert notes == ['a.csv: the commas of the column "n" are decimal, as in 3,5; they are read as points']
    ambiguous = "q;n\na;1,250\nb;7\n"
    with pytest.raises(DatasetError, match=r'1,250 in the column "n" reads two ways: .*\?decimal=,'):
        read(tmp_path, "a.csv", ambiguous)
    assert read(tmp_path, "a.csv", ambiguous, "?decimal=,")[0][0]["n"] == "1.250"
    assert read(tmp_path, "a.csv", ambiguous, "?decimal=.")[0][0]["n"] == "1,250"
    late = "q;n\n" + "a;7\n" * 600 + "b;1,250\n"
    with pytest.raises(DatasetError, match=r"row 601: .*reads two ways"):
        read(tmp_path, "a.csv", late)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "What is it?,4\nWho is it?,5\n", "the first line looks like a row, not like names of columns: What"),
        ("a.csv", "x one,B\ny two,A\nz three,B\nv four,A\n", "the first line looks like a row"),
        ("a.csv", "Quiz,\nquestion,answer\n1+1,2\n", 'the first row is "Quiz" alone'),
        ("a.csv", "Frage, kurz;Antwort\na, b;c\nd, e;f\n", "'a.csv?delimiter=comma' or 'a.csv?delimiter=semicolon'"),
        ("a.csv", "q;a\n1;2;3\n4;5\n6;7\n", "row 1: 3 cells for 2 columns (line 2)"),
        ("a.csv", "q,a\nx,y\n,\nz,v\n", "row 2: all cells are empty"),
        ("a.csv", 'q,a\n"x" y,1\n', "the row that begins in line 2: ',' expected after '\"'; a quote inside"),
        (
            "a.jsonl",
            '[\n  {"q": "x"}\n]\n',
            "the file holds one JSON array, not one object a line; rename it to a.json",
        ),
        ("a.json", '{"q": {"0": "x"}, "a": {"0": "y"}}', 'to_json(path, orient="records")'),
        ("a.json", '{"columns": ["q"], "index": [0], "data": [["x"]]}', 'write orient="records"'),
    ],
)
def test_what_may_be_meant_otherwise_is_refused(tmp_path: Path, name: str, content: str, problem: str) -> None:
    """Nothing is guessed in silence: each message says what stands there and what to do."""
    with pytest.raises(DatasetError) as caught:
        read(tmp_path, name, content)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ("?encodng=cp1252", 'no option "encodng"; did you mean "encoding"?'),
        ("?encoding=cp12520", 'there is no encoding "cp12520"'),
        ("?delimiter=;;", "is not one character"),
        ("?decimal=x", "decimal is , or ."),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, form: str, problem: str) -> None:
    """Options stand behind the path, so every place that takes a dataset takes them, and slips."""
    with pytest.raises(DatasetError) as caught:
        read(tmp_path, "a.csv", TABLE, form)
    assert problem in str(caught.value)


def test_a_workbook_is_the_table_that_it_would_be_as_csv(tmp_path: Path) -> None:
    """Cells are text; of several sheets one is named."""
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Frage", "Antwort"], [ROWS[0]["Frage"], 3], [ROWS[1]["Frage"], "thus"]):
        book.active.append(row)
    one = io.BytesIO()
    book.save(one)
    assert read(tmp_path, "a.xlsx", one.getvalue()) == (ROWS, [])
    book.create_sheet("Notes").append(["x"])
    two = io.BytesIO()
    book.save(two)
    with pytest.raises(DatasetError, match=r"the sheets are Sheet, Notes; name one with .a\.xlsx\?sheet=Sheet"):
        read(tmp_path, "a.xlsx", two.getvalue())
    assert read(tmp_path, "a.xlsx", two.getvalue(), "?sheet=Sheet") == (ROWS, [])
    with pytest.raises(DatasetError, match="cannot be read as a workbook"):
        read(tmp_path, "a.xlsx", b"x")


GOLDS = """answer Answer ANSWER answers answerKey answer_key expected expected_answer expectedOutput gold gold_answer
goldanswer golden_answer gold_label ideal ideal_answer correct correct_answer CorrectAnswer correct_option reference
reference-answer ref ground_truth groundTruth groundtruth truth target target_text label key completion solution
final_answer Antwort Lösung Musterlösung richtige_Antwort erwartete_Ausgabe Réponse_attendue bonne_réponse
respuesta_correcta solución 答案 正确答案 参考答案 标准答案"""


def test_the_gold_column_is_found_by_the_words_of_its_name() -> None:
    """In any case and spelling, in five languages; a column of sources, of ids or of a model's answers is none."""
    beside = ["question", "source", "id", "model_answer", "incorrect_answer", "answer_type", "explanation"]
    missed = [name for name in GOLDS.split() if gold_columns([*beside, name.replace("_", " "), "url"]) == []]
    assert missed == []
    assert gold_columns(beside) == []
    assert gold_columns(["question", "answer", "contexts", "ground_truth"]) == ["ground_truth"]
    assert gold_columns(["problem", "solution", "answer"]) == ["answer"]
    assert gold_columns(["question", "answer", "reference"]) == ["answer", "reference"]
    assert question_column(["id", "Quelle", "Frage", "Antwort"]) == "Frage"


def test_the_docs_name_every_ending() -> None:
    """The page of datasets lists what is read."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "datasets.md").read_text(encoding="utf-8")
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in page] == []
