"""Finds, on the stack, whether the test expects the exception of a refused call, and which line makes the call."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType, MappingProxyType

#: Prefix of the modules that run the body; the frames that called them do not belong to the test.
_RUNNER = "autotest.trials"
_OWN = ("autotest.", "generators.")
#: Prefix of the modules that format a failed assertion, for which they evaluate parts of it a second time.
_ASSERTION = "_pytest.assertion."
#: By module, the functions that call a given function inside a block that expects an exception.
_CALLERS: Mapping[str, str] = MappingProxyType(
    {"unittest.case": "handle", "_pytest.raises": "raises", "_pytest.python_api": "raises"}
)


def _stack() -> Iterator[tuple[str, FrameType]]:
    """Yield the frames on the stack with the names of their modules, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield str(frame.f_globals.get("__name__", "")), frame
        frame = frame.f_back


def is_expected() -> bool:
    """Return whether a frame of the running test is inside a block that expects an exception."""
    for module, frame in _stack():
        if module.startswith(_RUNNER):
            return False
        if not module.startswith(_OWN):
            if frame.f_code.co_name == _CALLERS.get(module):
                return True
            code, line = frame.f_code, frame.f_lineno
            if _stands_in(_expecting, code, line):
                return True
    return False


def inside_of(packages: Collection[str]) -> bool:
    """Return whether code of one of `packages`, which was given a dual object, makes the call, and not the test.

    The same holds for pytest's code that formats a failed assertion: of ``assert (x > 1).all()`` it asks whether ``x >
    1`` is true, and expects that this may fail.
    """
    for module, frame in _stack():
        if not module.startswith(_OWN):
            return module.partition(".")[0] in packages or module.startswith(_ASSERTION)
        if frame.f_code.co_name == "__torch_function__":  # torch calls it on behalf of the test
            return False
    return False


def not_for_a_report() -> None:
    """Raise `TypeError` if pytest iterates over a dual object to show it, because a trial must not record that.

    Raises:
        TypeError: the caller is a module of ``_pytest.assertion``, which formats failed assertions.
    """
    for module, _ in _stack():
        if not module.startswith(_OWN):
            if not module.startswith("_pytest."):
                return
            if module.startswith(_ASSERTION):
                raise TypeError("a dual object is shown as a whole")


def calling_line(packages: Collection[str]) -> str:
    """Return the line of the test that makes the call, as ``test_x.py:12 (`y = x.item()`)``; empty if there is none.

    Frames of `packages` and of the standard library are skipped. If the line is in a `try` or a ``suppress`` block, a
    hint is appended.
    """
    for module, frame in _stack():
        if module.startswith(_RUNNER):
            return ""
        if not module.startswith(_OWN) and module.partition(".")[0] not in {*packages, *sys.stdlib_module_names}:
            file, line = frame.f_code.co_filename, frame.f_lineno
            written = linecache.getline(file, line).strip()
            caught = _CAUGHT if _stands_in(_catching, frame.f_code, line) else ""
            return f"{Path(file).name}:{line}{f' (`{written}`)' if written else ''}{caught}"
    return ""


#: Appended to the place of a call inside a block that catches exceptions.
_CAUGHT = (
    ". The `except` here is not reached, because a refused call ends the trial: if both sides must refuse the call, "
    "write `with pytest.raises(...):` around it"
)


def _stands_in(kind: Callable[[ast.AST], bool], code: CodeType, line: int) -> bool:
    """Whether `line` of the function `code` is in the body of a statement for which `kind` is true."""
    return any(
        start == code.co_firstlineno and first <= line <= last for start, first, last in _blocks(code.co_filename, kind)
    )


@functools.lru_cache(maxsize=64)
def _blocks(file: str, kind: Callable[[ast.AST], bool]) -> tuple[tuple[int, int, int], ...]:
    """Return the statements in `file` for which `kind` is true.

    Each is given as the first line of the function that contains it, and the first and last line of its body.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ()
    return tuple(_matching_nodes(tree, 1, kind))


def _matching_nodes(node: ast.AST, start: int, kind: Callable[[ast.AST], bool]) -> Iterator[tuple[int, int, int]]:
    for child in ast.iter_child_nodes(node):
        begins = start
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            begins = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
        elif isinstance(child, ast.Lambda):
            begins = child.lineno
        elif isinstance(child, (ast.With, ast.Try)) and kind(child):
            yield begins, child.body[0].lineno, child.body[-1].end_lineno or child.body[-1].lineno
        yield from _matching_nodes(child, begins, kind)


def _expecting(node: ast.AST) -> bool:
    """Whether `node` is a ``with`` statement that expects an exception, such as ``with pytest.raises(...):``."""
    return isinstance(node, ast.With) and any(_calls(item.context_expr, _RAISES) for item in node.items)


def _catching(node: ast.AST) -> bool:
    """Whether `node` is a statement that catches exceptions but does not expect one."""
    if isinstance(node, ast.Try):
        return bool(node.handlers)
    return isinstance(node, ast.With) and any(_calls(item.context_expr, ("suppress",)) for item in node.items)


_RAISES = ("raises", "assertRaises", "assertRaisesRegex")


def _calls(expression: ast.expr, names: Collection[str]) -> bool:
    if not isinstance(expression, ast.Call):
        return False
    called = expression.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in names
