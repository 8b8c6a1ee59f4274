"""Findings in the store survive damaged files and concurrent writers."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from autotest.base.errors import StoreDamaged, UsageError
from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.results.finding import Finding
from autotest.results.verification import State, Verification
from autotest.storage.store import Damaged, Store, Stored, StoreUnwritable


def finding(
    test: str = "tests/test_relu.py::test_relu",
    seed: int = 17,
    message: str = "x0.grad: 3 differ",
    file: Path | None = None,
) -> Finding:
    program = Program(
        (
            Call("tensor", "float32", (Captured(0),), {"requires_grad": True}, 0),
            Call("function", "nn.functional.relu", (Ref(0),), {}, 1),
        ),
        (Array(np.array([0.1, -0.0, np.nan], "float32"), "float32"),),
    )
    return Finding(
        test=test,
        base_seed=5,
        index=3,
        seed=seed,
        mismatches=(Mismatch("v1", 1, "gradient", "backward", "candidate", message),),
        sides=("torch", "oneflow"),
        program=program,
        versions={"torch": "2.0.1", "oneflow": "0.9.0"},
        settings={"n": 20, "rtol": None, "atol": 1e-5},
        choices=[("integer", 3, 1, 6), ("uniform", 0.5, 0.0, 1.0)],
        verdict=("candidate is wrong",),
        script="print('é')\n",
        verified=Verification(State.VERIFIED),
        file=file,
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / ".autotest")


def test_a_relative_place_is_below_the_working_directory_of_the_moment(tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        assert Store(Path("kept")).failures == tmp_path / name / "kept" / "failures"


def test_a_finding_comes_back_as_it_was(store):
    one = finding(file=Path(__file__))
    path = store.save(one, "the report\n")
    again = store.load(path.name)
    assert (again.seed, again.index, again.report) == (17, 3, "the report\n")
    assert [list(choice) for choice in one.choices] == again.finding.choices
    assert again.finding.program is not None
    assert again.finding.program.arrays[0].data.tobytes() == one.program.arrays[0].data.tobytes()
    assert dataclasses.replace(again.finding, choices=one.choices, program=one.program) == one
    assert repr(again.finding.program) == repr(one.program)


def test_statistics_come_back(store):
    values = [TensorValue(np.array(data, "float32"), "float32", "cpu", False) for data in ([1, 2, 3], [1, 2.5, np.nan])]
    mismatches = compare_values("v1", *values, Comparison("forward", Tolerance(), 1))
    path = store.save(dataclasses.replace(finding(), mismatches=tuple(mismatches)))
    assert mismatches[0].statistics is not None
    assert repr(store.load(path.name).finding.mismatches) == repr(tuple(mismatches))


def test_the_folder_is_for_people_too(store):
    path = store.save(finding(), lambda folder: f"kept in {folder}")
    assert names(path) == ["arrays.npz", "failure.json", "program.json", "report.txt", "repro.py"]
    assert (path / "report.txt").read_text() == f"kept in {path}\n"
    assert json.loads((path / "failure.json").read_text())["operator"]
    assert (store.root / ".gitignore").read_text() == "*\n"
    assert path.name.startswith("relu-gradient-")


def test_without_a_report_the_mismatches_are_told(store):
    assert (store.save(finding()) / "report.txt").read_text() == "x0.grad: 3 differ\n"


def test_a_finding_without_program_and_script_is_kept_too(store):
    path = store.save(dataclasses.replace(finding(), program=None, script=None))
    assert names(path) == ["failure.json", "report.txt"]
    assert store.load(path.name).finding.program is None


def test_a_program_that_is_no_data_costs_the_program_and_not_the_finding(store):
    odd = Program((Call("function", "f", (object(),), {}, 0),), ())
    path = store.save(dataclasses.replace(finding(), program=odd))
    assert store.load(path.name).finding.program is None


def test_the_key_is_the_failure_s_and_not_the_trial_s():
    key = finding().identity.key
    assert finding(seed=1).identity.key == key
    assert finding(message="x0.grad: 4 differ").identity.key == key
    assert finding(test="test_other.py::test_relu").identity.key == key
    assert finding(message="x0.grad: missing").identity.key != key


def test_saving_again_replaces(store):
    store.save(finding(seed=1))
    path = store.save(finding(seed=2))
    assert [entry.seed for entry in store.list()] == [2]
    assert names(store.failures) == [path.name]


def test_the_failures_of_one_test_are_found(store):
    store.save(finding(test="a"))
    store.save(finding(test="b", seed=2, message="x0.grad: missing"))
    assert [entry.seed for entry in store.for_test("b")] == [2]
    assert list(store.for_test("c")) == []


def test_a_failure_belongs_to_the_file_of_its_test_and_not_to_another_with_the_same_id(store, tmp_path):
    one, other, gone = (tmp_path / folder / "test_it.py" for folder in ("one", "other", "gone"))
    for file in (one, other):
        file.parent.mkdir()
        file.touch()
    store.save(finding(test="test_it.py::test_a", seed=1, file=one))
    store.save(finding(test="test_it.py::test_a", seed=2, message="x0.grad: missing", file=gone))
    store.save(finding(test="test_it.py::test_a", seed=3, message="x0.grad: of another dtype"))
    found = [sorted(entry.seed for entry in store.for_test("test_it.py::test_a", file)) for file in (one, other)]
    assert found == [[1, 2, 3], [2, 3]]


def test_a_failure_is_found_whichever_other_tests_are_collected(store, tmp_path):
    file = tmp_path / "other" / "test_it.py"
    file.parent.mkdir()
    file.touch()
    store.save(finding(test="other/test_it.py::test_a", seed=1, file=file))
    _long_unchanged(store)
    assert [entry.seed for entry in store.for_test("test_it.py::test_a", file)] == [1]
    assert list(store.for_test("test_it.py::test_b", file)) == []


def _long_unchanged(store: Store) -> None:
    os.utime(store.failures, (1, 1))


def test_failures_are_looked_through_once_however_many_tests_ask(store, monkeypatch):
    for what in ("missing", "superfluous", "of another dtype"):
        store.save(finding(test="autotest sweep", message=f"x0.grad: {what}"))
    _long_unchanged(store)
    read: list[Path] = []
    whole = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or whole(path))
    for number in range(5):
        assert list(store.for_test(f"test {number}")) == []
    assert len(read) == 3


def test_what_is_kept_or_forgotten_later_counts_for_the_next_test(store):
    kept = store.save(finding(test="a"))
    _long_unchanged(store)
    assert [entry.key for entry in store.for_test("a")] == [kept.name]
    later = store.save(finding(test="a", seed=2, message="x0.grad: missing"))
    assert {entry.key for entry in store.for_test("a")} == {kept.name, later.name}
    store.remove(kept.name)
    assert [entry.key for entry in store.for_test("a")] == [later.name]


def test_a_store_that_does_not_exist_is_empty(store):
    assert list(store.list()) == []
    assert list(store.for_test("a")) == []
    assert not store.root.exists()


def test_a_store_that_cannot_be_read_is_not_called_empty(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreDamaged, match="cannot be read: Too many levels of symbolic links; make the folder"):
        Store(tmp_path / "loop").list()


def test_removing(store):
    path = store.save(finding())
    store.remove(path.name)
    assert names(store.failures) == []
    with pytest.raises(UsageError, match="no failure"):
        store.remove(path.name)


@pytest.mark.parametrize("key", ["nothing", "../failures", "", ".old-1~x"])
def test_an_unknown_key_is_said_with_the_known_ones(store, key):
    known = store.save(finding()).name
    with pytest.raises(UsageError, match=known):
        store.load(key)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("failure.json", None, "failure.json is missing"),
        ("failure.json", b"{", "failure.json cannot be read"),
        ("failure.json", b"[]", "not written by autotest"),
        ("failure.json", b'{"format": "autotest failure", "version": 7}', "version 7"),
        ("failure.json", b'{"format": "autotest failure", "version": 1}', "has_script"),
        ("failure.json", b"\xff", "codec"),
        ("program.json", None, "program.json is missing"),
        ("program.json", b"{}", "expected a program"),
        ("arrays.npz", b"PK", "arrays are damaged"),
        ("repro.py", None, "repro.py is missing"),
        ("report.txt", b"\xff", "codec"),
    ],
)
def test_a_damaged_entry_is_named_and_the_others_are_read(store, name, content, why):
    bad = store.save(finding(test="bad"))
    store.save(finding(test="good", message="x0.grad: missing"))
    (bad / name).unlink()
    if content is not None:
        (bad / name).write_bytes(content)
    damaged = [entry for entry in store.list() if isinstance(entry, Damaged)]
    assert [entry.key for entry in damaged] == [bad.name]
    assert why in damaged[0].why
    assert len([entry for entry in store.list() if isinstance(entry, Stored)]) == 1
    assert list(store.for_test("bad")) == []
    with pytest.raises(StoreDamaged, match=bad.name):
        store.load(bad.name)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("verdict", [["a"]], "verdict is (['a'],); expected tuple"),
        ("file", 3, "TypeError"),
        ("test", ["a"], "test is ['a']; expected str"),
        ("date", None, "date is None; expected str"),
        ("versions", {"torch": 2}, "versions is {'torch': 2}; expected dict"),
        ("divergent", [], "divergent is []; expected"),
        ("divergent", 10**6, "divergent is 1000000; program.json has no such call"),
        ("mismatches", [], "has no mismatches"),
        ("identity", ["relu", 3, "forward", "candidate", "", "", ""], "symptom is 3; expected"),
    ],
)
def test_a_field_of_another_type_than_it_was_written_with_is_damage(store, field, value, why):
    bad = store.save(finding()) / "failure.json"
    bad.write_text(json.dumps({**json.loads(bad.read_text()), field: value}))
    (entry,) = store.list()
    assert isinstance(entry, Damaged)
    assert why in entry.why
    assert list(store.for_test(finding().test)) == []


def test_an_archive_that_zipfile_does_not_support_is_damage(store):
    bad = store.save(finding()) / "arrays.npz"
    data = bytearray(bad.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 6] = 144  # the version of the format that is needed to extract the first array
    bad.write_bytes(data)
    (entry,) = store.list()
    assert isinstance(entry, Damaged)
    assert "the arrays are damaged: NotImplementedError: zip file version 14.4" in entry.why


def test_a_stray_file_is_an_entry_that_cannot_be_read(store):
    store.save(finding())
    (store.failures / "stray").write_text("x")
    assert [type(entry) for entry in store.list()] == [Stored, Damaged]


def test_an_unwritable_place_is_said_and_nothing_is_left_there(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnwritable, match="AUTOTEST_DIR"):
        Store(tmp_path / "file").save(finding())


def test_a_failed_write_leaves_no_half_entry(store, monkeypatch):
    store.save(finding(seed=1))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreUnwritable, match="No space left"):
            store.save(finding(seed=2))
    assert [entry.seed for entry in store.list()] == [1]
    assert len(names(store.failures)) == 1


def test_an_entry_moved_aside_by_a_process_that_died_comes_back(store):
    path = store.save(finding())
    path.rename(store.failures / f".old-0123~{path.name}")
    (store.failures / ".new-1-dead").mkdir()
    assert [entry.key for entry in store.list()] == [path.name]
    assert store.load(path.name).seed == 17


def test_an_entry_that_was_moved_aside_does_not_come_back_after_it_was_removed(store):
    path = store.save(finding())
    path.rename(store.failures / f".old-0123~{path.name}")
    store.save(finding())
    store.remove(path.name)
    assert list(store.list()) == []


def test_the_temporary_store_takes_what_the_proper_one_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = Store.temporary().save(finding())
    assert (path / "repro.py").exists()


WRITER = """
import dataclasses, pathlib, sys
from autotest.base.settings import Tolerance
from autotest.storage.store import Store
store = Store(pathlib.Path(sys.argv[1]))
finding = dataclasses.replace(store.load(sys.argv[2]).finding, seed=int(sys.argv[3]))
for _ in range(40):
    store.save(finding)
"""


def test_two_processes_write_the_same_key_while_a_third_reads(store):
    key = store.save(finding(seed=0)).name
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(store.root), key, seed], stderr=subprocess.PIPE, text=True)
        for seed in ("1", "2")
    ]
    seen = []
    while any(writer.poll() is None for writer in writers):
        seen += store.list()
    assert [writer.communicate()[1] for writer in writers] == ["", ""]
    assert [entry for entry in seen if isinstance(entry, Damaged)] == []
    assert [entry.seed for entry in store.list()] in ([1], [2])
    assert [name for name in names(store.failures) if not name.startswith(".")] == [key]
