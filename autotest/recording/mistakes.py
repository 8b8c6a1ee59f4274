"""Messages about mistakes that a test makes with dual objects: one sentence, and what to write instead."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from autotest.base.errors import UsageError, as_test_mistake, nearest
from autotest.comparison.rejection import first_line, is_missing_device, unknown_keywords
from autotest.frameworks import Pair, names
from autotest.program import Call

#: Parts of torch's namespace that are not operators -> the explanation, and what to write instead.
_UNRECORDABLE: Mapping[str, str] = MappingProxyType(
    {
        "testing": "both sides are compared automatically. Return the tensors to compare; to compare one side with "
        "your own numbers, pass x.reference or x.candidate to torch.testing",
        "compile": "it traces Python code, but a trial runs each call on both sides. Call the function directly; to "
        "test compiled code, choose a candidate that compiles, such as torch+compile=BACKEND",
        "jit": "it traces Python code, but a trial runs each call on both sides. Call the function directly",
        "fx": "it traces Python code, but a trial runs each call on both sides. Call the function directly",
        "vmap": "it takes a Python function, which a trial cannot record. Call the function directly on the batch",
        "func": "it takes a Python function, which a trial cannot record. Call the function directly",
        "onnx": "it exports a module of one framework. Pass m.reference or m.candidate",
    }
)


#: Attributes that pytest reads from every object in a test module when it collects tests.
_ASKED_BY_PYTEST = frozenset(("_mock_name", "_pytestfixturefunction"))


def is_asked_by_tools(name: str) -> bool:
    """Return whether Python or pytest read `name` from any object.

    Such a name is answered without importing a framework, which takes seconds.
    """
    return (name.startswith("__") and name.endswith("__") and name != "__version__") or name in _ASKED_BY_PYTEST


def unrecordable(path: str) -> UsageError | None:
    """Return the error for a name of the namespace that no trial can record, or None for any other name."""
    said = _UNRECORDABLE.get(path.partition(".")[0]) or _INSTEAD.get(path)
    return None if said is None else UsageError(f"torch.{path} of dual objects: {said}")


#: The same for longer paths.
_INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("utils.data.Dataset", "utils.data.IterableDataset", "utils.data.Sampler"),
            "a loader would call it on one side only. Give the loader a torch.utils.data.TensorDataset of dual "
            "tensors, or take batches of dual tensors in the body: x[start : start + size]",
        ),
        **dict.fromkeys(
            ("utils.data.random_split", "utils.data.RandomSampler", "utils.data.WeightedRandomSampler"),
            "each side would draw a different order. Draw one order for both, order = torch.randperm(n), and take "
            "x[order]",
        ),
    }
)


def other_side(name: str, pair: Pair) -> str:
    """Return the hint to append if `name` is a framework on neither side of `pair`, else ""."""
    if name not in names():
        return ""
    return f". The candidate here is {pair.candidate.name}, not {name}: write .candidate, which works for any candidate"


def check_call(path: str, named: Mapping[str, object]) -> None:
    """Check a call of the function at `path` with the keywords `named`.

    Raises:
        UsageError: each side would draw random numbers that both must share.
        TypeError: `path` is empty, so that the namespace itself is called.
    """
    if not path:
        raise as_test_mistake(
            TypeError("torch is a module, not a function: call one of its functions, such as torch.relu")
        )
    if path == "utils.data.DataLoader" and named.get("shuffle"):
        raise UsageError(
            "torch.utils.data.DataLoader(shuffle=True): each side would draw a different order. Draw one order for "
            "both, order = torch.randperm(n), and load x[order]"
        )


def not_called(path: str) -> Exception:
    """Return the error for a ``with`` statement over a function of the namespace that was not called."""
    return as_test_mistake(TypeError(f"torch.{path} is not called: write with torch.{path}(...):"))


def assigned(path: str) -> UsageError:
    """Return the error for assigning an attribute of the namespace, or of a part of it."""
    return UsageError(
        f"{path} = ...: the attributes of a framework cannot be assigned, because all other code uses them, too. Write "
        f"a function of your own, and call it in place of {path}"
    )


def gradients_off(target: str, reference: str) -> UsageError:
    """Return the error for switching the recording of gradients on the reference only."""
    if function := _running_function():
        return UsageError(
            f"{function}.forward, of {reference}'s own autograd.Function, got a dual tensor: its backward would run on "
            f"that side only. Derive {function} from the torch.autograd.Function of `from autotest import torch`, "
            "which runs both on both sides. To compare an implementation of your own with an operator, name it in an "
            'adapter (README, "A library of operators")'
        )
    return UsageError(
        f"{target} was called inside {reference}'s own no_grad, enable_grad or inference_mode, which changes only "
        "that side: write `with torch.no_grad():` with the torch of `from autotest import torch`, which changes "
        "both sides"
    )


def _running_function() -> str:
    """Return the name of the framework's own ``autograd.Function`` whose forward is running; empty if none is."""
    frame = sys._getframe(1)
    while frame is not None:
        names = frame.f_code.co_varnames
        context = type(frame.f_locals.get(names[0])) if frame.f_code.co_name == "forward" and names else None
        if (function := getattr(context, "_forward_cls", None)) is not None:
            return str(function.__name__)
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def called_back(running: str, target: str) -> UsageError:
    """Return the error for a dual call of `target` while one side runs `running`, such as in a callback."""
    if threading.current_thread() is not threading.main_thread() and not _is_foreign(threading.current_thread()):
        return UsageError(
            f"{target} was called in another thread of the test while {running} was running: a trial makes one call "
            "at a time, so make the calls one after the other"
        )
    return UsageError(
        f"{running} called a function of the test on one side, and that function called the dual {target}, which "
        "would run on both sides. Avoid the function (loop over m.modules() instead of m.apply, write out the steps "
        "of a closure), or use only its own arguments in it, as in lambda gradient: gradient * 2"
    )


def _is_foreign(thread: threading.Thread) -> bool:
    """Return whether `thread` was started by a framework and not by Python."""
    return thread.name.startswith("Dummy-")


def device_missing(target: str, pair: Pair, error: Exception) -> UsageError:
    """Return the error for a device that does not exist here."""
    return UsageError(
        f"{target}: {pair.reference.name} has no such device here ({first_line(error)}). Expected one of "
        f"{', '.join(map(repr, pair.devices))}, which both sides have. Write random_device(), which draws one of these"
    )


#: Keywords that torch's functions accept for compatibility with NumPy, and that are in no signature.
_AS_IN_NUMPY = frozenset(("a", "axis", "keepdims", "x", "x1", "x2"))


def with_nearest_keyword(error: Exception, pair: Pair, call: Call, given: Sequence[Any]) -> Exception:
    """Return `error`, or an error that also names the unknown keyword of `call` and the one that may have been meant.

    `given` contains the reference's positional arguments. For a method, the object comes first.
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
        # If only one signature can be meant, the error names the argument that is missing, and not the unknown keyword.
        unknown = [name for name in named if name not in known | _AS_IN_NUMPY]
        if unknown:
            called = target.rpartition(".")[2]
            error = TypeError(f"{called}() got an unexpected keyword argument {unknown[0]!r}\n{error}")
    known |= {*re.findall(r"(\w+)(?=[,)=])", str(error).partition("but expected")[2])}
    said = [f"no argument {name!r}{meant}" for name in unknown if (meant := nearest(name, known - {*unknown}))]
    return TypeError(f"{'; '.join(said)}\n{error}") if said else error


def calls_by_itself(name: str) -> UsageError:
    """Return the error for a framework's module that would have to call something that only this library can call."""
    return UsageError(
        f"{name} calls its parts itself, so it cannot contain a class over the dual modules or a hook with a dual "
        "body: call its parts one after the other in a forward instead"
    )


def misuse(error: Exception, target: str, pair: Pair) -> Exception | None:
    """Return the error to raise if the reference refused `target` because of what the test wrote, else None."""
    # A class of the test is represented on each side by a module without a forward.
    if isinstance(error, NotImplementedError) and 'missing the required "forward" function' in str(error):
        return calls_by_itself(target)
    return device_missing(target, pair, error) if is_missing_device(error) else None
