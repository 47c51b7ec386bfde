"""Language pairs of each form of row, and corpus metrics that keep pairs apart."""

from __future__ import annotations

from typing import Any

import pytest

from nel.benchmarks.translation import pairs
from nel.benchmarks.translation.corpora import corpus_bleu_by_pair, corpus_chrf_by_pair
from nel.errors import UndefinedMetric
from nel.scoring import corpus_bleu, corpus_chrf
from nel.types import SampleScore, Score


def test_rows_of_wmt14_go_both_ways() -> None:
    row = {"translation": {"de": "Guten Tag.", "en": "Good day."}}
    there, back = (made.sample(row, sample_id="1") for made in (pairs.wmt14_de_en, pairs.wmt14_en_de))
    assert (there.target, back.target) == ("Good day.", "Guten Tag.")
    assert "from German to English" in str(there.input)
    assert str(there.input).endswith("\n\nGuten Tag.")
    assert str(pairs.wmt14_en_fr.dataset).startswith("hf://wmt/wmt14?file=fr-en/test-*.parquet&")


def test_rows_of_other_sets() -> None:
    """WMT24++ names the pair ``lp``, FLORES rows ``pair``; an unknown language is a bad row."""
    wmt = pairs.wmt24pp.sample({"lp": "en-zh_CN", "source": "Hi", "target": "你好", "document_id": "d"}, sample_id="1")
    assert (wmt.subset, wmt.group) == ("en-zh_CN", "d")
    assert "to Chinese (simplified)" in str(wmt.input)
    row = {"id": "1", "pair": "deu_Latn-eng_Latn", "source": "Hallo", "target": "Hello"}
    assert "from German to English" in str(pairs.flores_into_english.sample(row, sample_id="1").input)
    with pytest.raises(Exception, match="tlh"):
        pairs.wmt24pp.sample({"lp": "en-tlh", "source": "Hi", "target": "nuqneH"}, sample_id="1")


def score(pair: str, response: str | None, target: str) -> SampleScore:
    return SampleScore(score=Score(value=0.0), sample_metadata={"pair": pair}, response=response, target=target)


def test_pairs_are_corpora_of_their_own() -> None:
    """Each pair's number is that of its own sentences, the mean is over pairs, and Chinese has its own tokenizer."""
    german = [
        ("Die Katze saß auf der Matte.", "Die Katze saß auf der Matte."),
        ("Der Hund lief weg.", "Ein Hund lief."),
    ]
    chinese = [("猫坐在垫子上。", "猫坐在那个垫子上。"), (None, "狗跑了。")]
    scores = [score("en-de_DE", *texts) for texts in german] + [score("en-zh_CN", *texts) for texts in chinese]
    chrf: Any = corpus_chrf_by_pair()(scores)
    assert chrf["en-de_DE"] == corpus_chrf([a for a, _ in german], [b for _, b in german])
    assert chrf["mean"] == pytest.approx((chrf["en-de_DE"] + chrf["en-zh_CN"]) / 2)
    bleu: Any = corpus_bleu_by_pair()(scores)
    wanted = corpus_bleu([a or "" for a, _ in chinese], [b for _, b in chinese], tokenize="zh")
    assert bleu["en-zh_CN"] == pytest.approx(wanted)
    assert bleu["en-zh_CN"] != corpus_bleu([a or "" for a, _ in chinese], [b for _, b in chinese])
    with pytest.raises(UndefinedMetric):
        corpus_bleu_by_pair()([])
