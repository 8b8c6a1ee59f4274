"""torch.compile as a candidate: eager torch whose programs also run as one compiled function, by any backend."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.emission import Script
from autotest.frameworks import torch_graph
from autotest.frameworks.requests import Build, Given, Graphed, NotGraphed, error_line
from autotest.frameworks.torch import TorchFramework

#: The number of processes that Inductor compiles with.
_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"
#: The class by which a reproducer runs its program in a graph.
GRAPH = """\
class Replay:
    def __init__(self):
        self.compiled = torch.compile(forward, backend=BACKEND)

    def __call__(self, *given):
        results = [*program(*given, *modules, forward=self.compiled), *gradients(*given, *modules)]
        given_back[:] = [result is not None for result in results]
        return [result for result in results if result is not None]
"""


class TorchCompile(TorchFramework):
    """torch with ``torch.compile`` as its graph mode, in which every trial is checked."""

    always_in_graph = True

    def __init__(self, backend: str = "inductor") -> None:
        super().__init__(f"torch+compile={backend}", alias="compiled")
        self._backend = backend
        self.graph_mode = f"torch.compile(backend={backend!r})"
        #: The reason why nothing compiles, "" if a trivial function compiles, and None if that was not tried yet.
        self._compiles: str | None = None

    def import_root(self) -> ModuleType:
        root = super().import_root()
        try:
            import torch._dynamo as dynamo

            known = dynamo.list_backends(exclude_tags=())
        except Exception as error:
            why = f"torch {root.__version__} cannot compile here ({error}); use torch 2.0 or newer"
            raise FrameworkMissing(why) from error
        if self._backend not in known:
            near = difflib.get_close_matches(self._backend, known, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise UsageError(
                f"torch+compile={self._backend}: torch {root.__version__} has no backend {self._backend!r} to compile "
                f"with.{meant} It has {', '.join(sorted(known))}"
            )
        return root

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        with self._settled():
            try:
                return torch_graph.run(self.root, build, calls, self._compiled)
            except NotGraphed:
                raise
            except Exception:
                self._must_compile()
                raise

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = self.root.compile(function, backend=self._backend)
        return compiled

    def _must_compile(self) -> None:
        """Raise `FrameworkMissing` if not even `x + 1` compiles: then the program did not cause the error."""
        if self._compiles is None:
            try:
                self._compiled(lambda x: x + 1)(self.root.ones(2))
                self._compiles = ""
            except Exception as error:  # noqa: BLE001 - any exception is reported
                self._compiles = error_line(error) or type(error).__name__
        if self._compiles:
            old = (
                ("`pip install 'setuptools<70'`")
                if "pkg_resources" in self._compiles
                else "install the missing package"
            )
            other = "" if self._backend == "aot_eager" else ", or choose torch+compile=aot_eager"
            raise FrameworkMissing(
                f"{self.name}: torch {self.root.__version__} cannot compile here, not even x + 1 ({self._compiles}); "
                f"{old}{other}"
            )

    @contextlib.contextmanager
    def _settled(self) -> Iterator[None]:
        """Reset Dynamo, and compile in one process: for small tensors, a pool of compilers costs more than it saves.

        Dynamo turns off the checks of distributions, which later trials would miss: they are restored.
        """
        import torch._dynamo as dynamo
        from torch.distributions import Distribution

        before, checks = os.environ.get(_THREADS), Distribution._validate_args
        os.environ.setdefault(_THREADS, "1")
        dynamo.reset()
        try:
            yield
        finally:
            Distribution.set_default_validate_args(checks)
            if before is None:
                os.environ.pop(_THREADS, None)

    def script(self) -> Script:
        graph = GRAPH.replace("BACKEND", repr(self._backend))
        return Script(self.name, ("import torch",), "torch", graph, self.graph_mode, graphs_forward=True)


def framework(backend: str = "inductor") -> TorchCompile:
    """Return the adapter for `backend`, the part of a candidate's name after ``torch+compile=``."""
    return TorchCompile(backend or "inductor")
