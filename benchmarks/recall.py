"""``python -m benchmarks.recall LEDGER MAP...``: which divergences of a ledger sweeps' maps (their JSON) show, too.

The sweeps must not have been given the ledger. An entry is found when a finding is about the same operator and has the
same symptom, or when cells are absent for the want of it; a module and the function of its name are one operator. The
operator is the one that the entry's reproducer calls last, but for what only makes tensors and gradients.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from autotest.results import ledger
from autotest.results.ledger import LedgerEntry
from autotest.results.sweep_findings import symptoms_of

#: Least share of the divergences that should be found.
GOAL: Final = 0.85
#: Matches the message of a finding in which the candidate accepts arguments that the reference refuses.
_ACCEPTED: Final = re.compile(r" refuses \(.*accepts", re.DOTALL)


class Known(NamedTuple):
    """One divergence of a ledger, and the operators by which a sweep can show it."""

    entry: LedgerEntry
    operators: frozenset[str]


#: Packages of torch whose operators have the same names as others.
_PACKAGES: Final = re.compile(r"^(Tensor|special|linalg|functional|nn\.functional|nn|optim)\.")


def folded(name: str) -> str:
    """Return `name` without package and spelling: ``nn.LeakyReLU`` and ``nn.functional.leaky_relu_`` give the same."""
    return _PACKAGES.sub("", name).replace("_", "").lower()


def cell_names(name: str) -> tuple[str, str]:
    """Return the names that a cell about `name` may have: that of the module and that of the function."""
    last = name.rpartition(".")[2]
    return last, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower().rstrip("_")


def known(entry: LedgerEntry, folder: Path) -> Known:
    """Return the operators of `entry`: the one that it names and the last one that its reproducer calls."""
    called = _called(folder / entry.reproducer) if entry.reproducer else []
    if any(name.startswith("optim.") for name in called):
        return Known(entry, frozenset(name for name in called if name.startswith("optim.")))
    if not called:
        return Known(entry, frozenset([entry.operator]))
    named = {entry.operator} if folded(entry.operator) in map(folded, called) else set()
    return Known(entry, frozenset({*named, called[-1]}))


def _called(reproducer: Path) -> list[str]:
    """Return the names that a reproducer's program calls, in order.

    Calls that only make tensors, the states of modules, or gradients are omitted.
    """
    for statement in ast.parse(reproducer.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "program":
            reader = _Reader()
            reader.visit(statement)
            return [name for name in reader.called if name.rpartition(".")[2] not in _AROUND]
    return []


#: Calls of a finding's program that only lay out its inputs or backpropagate gradients.
_ARRANGING: Final = frozenset(
    "clone permute expand as_strided view_as getitem backward autograd.backward autograd.grad".split()
)
#: Calls of a reproducer that are not about its operator.
_AROUND: Final = frozenset(
    "tensor zeros ones from_numpy backward requires_grad_ detach clone double train eval parameters list no_grad array "
    "zero_grad step astype reshape".split()
)
#: The modules that reproducers import.
_MODULES: Final = frozenset(("torch", "np", "copy"))
_OPERATORS: Final = {
    ast.Mult: "mul", ast.Add: "add", ast.Sub: "sub", ast.Mod: "mod", ast.FloorDiv: "floordiv",
    ast.Gt: "gt", ast.Lt: "lt", ast.GtE: "ge",
}  # fmt: skip


class _Reader(ast.NodeVisitor):
    """Collects the names that a program calls. A call of a module object is recorded under the name of its class."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self._made: dict[str, str] = {}

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        made = _dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
        if isinstance(node.targets[0], ast.Name):
            self._made[node.targets[0].id] = made
        elif isinstance(node.targets[0], ast.Subscript):
            self.called.append("setitem")

    def visit_With(self, node: ast.With) -> None:
        """Skip the block that copies the parameters into a module."""

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = _dotted(node.func)
        name = self._made.get(name, name)
        if name and not name.startswith("np."):
            self.called.append(name.removeprefix("torch."))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node)
        self.called.append(_OPERATORS[type(node.op)])

    def visit_Compare(self, node: ast.Compare) -> None:
        self.generic_visit(node)
        self.called.append(_OPERATORS[type(node.ops[0])])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        # Only names: items of a tuple have numbers as indices, and views of an input have slices.
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Name):
            self.called.append("getitem")


def _dotted(node: ast.expr) -> str:
    """Return a dotted name such as ``torch.nn.ReLU`` as it is written; any other method is one of ``Tensor``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner if owner.partition('.')[0] in _MODULES else 'Tensor'}.{node.attr}"
    return ""


def shows(finding: Mapping[str, Any], about: Known) -> bool:
    """Return whether `finding`, from a sweep's map, is about the same operator and has the same symptom."""
    names = [finding["operator"].partition(":")[0]]
    if not names[0].startswith("optim."):  # an optimizer's program has other calls only to get gradients
        names += [name for name in finding["calls"] if name not in _ARRANGING]
    symptoms = symptoms_of(finding["check"])
    symptom = about.entry.symptom
    message = finding["message"]
    if symptom in ("shape", "dtype") and "gradient" in finding["check"] and f"expected {symptom}" not in message:
        return False  # the gradient differs in something else
    if finding["check"] == "errors" and (symptom == "accepted") != bool(_ACCEPTED.search(message)):
        return False  # the other kind: the candidate refuses what the reference accepts, or vice versa
    if finding["check"] == "alias" and "/out=/" in finding["sample"]:
        return False  # an `out=` tensor that is not written to
    if symptom == "gradient" and " raised " in message:
        return False  # no gradient was computed that could differ
    return not set(map(folded, about.operators)).isdisjoint(map(folded, names)) and symptom in symptoms


def lacks(cell: Mapping[str, Any], about: Known) -> bool:
    """Return whether `cell`, from a map, is absent because the candidate lacks an operator that `about` is about."""
    if cell["status"] != "absent" or about.entry.symptom != "exception":
        return False
    gone = re.search(r" has no (\S+)$", cell["absent"])
    return gone is not None and gone[1] in about.operators


def says_the_same(finding: Mapping[str, Any], about: Known) -> bool:
    """Return whether the finding's message also matches the pattern of the ledger's entry."""
    return re.search(about.entry.match, finding["message"]) is not None


def missed(entries: Iterable[Known], maps: Sequence[Mapping[str, Any]]) -> list[Known]:
    """Return the entries that neither a finding nor an absent cell of the maps shows."""
    findings = [finding for one in maps for finding in one["findings"]]
    cells = [cell for one in maps for cell in one.get("cells", ())]
    return [
        about
        for about in entries
        if not any(shows(finding, about) for finding in findings) and not any(lacks(cell, about) for cell in cells)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("ledger", type=Path)
    parser.add_argument(
        "maps", type=Path, nargs="*", help="what `autotest sweep --json` wrote; without it, print its -k"
    )
    chosen = parser.parse_args()
    entries = [known(entry, chosen.ledger.parent) for entry in ledger.read(chosen.ledger)]
    if not chosen.maps:
        names = sorted({name for about in entries for own in about.operators for name in cell_names(own)})
        print(" or ".join(f"{name}/ or {name}:" for name in names))
        return 0
    maps = [json.loads(place.read_text(encoding="utf-8")) for place in chosen.maps]
    without = missed(entries, maps)
    for about in without:
        print(f"missed: {about.entry.key} ({', '.join(sorted(about.operators))}; {about.entry.symptom})")
    findings = [finding for one in maps for finding in one["findings"]]
    worded = sum(any(shows(f, about) and says_the_same(f, about) for f in findings) for about in entries)
    share = 1 - len(without) / len(entries)
    print(f"{len(entries) - len(without)} of {len(entries)} are found ({share:.1%}); {worded} with the ledger's words")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
