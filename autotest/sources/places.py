"""Where a test stands and where it returns what it returns, for those who have to look it up."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def where_it_is(function: Callable[..., Any]) -> str:
    """``test_x.py:12``: where the function begins, its decorators with it."""
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def where_it_returns(function: Callable[..., Any]) -> str:
    """``test_x.py:12``: the line of its only ``return`` with a value, or else where the function begins."""
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
