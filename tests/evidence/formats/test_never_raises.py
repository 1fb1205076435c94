"""Whatever the bytes, recognising gives facts: no exception, and no file without a word."""

from __future__ import annotations

import gzip
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from svcpath.evidence.facts.need import Kind
from svcpath.evidence.formats import text as texts
from svcpath.evidence.formats import yamltree
from svcpath.evidence.formats.evidence import EvidenceIndex
from svcpath.evidence.formats.item import Item
from svcpath.evidence.formats.recognise import FORMATS, recognise
from tests.evidence.samples import SAMPLES

FEW = settings(max_examples=120, deadline=None)
SMALL = {name: data for name, data in SAMPLES.items() if len(data) < 12_000}
sample = st.sampled_from(sorted(SMALL)).map(SMALL.__getitem__)


def check(data: bytes) -> None:
    found = recognise(data)
    assert found
    for item in found:
        if isinstance(item, Item) and item.kind in (Kind.DAMAGED, Kind.UNPLACED):
            assert item.value.why


@FEW
@given(st.binary(max_size=400))
def test_arbitrary_bytes_give_an_answer(data: bytes) -> None:
    check(data)


@FEW
@given(st.text(max_size=300))
def test_arbitrary_text_gives_an_answer(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@FEW
@given(sample, st.integers(min_value=0, max_value=12_000))
def test_a_file_cut_anywhere_gives_an_answer(data: bytes, at: int) -> None:
    check(data[: at % (len(data) + 1)])


@FEW
@given(sample, st.randoms(use_true_random=False))
def test_a_file_with_lines_dropped_or_swapped_gives_an_answer(data: bytes, random: Random) -> None:
    lines = data.split(b"\n")
    kept = [line for line in lines if random.random() > 0.1]
    random.shuffle(kept)
    check(b"\n".join(kept))


TOKENS = (
    b"{",
    b"[",
    b'"',
    b"\n",
    b": ",
    b"- ",
    b"*a",
    b"&a ",
    b"!!int ",
    b"0x",
    b"9" * 30,
    b"\xff",
    b"null",
    b"<<: *a",
)


@FEW
@given(sample, st.lists(st.tuples(st.integers(0, 12_000), st.sampled_from(TOKENS)), min_size=1, max_size=4))
def test_a_file_with_tokens_put_in_gives_an_answer(data: bytes, edits: list[tuple[int, bytes]]) -> None:
    for at, token in edits:
        place = at % (len(data) + 1)
        data = data[:place] + token + data[place:]
    check(data)


@FEW
@given(sample, st.data())
def test_every_reader_survives_a_file_of_another_kind(data: bytes, choice: st.DataObject) -> None:
    known = choice.draw(st.sampled_from(FORMATS))
    text = texts.decode(data)
    known.knows(text)
    known.read(text)


@FEW
@given(sample, st.integers(0, 12_000))
def test_a_cut_gzip_gives_an_answer(data: bytes, at: int) -> None:
    packed = gzip.compress(data)
    check(packed[: at % (len(packed) + 1)])


@FEW
@given(st.text(alphabet="ab:-[]{}&*!<>|?'\"# \n0x.,~", max_size=120))
def test_yaml_of_any_punctuation_gives_documents_or_typed_errors(text: str) -> None:
    list(yamltree.documents(text))


@settings(max_examples=25, deadline=None)
@given(st.permutations(sorted(SMALL)[:12]))
def test_the_order_of_files_changes_nothing(order: list[str]) -> None:
    reference = EvidenceIndex.of((name, SMALL[name]) for name in sorted(order)).observations
    assert EvidenceIndex.of((name, SMALL[name]) for name in order).observations == reference
