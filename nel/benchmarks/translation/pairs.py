"""Translation of whole corpora: WMT14, WMT24++ and FLORES+.

The published metrics are those of a corpus, chrF, chrF++ and BLEU over all sentences of a language
pair at once, as sacrebleu computes them (``corpus_chrf`` … in metrics.json). The headline is the
mean chrF of single sentences, which has an interval and is not what papers report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from nel.benchmarks import Benchmark
from nel.benchmarks.translation.corpora import (
    corpus_bleu_by_pair,
    corpus_chrf_by_pair,
    corpus_chrf_pp,
    corpus_chrf_pp_by_pair,
)
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.datasets import open_dataset
from nel.scoring import chrf
from nel.scoring.overlap import corpus_bleu_metric, corpus_chrf_metric

WMT14_REVISION = "b199e406369ec1b7634206d3ded5ba45de2fe696"
WMT24PP_REVISION = "fd7405c06494bc66a57b25f55d217a72f96e60dc"
FLORES_REVISION = "5fec6c13f9e5a4db2f745d4ec0d7c9721ddc4f06"
NAMES: Final = {
    "arb_Arab": "Modern Standard Arabic",
    "ben_Beng": "Bengali",
    "cmn_Hans": "Chinese (simplified)",
    "cs": "Czech",
    "de": "German",
    "deu_Latn": "German",
    "en": "English",
    "eng_Latn": "English",
    "es": "Spanish",
    "fr": "French",
    "fra_Latn": "French",
    "hi": "Hindi",
    "hin_Deva": "Hindi",
    "is": "Icelandic",
    "ja": "Japanese",
    "jpn_Jpan": "Japanese",
    "ru": "Russian",
    "rus_Cyrl": "Russian",
    "spa_Latn": "Spanish",
    "swh_Latn": "Swahili",
    "uk": "Ukrainian",
    "zh": "Chinese (simplified)",
}
WMT24PP_PAIRS: Final = (
    "cs_CZ",
    "de_DE",
    "es_MX",
    "hi_IN",
    "is_IS",
    "ja_JP",
    "ru_RU",
    "uk_UA",
    "zh_CN",
)
"""The nine languages of WMT24's general task from English."""
FLORES_LANGUAGES: Final = tuple(name for name in NAMES if "_" in name and name != "eng_Latn")
PROMPT = """Translate this text from {source_language} to {target_language}. Give the translation alone.

{source}"""


def with_pair(row: dict[str, Any], pair: str = "") -> dict[str, object]:
    """Return the row with ``source``, ``target``, ``pair`` and the names of both languages.

    Rows are ``{translation: {de: …, en: …}}`` as WMT's, or have ``source`` and ``target``, and
    ``pair`` or ``lp``.

    Raises:
        KeyError: A field is missing, or a language has no name here.
    """
    pair = pair or str(row.get("pair") or row["lp"])
    source, target = pair.split("-")
    texts = row.get("translation") or {source: row["source"], target: row["target"]}
    return {
        **row,
        "pair": pair,
        "source": texts[source],
        "target": texts[target],
        "source_language": _name_of(source),
        "target_language": _name_of(target),
    }


def _name_of(code: str) -> str:
    # FLORES' codes name a script, which matters; WMT24++'s a country, which does not.
    return NAMES[code if code in NAMES else code.partition("_")[0]]


def wmt24pp_rows() -> Iterator[dict[str, object]]:
    """Yield WMT24++'s rows of the nine pairs, but for those whose source its authors mark as bad.

    Raises:
        DatasetError: The hub cannot be reached.
    """
    configs = ",".join(f"en-{language}" for language in WMT24PP_PAIRS)
    rows = open_dataset(
        f"hf://google/wmt24pp?configs={configs}&split=train&revision={WMT24PP_REVISION}"
    )
    for row in rows.read():
        if not row.data.get("is_bad_source"):
            yield row.data


def flores_rows(*, into_english: bool) -> Iterator[dict[str, object]]:
    """Yield FLORES+ devtest sentences of every language beside the English one of the same number.

    Raises:
        DatasetError: The hub cannot be reached, or its terms were not accepted.
    """
    address = f"hf://openlanguagedata/flores_plus?split=devtest&revision={FLORES_REVISION}&config="
    english = {
        row.data["id"]: row.data["text"] for row in open_dataset(f"{address}eng_Latn").read()
    }
    for language in FLORES_LANGUAGES:
        for row in open_dataset(f"{address}{language}").read():
            number, text = row.data["id"], row.data["text"]
            source, target = (language, "eng_Latn") if into_english else ("eng_Latn", language)
            texts = {"eng_Latn": english[number], language: text}
            yield {
                "id": f"{source}-{target}-{number}",
                "pair": f"{source}-{target}",
                "source": texts[source],
                "target": texts[target],
            }


@scorer(metrics=[corpus_chrf_metric(), corpus_chrf_pp(), corpus_bleu_metric()], in_process=True)
def one_pair(sample: ScorerInput) -> dict[str, object]:
    """Give chrF and chrF++ of one sentence; those of the corpus are computed over all of them."""
    return dict(chrf(sample))


@scorer(
    metrics=[corpus_chrf_by_pair(), corpus_chrf_pp_by_pair(), corpus_bleu_by_pair()],
    in_process=True,
)
def many_pairs(sample: ScorerInput) -> dict[str, object]:
    """Give chrF and chrF++ of one sentence; those of a pair's corpus are computed over all."""
    return dict(chrf(sample))


def _wmt14(source: str, target: str) -> Benchmark:
    pair = f"{source}-{target}"
    # The files are named by the pair with English last, in both directions.
    other_language = target if source == "en" else source
    address = f"hf://wmt/wmt14?file={other_language}-en/{{}}-*.parquet&revision={WMT14_REVISION}"
    return benchmark(
        name=f"wmt14_{source}_{target}",
        description=f"WMT14, newstest2014 from {NAMES[source]} to {NAMES[target]}, 3,003 sentences",
        dataset=address.format("test"),
        prompt=PROMPT,
        target_delimiter="\n\n",
        prepare_row=partial(with_pair, pair=pair),
        fewshot_dataset=address.format("validation"),
        card=Card(
            paper="Findings of the 2014 Workshop on Statistical Machine Translation, W14-3302",
            licence="not stated; free for research, as the workshop says",
            citation="Bojar et al., WMT 2014",
            metric="corpus_bleu",
            homepage="https://huggingface.co/datasets/wmt/wmt14",
            revision=WMT14_REVISION,
            languages=(source, target),
        ),
    )(one_pair)


def _many(
    name: str,
    description: str,
    rows: Callable[[], Iterator[dict[str, Any]]],
    card: Card,
    **options: Any,
) -> Benchmark:
    return benchmark(
        name=name,
        description=description,
        dataset=rows,
        prompt=PROMPT,
        target_delimiter="\n\n",
        category_field="pair",
        prepare_row=with_pair,
        card=card,
        **options,
    )(many_pairs)


_FLORES_CARD = Card(
    paper=(
        "The FLORES-200 benchmark of No Language Left Behind, arXiv 2207.04672; FLORES+ of the Open"
        " Language Data Initiative"
    ),
    licence="CC-BY-SA-4.0; gated",
    citation="NLLB Team, 2022; Maillard et al., WMT 2024",
    metric="corpus_chrf_by_pair/mean",
    homepage="https://huggingface.co/datasets/openlanguagedata/flores_plus",
    revision=FLORES_REVISION,
    languages=("ar", "bn", "zh", "de", "en", "fr", "hi", "ja", "ru", "es", "sw"),
)

wmt14_de_en = _wmt14("de", "en")
wmt14_en_de = _wmt14("en", "de")
wmt14_en_fr = _wmt14("en", "fr")
wmt14_fr_en = _wmt14("fr", "en")
wmt24pp = _many(
    "wmt24pp",
    "WMT24++, 960 paragraphs from English into each of nine languages",
    wmt24pp_rows,
    Card(
        paper=(
            "WMT24++: Expanding the Language Coverage of WMT24 to 55 Languages & Dialects, arXiv"
            " 2502.12404"
        ),
        licence="Apache-2.0",
        citation="Deutsch et al., 2025",
        metric="corpus_chrf_by_pair/mean",
        homepage="https://huggingface.co/datasets/google/wmt24pp",
        revision=WMT24PP_REVISION,
        languages=("en", "cs", "de", "es", "hi", "is", "ja", "ru", "uk", "zh"),
    ),
    group_field="document_id",
)
flores_from_english = _many(
    "flores_from_english",
    "FLORES+ devtest, 1,012 sentences from English into each of ten languages",
    partial(flores_rows, into_english=False),
    _FLORES_CARD,
    id_field="id",
)
flores_into_english = _many(
    "flores_into_english",
    "FLORES+ devtest, 1,012 sentences into English from each of ten languages",
    partial(flores_rows, into_english=True),
    _FLORES_CARD,
    id_field="id",
)
