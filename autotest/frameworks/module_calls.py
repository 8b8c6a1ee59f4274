"""Reports the calls of the modules of a model: by forward hooks, or, where there are none, in place of ``forward``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any


@contextlib.contextmanager
def reported(framework: str, modules: Mapping[str, Any], seen: Callable[[str, Any, Any, Any], None]) -> Iterator[None]:
    """Call `seen` with the path, the module, the arguments and the result of each call of one of `modules`.

    Raises:
        NotImplementedError: a module of `framework` has neither forward hooks nor a ``forward`` that can be replaced.
    """
    with contextlib.ExitStack() as undone:
        for path, module in modules.items():

            def tell(module: Any, given: Any, result: Any, path: str = path) -> None:
                seen(path, module, given, result)

            if hasattr(module, "register_forward_hook"):
                hooks = module._forward_hooks
                undone.callback(_restore, hooks, dict(hooks))
                module.register_forward_hook(tell)
            elif callable(getattr(module, "forward", None)) and hasattr(module, "__dict__"):
                own = vars(module)
                undone.callback(_restore_forward, own, own.get("forward"))
                own["forward"] = _telling(module, module.forward, tell)
            else:
                raise NotImplementedError(
                    f"{framework} does not report the calls of a {type(module).__name__}: expected the method "
                    "register_forward_hook, or forward"
                )
        yield


def _restore(hooks: Any, before: dict[Any, Any]) -> None:
    hooks.clear()
    hooks.update(before)


def _restore_forward(own: dict[str, Any], before: Any) -> None:
    """Give a module, of the attributes `own`, the forward that it had itself; None if it had that of its class."""
    if before is None:
        del own["forward"]
    else:
        own["forward"] = before


def _telling(module: Any, forward: Callable[..., Any], tell: Callable[[Any, Any, Any], None]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = forward(*args, **kwargs)
        tell(module, args, result)
        return result

    return call
