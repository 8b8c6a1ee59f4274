"""What to say of mistakes that a test body makes with dual objects: one sentence, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from autotest.base.errors import UsageError, nearest
from autotest.comparison.rejection import first_line, unknown_keywords
from autotest.frameworks import Pair
from autotest.program import CallKind

#: Parts of torch's namespace that are no operators: what a test may have meant, and what to write instead.
_UNRECORDABLE: Mapping[str, str] = MappingProxyType(
    {
        "testing": "both sides are compared with each other anyway. Return the tensors to compare; to hold one side "
        "against numbers of your own, give torch.testing x.reference or x.candidate",
        "compile": "it traces Python code, and a trial makes its calls one by one on both sides. Call the function "
        "itself; compiled code is tested as a candidate of its own, by an adapter that compiles",
        "jit": "it traces Python code, and a trial makes its calls one by one on both sides. Call the function itself",
        "fx": "it traces Python code, and a trial makes its calls one by one on both sides. Call the function itself",
        "vmap": "it takes a Python function, which a trial cannot record. Call the function itself on the batch",
        "func": "it takes a Python function, which a trial cannot record. Call the function itself",
        "onnx": "it exports a module of one framework. Give it m.reference or m.candidate",
    }
)


def unrecordable(path: str) -> UsageError | None:
    """What to say when a test uses something of the namespace that no trial can record; None for anything else."""
    said = _UNRECORDABLE.get(path.partition(".")[0]) or _INSTEAD.get(path)
    return None if said is None else UsageError(f"torch.{path} of dual objects: {said}")


#: The same of names further down.
_INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("utils.data.Dataset", "utils.data.IterableDataset", "utils.data.Sampler"),
            "a loader calls it on one side. Give the loader a torch.utils.data.TensorDataset of dual tensors, or take "
            "batches of these in the body: x[start : start + size]",
        ),
        **dict.fromkeys(
            ("utils.data.random_split", "utils.data.RandomSampler", "utils.data.WeightedRandomSampler"),
            "each side would draw an order of its own. Draw one for both, order = torch.randperm(n), and take x[order]",
        ),
    }
)


def check_call(path: str, named: Mapping[str, object]) -> None:
    """Raise `UsageError` where each side would draw for itself what both are to have alike."""
    if path == "utils.data.DataLoader" and named.get("shuffle"):
        raise UsageError(
            "torch.utils.data.DataLoader(shuffle=True): each side would draw an order of its own. Draw one for both, "
            "order = torch.randperm(n), and load x[order]"
        )


def gradients_off(target: str, reference: str) -> UsageError:
    """What to say when the reference alone was told to record no gradients, or to record them again."""
    return UsageError(
        f"{target} was called where {reference} alone was told whether to record gradients (its own no_grad, "
        "enable_grad or inference_mode stands around the call): write `with torch.no_grad():` with the torch of "
        "`from autotest import torch`, which tells both sides"
    )


def device_missing(target: str, pair: Pair, error: Exception) -> UsageError:
    """What to say when a test asks for a device that is not there."""
    return UsageError(
        f"{target}: {pair.reference.name} has no such device here ({first_line(error)}). Expected one of "
        f"{', '.join(map(repr, pair.devices))}, which both sides have: write random_device(), which draws from these"
    )


def with_nearest_keyword(error: Exception, pair: Pair, kind: CallKind, target: str) -> Exception:
    """`error`, or one that also says which keyword of the call is unknown, and which one may have been meant."""
    unknown = unknown_keywords(str(error)) if isinstance(error, TypeError) else []
    if not unknown:
        return error
    known = {*map(str, pair.annotations(kind, target, None, 0, ()))} if kind == "function" else set()
    known |= {*re.findall(r"(\w+)(?=[,)=])", str(error).partition("but expected")[2])}
    said = [f"no argument {name!r}{meant}" for name in unknown if (meant := nearest(name, known - {*unknown}))]
    return TypeError(f"{'; '.join(said)}\n{error}") if said else error
