"""Ten failures with planted faults, and the text of each report without the parts that differ between runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autotest import AutotestError, autotest, random_tensor, torch
from autotest.frameworks import Framework, Pair, registry
from autotest.frameworks.torch import TorchFramework
from tests.support import deadly, faults
from tests.support.faulty import FaultyTorch, returning, with_gradient
from tests.support.graph_torch import GraphTorch

EXPECTED = Path(__file__).parent / "expected"


def value(folder: Path) -> str:
    @autotest(n=2)
    def test_relu():
        x = random_tensor(shape=(2, 3), low=1, high=2)
        return torch.relu(x) + torch.exp(x)

    return report(test_relu, faults.wrong_relu())


def gradient(folder: Path) -> str:
    @autotest(n=2)
    def test_relu():
        return torch.relu(random_tensor(shape=(2, 2), low=1, high=2))

    return report(test_relu, faults.wrong_relu_gradient())


def dtype(folder: Path) -> str:
    @autotest(n=2)
    def test_neg():
        return torch.neg(random_tensor(shape=(3,), dtype=int, low=1, high=9))

    return report(test_neg, FaultyTorch({"neg": returning(lambda result: result.float())}))


def shape(folder: Path) -> str:
    @autotest(n=2)
    def test_relu():
        return torch.relu(random_tensor(shape=(2, 3)))

    return report(test_relu, faults.short_relu())


def exception(folder: Path) -> str:
    @autotest(n=2)
    def test_relu():
        return torch.relu(random_tensor(shape=(2, 3)))

    return report(test_relu, faults.missing_relu())


def accepted(folder: Path) -> str:
    @autotest(n=2, check_errors=True)
    def test_matmul():
        return torch.matmul(random_tensor(shape=(2, 3)), random_tensor(shape=(2, 3)))

    def forgiving(matmul: Any) -> Any:
        return lambda x, y: matmul(x, y.transpose(0, -1))

    return report(test_matmul, FaultyTorch({"matmul": forgiving}))


def graph(folder: Path) -> str:
    @autotest(n=2, check_graph=True)
    def test_relu():
        return torch.relu(random_tensor(shape=(2, 3), low=1, high=2))

    return report(test_relu, GraphTorch({"relu": lambda relu: lambda x: relu(x) + 1.0}))


def numeric(folder: Path) -> str:
    @autotest(n=2, check_grad="numeric")
    def test_relu():
        return torch.relu(random_tensor(shape=(2, 2), low=1, high=2))

    def twice(name: str) -> FaultyTorch:
        return FaultyTorch({"relu": with_gradient(lambda gradient: gradient * 2)}, name=name)

    return report(test_relu, twice("candidate"), twice("reference"))


def gate(folder: Path) -> str:
    @autotest(n=2, auto_backward=False)
    def test_exp():
        return torch.exp(random_tensor(shape=(2, 2)))

    return report(test_exp, faults.none())


def crash(folder: Path) -> str:
    """Return the report of a test that died in an earlier process. The test runs in other processes."""
    import subprocess
    import sys

    lines = [
        "from autotest import autotest, random_tensor, torch",
        "@autotest(n=2)",
        "def test_cosh():",
        "    return torch.cosh(random_tensor(shape=(2,)))",
    ]
    file = folder / "test_deadly.py"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "AUTOTEST_CANDIDATE": f"{deadly.__name__}:six"}
    done = [
        subprocess.run(
            [sys.executable, "-c", "import test_deadly; test_deadly.test_cosh()"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        for _ in range(2)  # the first process dies, and the second one reports it
    ]
    return normalised(done[1].stderr.partition("Divergence: ")[2])


REPORTS: Mapping[str, Callable[[Path], str]] = MappingProxyType(
    {made.__name__: made for made in (value, gradient, dtype, shape, exception, accepted, crash, graph, numeric, gate)}
)


def report(test: Callable[[], None], candidate: Framework, reference: Framework | None = None) -> str:
    """Return the error of `test` with the framework `candidate`."""
    pair = Pair(reference or TorchFramework(), candidate)
    usual = registry.pair
    registry.pair = lambda reference, candidate: pair  # type: ignore[assignment]
    try:
        test()
    except AutotestError as error:
        return normalised(str(error))
    finally:
        registry.pair = usual
    raise AssertionError(f"{test.__name__} passed")


def normalised(text: str) -> str:
    """Return `text` without folders, versions, addresses and times."""
    text = re.sub(r"\S*/failures/", "FOLDER/failures/", text)
    text = re.sub(
        r"^(Versions: +).*$",
        lambda match: match[1] + re.sub(r" \d[^,\s]*", " VERSION", match[0][len(match[1]) :]),
        text,
        flags=re.MULTILINE,
    )
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    return text.rstrip() + "\n"
