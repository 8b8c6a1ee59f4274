"""Finds the source lines of tests, for messages."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any


def source_location(function: Callable[..., Any]) -> str:
    """Return the file and line of a function, such as ``test_x.py:12``, its decorators included."""
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def return_location(function: Callable[..., Any]) -> str:
    """Return the file and line of a function's only ``return`` with a value, or else of its beginning."""
    written = inspect.unwrap(function)
    file = Path(inspect.getfile(written)).name
    try:
        lines, first = inspect.getsourcelines(written)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError):
        return f"{file}:{written.__code__.co_firstlineno}"
    returns = [node.lineno for node in _returns(tree.body[0]) if node.value is not None]
    return f"{file}:{first + returns[0] - 1 if len(returns) == 1 else first}"


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _returns(child)


def redefinition_warning(function: Any, around: Mapping[str, Any]) -> str | None:
    """Return a warning if `function` replaces an earlier test of the same name in the namespace `around`.

    Return None otherwise. `around` contains the names defined so far in the class or module of the function.
    """
    if not ("__module__" in around or "__name__" in around):  # the locals of a function: redefinition is legitimate
        return None
    earlier = around.get(getattr(function, "__name__", ""), None)
    old, new = getattr(inspect.unwrap(earlier), "__code__", None), getattr(function, "__code__", None)
    if old is None or new is None or not hasattr(earlier, "__autotest__") or old.co_filename != new.co_filename:
        return None
    if old.co_firstlineno == new.co_firstlineno:  # the file is executed again
        return None
    at = f"{Path(old.co_filename).name}:{old.co_firstlineno}"
    return f"{at}: {new.co_name} is replaced by the test at line {new.co_firstlineno}, which has the same name"
