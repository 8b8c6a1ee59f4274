"""Large arrays are exchanged between interpreters by shared memory, or by the pipe if there is none."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from autotest.frameworks import framework
from autotest.frameworks.failures import CandidateDied
from autotest.frameworks.remote import shared_memory, wire
from autotest.frameworks.remote.shared_memory import KEPT, LIMIT, SharedMemory
from autotest.program import Array
from generators.dtypes import DTYPES, numpy_dtype

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files without a name")
LARGE = 1 << 18


@pytest.fixture
def memory():
    made = SharedMemory.made()
    yield made
    made.close()


def crossed(message, memory):
    """Return `message` as it arrives, and the number of its bytes that came through the pipe."""
    stream = io.BytesIO()
    wire.send(stream, message, memory)
    stream.seek(0)
    return wire.receive(stream, memory.taken), len(stream.getvalue())


LAYOUTS = {
    "as it is made": lambda x: x,
    "in columns": np.asfortranarray,
    "with gaps": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1],
    "one row for all": lambda x: np.broadcast_to(x[0], x.shape),
    "transposed": lambda x: x.T,
    "without elements": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_dtype_and_layout_arrives_as_it_was_sent(layout, memory):
    for dtype in DTYPES:
        sent = layout((np.arange(LARGE) % 100).reshape(4, -1).astype(numpy_dtype(dtype)))
        (small, found), by_pipe = crossed((np.ones(2), sent), memory)
        assert found.dtype == sent.dtype
        assert np.array_equal(found, sent)
        assert small.tolist() == [1, 1]
        assert by_pipe < 1000
        memory.clear()


def test_a_nan_keeps_its_bits(memory):
    sent = np.full(LARGE, 0x7FC12345, "uint32").view("float32")
    found, _ = crossed(sent, memory)
    assert np.array_equal(found.view("uint32"), sent.view("uint32"))


def test_what_has_no_room_goes_by_the_pipe(memory, monkeypatch):
    monkeypatch.setattr(shared_memory, "LIMIT", 3 * LARGE)
    sent = [np.full(LARGE, number, "uint8") for number in range(5)]
    found, by_pipe = crossed(sent, memory)
    assert [(len(one), {*one.tolist()}) for one in found] == [(LARGE, {number}) for number in range(5)]
    assert by_pipe // LARGE == 2
    memory.clear()
    assert crossed(sent[:3], memory)[1] < LARGE


def test_where_memory_is_full_it_goes_by_the_pipe(memory, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared_memory.os, "posix_fallocate", full)
    found, by_pipe = crossed(np.ones(LARGE), memory)
    assert found.tolist() == [1] * LARGE
    assert by_pipe > LARGE


def test_much_memory_is_given_back_when_all_of_it_was_taken(memory):
    crossed(np.ones(2 * KEPT, "uint8"), memory)
    memory.clear()
    assert Path(f"/proc/self/fd/{memory.file}").stat().st_blocks * 512 <= KEPT
    assert Path(f"/proc/self/fd/{memory.file}").stat().st_size == LIMIT


def _held():
    return {line for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:autotest" in line}


@pytest.mark.parametrize("shared", [True, False])
def test_large_tensors_come_back_as_they_went_and_nothing_is_left_after_a_death(shared, monkeypatch, warm_peers):
    before = _held()
    if not shared:
        monkeypatch.setattr(SharedMemory, "made", classmethod(lambda cls: None))
    candidate = framework(f"python:{sys.executable}")
    candidate.start = candidate.start.replace("\nmain(", "\nimport os, torch\ntorch.exp = lambda x: os.abort()\nmain(")
    arrays = [np.arange(LARGE, dtype="float32") + number for number in range(3)]
    tensors = [candidate.tensor(Array(array, "float32")) for array in arrays]
    for array in arrays:
        array[:] = 7  # memory of the test
    candidate.overwrite(tensors[2], Array(np.full(LARGE, 5, "float32"), "float32"))
    assert [value.data[1] for value in candidate.values(tensors)] == [1, 2, 5]
    kept = candidate.values(tensors[:1])[0].data
    candidate.invoke("method", "add_", (tensors[0], 1), {})
    assert candidate.values(tensors[:1])[0].data[0] == 1
    assert kept[0] == 0  # the next answer has not overwritten it
    assert len(_held() - before) == 2 * shared
    candidate.invoke("function", "exp", (tensors[0],), {})
    with pytest.raises(CandidateDied, match="was killed by SIGABRT"):
        candidate.synchronize()
    assert not _held() - before
