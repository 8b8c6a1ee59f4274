"""An oracle must compute what torch computes: torch agrees with each of them on torch's own samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from autotest.base.errors import FrameworkMissing
from autotest.diagnosis.oracles.forward_oracles import opinions
from autotest.diagnosis.oracles.oracle_result import OracleResult
from autotest.frameworks import Pair, framework
from autotest.frameworks.samples import DatabaseEntry, SampleDatabase
from autotest.program import Program
from autotest.program.semantics import in_place
from autotest.replaying.agreement import results
from autotest.replaying.replay import replay

TORCH = framework("torch")
PAIR = Pair(TORCH, TORCH)
#: A few operators of each kind of oracle. The slow test checks all operators.
OPERATORS = (
    "index_select", "floor_divide", "remainder", "norm", "nn.functional.layer_norm", "nn.functional.instance_norm",
    "bitwise_and", "clamp", "nn.functional.kl_div", "nn.functional.cosine_similarity", "nn.functional.relu6", "pow",
    "nn.functional.hardswish", "nn.functional.hardtanh", "sort", "softmax", "amax", "where", "addmm",
    "masked_fill", "cumsum", "max", "min", "split", "unbind", "fft.irfftn", "nn.functional.conv2d",
    "nn.functional.conv_transpose2d", "nn.functional.avg_pool2d", "nn.functional.max_pool1d",
    "nn.functional.adaptive_avg_pool2d", "nn.functional.pad", "nn.functional.interpolate", "gather",
    "nn.functional.cross_entropy",
    "nn.functional.binary_cross_entropy_with_logits", "__getitem__", "scatter", "scatter_add", "index_add", "topk",
    "median", "lgamma", "tile", "squeeze", "linalg.inv", "linalg.slogdet", "linalg.cholesky", "cdist", "kron", "cov",
    "quantile", "mode", "kthvalue", "logcumsumexp", "cummax", "diff", "histc", "isin", "take_along_dim", "index_copy",
    "scatter_reduce", "masked_scatter", "nn.functional.embedding_bag", "nn.functional.grid_sample",
    "nn.functional.scaled_dot_product_attention", "nn.functional.gaussian_nll_loss", "gcd", "heaviside",
)  # fmt: skip


def oracles(program: Program) -> Iterator[OracleResult]:
    """Return the opinions on the result of the last call, which is torch's on both sides."""
    last = program.calls[-1]
    slot = last.args[0].slot if in_place(last) else last.slot
    given = results(program, TORCH)
    for suffix in ("", "[0]", "[1]"):
        if (slot, suffix) not in given:
            continue
        asked = ("value", "shape", "dtype")
        yield from opinions(program, (slot, suffix), PAIR, about=asked, writer=last.slot, given=(given, given))


def repeats(program: Program) -> bool:
    """Return whether torch gives the same result again, as operators that draw random numbers do not."""
    told = []
    for seed in (1, 2):
        TORCH.seed(seed)
        given = replay(program, TORCH)
        told.append([value.data.tobytes() for value in TORCH.values(tensors_of(given.values[-1:]))])
    return told[0] == told[1]


def tensors_of(values: Any) -> list[Any]:
    if isinstance(values, (tuple, list)):
        return [tensor for value in values for tensor in tensors_of(value)]
    return [values] if isinstance(values, TORCH.tensor_types) else []


def accusing(database: SampleDatabase, entry: DatabaseEntry, dtype: str, most: int) -> tuple[bool, list[str]]:
    """Return whether an oracle of `entry` was heard, and what those said that accuse a side.

    What is random is no evidence. It runs again only for what somebody says about it, and for the first oracle.
    """
    heard, found = False, []
    for form in entry.forms:
        for number, sample in enumerate(database.samples(entry.key, form, dtype, "sample", 3)):
            if number == most:
                break
            if sample.program is None:
                continue
            said = [*oracles(sample.program)]
            accused = [oracle for oracle in said if any(oracle.accuses)]
            if (accused or (said and not heard)) and repeats(sample.program):
                heard = True
                found += [f"{entry.key} {form} {dtype} {number}: {oracle}" for oracle in accused]
    return heard, found


@pytest.mark.parametrize("name", ["norm", "atleast_2d", "broadcast_tensors", "meshgrid"])
def test_a_function_that_torch_defines_in_a_module_of_its_own_is_asked_by_its_usual_name(name: str) -> None:
    function, given = getattr(TORCH.root, name), TORCH.root.ones(3)
    called = TORCH.function_called(lambda: function(given, indexing="ij") if name == "meshgrid" else function(given))
    assert called is not None
    assert called.path == name
    assert [said.name for said in TORCH.reference_implementations(called.path)] == [f"torch._refs.{name}"]


#: Operators for which only SciPy, if it is installed, is an oracle.
SPECIAL = ("digamma", "polygamma", "mvlgamma", "erfinv", "igamma", "special.ndtri", "special.i1e", "special.zeta")


#: Operators of which torch computes only seven digits, also in float64; only SciPy is an oracle for them.
ROUGH = tuple(f"special.bessel_{name} " for name in ("j0", "j1", "y0", "y1"))


@pytest.fixture(scope="module")
def databases() -> list[tuple[SampleDatabase, DatabaseEntry]]:
    try:
        return [(base, entry) for base in TORCH.sample_databases() for entry in base.entries()]
    except FrameworkMissing as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", OPERATORS)
def test_torch_agrees_with_its_oracles(name: str, databases: list[tuple[SampleDatabase, DatabaseEntry]]) -> None:
    heard = False
    for base, entry in [(base, entry) for base, entry in databases if entry.name == name]:
        for dtype in {"float64", "int64"} & set(entry.dtypes):
            answered, wrong = accusing(base, entry, dtype, 6)
            assert not wrong
            heard = heard or answered
    assert heard


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIAL)
def test_torch_agrees_with_scipy(name: str, databases: list[tuple[SampleDatabase, DatabaseEntry]]) -> None:
    pytest.importorskip("scipy.special")
    test_torch_agrees_with_its_oracles(name, databases)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_torch_agrees_with_every_oracle_on_every_operator(
    databases: list[tuple[SampleDatabase, DatabaseEntry]],
) -> None:
    wrong: list[str] = []
    heard: set[str] = set()
    for base, entry in databases:
        if base.name == "public names":
            continue  # its inputs are drawn, and are not torch's samples
        for dtype in {"float64", "int64", "bool"} & set(entry.dtypes):
            answered, found = accusing(base, entry, dtype, 12)
            wrong += found
            heard |= {entry.key} if answered else set()
    assert not [said for said in wrong if not said.startswith(ROUGH)]
    assert len(heard) > 250
