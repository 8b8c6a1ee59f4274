"""What to say of mistakes that a test body makes with dual objects: one sentence, and what to write instead."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from autotest.base.errors import UsageError, made_by_the_test, nearest
from autotest.comparison.rejection import first_line, is_missing_device, unknown_keywords
from autotest.frameworks import Pair, names
from autotest.program import Call

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


#: What pytest asks everything in a module of tests for, when it collects them.
_ASKED_BY_PYTEST = frozenset(("_mock_name", "_pytestfixturefunction"))


def is_asked_by_tools(name: str) -> bool:
    """Whether Python or pytest ask any object for `name`: to answer, no framework is to be imported for seconds."""
    return (name.startswith("__") and name.endswith("__") and name != "__version__") or name in _ASKED_BY_PYTEST


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


def other_side(name: str, pair: Pair) -> str:
    """What to add where `name` is that of a framework that is on neither side of `pair`; "" for any other."""
    if name not in names():
        return ""
    return f". The candidate is {pair.candidate.name} here, and not {name}: write .candidate, which is right for any"


def check_call(path: str, named: Mapping[str, object]) -> None:
    """Raise `UsageError` where each side would draw for itself what both are to have alike, `TypeError` for no path."""
    if not path:
        raise made_by_the_test(TypeError("torch is a module and no function: call one of its own, such as torch.relu"))
    if path == "utils.data.DataLoader" and named.get("shuffle"):
        raise UsageError(
            "torch.utils.data.DataLoader(shuffle=True): each side would draw an order of its own. Draw one for both, "
            "order = torch.randperm(n), and load x[order]"
        )


def not_called(path: str) -> Exception:
    """What to say when a ``with`` statement is given a function of the namespace, and not what it gives."""
    return made_by_the_test(TypeError(f"`with` takes what torch.{path} gives: write with torch.{path}(...):"))


def gradients_off(target: str, reference: str) -> UsageError:
    """What to say when the reference alone was told to record no gradients, or to record them again."""
    return UsageError(
        f"{target} was called where {reference} alone was told whether to record gradients (its own no_grad, "
        "enable_grad or inference_mode stands around the call): write `with torch.no_grad():` with the torch of "
        "`from autotest import torch`, which tells both sides"
    )


def called_back(running: str, target: str) -> UsageError:
    """What to say when one side, while it is `running`, calls a function of the test that calls the dual `target`."""
    if threading.current_thread() is not threading.main_thread() and not _is_foreign(threading.current_thread()):
        return UsageError(
            f"{target} was called in a thread of the test's own while {running} was running in another one: a trial "
            "makes one call at a time, on both sides, so call one after the other"
        )
    return UsageError(
        f"{running} was given a function of the test, and called it on one side, where it used the dual {target}: that "
        "would run it on both. Do without the function (loop over m.modules() instead of m.apply, write the steps of a "
        "closure out), or let it use its own arguments alone, as lambda gradient: gradient * 2 does"
    )


def _is_foreign(thread: threading.Thread) -> bool:
    """Whether `thread` is a framework's, and not one that Python began."""
    return thread.name.startswith("Dummy-")


def device_missing(target: str, pair: Pair, error: Exception) -> UsageError:
    """What to say when a test asks for a device that is not there."""
    return UsageError(
        f"{target}: {pair.reference.name} has no such device here ({first_line(error)}). Expected one of "
        f"{', '.join(map(repr, pair.devices))}, which both sides have: write random_device(), which draws from these"
    )


#: Other names that torch's own functions take for NumPy's sake, and that stand in no signature.
_AS_IN_NUMPY = frozenset(("a", "axis", "keepdims", "x", "x1", "x2"))


def with_nearest_keyword(error: Exception, pair: Pair, call: Call, given: Sequence[Any]) -> Exception:
    """`error`, or one that also says which keyword of `call` is unknown, and which one may have been meant.

    `given` are the reference's positional arguments, the object first whose method was called.
    """
    kind, target, named = call.kind, call.target, call.kwargs
    if not isinstance(error, TypeError):
        return error
    unknown = unknown_keywords(str(error))
    if unknown and kind != "function":
        return error
    lacking = "missing" in str(error) and bool(named)
    owner = given[0] if kind == "method" else None
    known = {*map(str, pair.annotations(kind, target, owner, 0, ()))} if unknown or lacking else set()
    if not unknown and lacking and known:
        # What only one signature could mean is told by the argument that it lacks, and not by the one it does not have.
        unknown = [name for name in named if name not in known | _AS_IN_NUMPY]
        if unknown:
            called = target.rpartition(".")[2]
            error = TypeError(f"{called}() got an unexpected keyword argument {unknown[0]!r}\n{error}")
    known |= {*re.findall(r"(\w+)(?=[,)=])", str(error).partition("but expected")[2])}
    said = [f"no argument {name!r}{meant}" for name in unknown if (meant := nearest(name, known - {*unknown}))]
    return TypeError(f"{'; '.join(said)}\n{error}") if said else error


def calls_by_itself(name: str) -> UsageError:
    """Why a module of the framework cannot hold what only this library can call."""
    return UsageError(
        f"{name} calls what it holds or is given by itself, so that a class over the dual modules, or a hook with a "
        "dual body, cannot be among that: call its parts one after the other in a forward instead"
    )


def misuse(error: Exception, target: str, pair: Pair) -> Exception | None:
    """What to say where the reference refused `target` for what a test wrote, and not for what it drew."""
    # What stands for a class of the test's own on a side computes nothing.
    if isinstance(error, NotImplementedError) and 'missing the required "forward" function' in str(error):
        return calls_by_itself(target)
    return device_missing(target, pair, error) if is_missing_device(error) else None
