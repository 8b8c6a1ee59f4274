"""torch.compile as a candidate: eager torch whose programs also run as one compiled function, by any backend."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from autotest.base.errors import FrameworkMissing
from autotest.emission import Script
from autotest.frameworks import torch_graph
from autotest.frameworks.compile_backends import Backend, backend_called
from autotest.frameworks.compile_watch import Watch
from autotest.frameworks.requests import Build, Given, Graphed, NotGraphed, error_line
from autotest.frameworks.torch import TorchFramework

#: The number of processes that Inductor compiles with.
_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"
#: The logger of torch's traces, and the variable that names the folder that they are written to.
_TRACE, _TRACES_TO = "torch.__trace", "TORCH_TRACE"
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
        backend_called(self._backend, root.__version__)  # raises if there is none
        return root

    @functools.cached_property
    def _found(self) -> Backend:
        return backend_called(self._backend, self.root.__version__)

    @property
    def version(self) -> str:
        own = "" if self._found.home == "torch" else self._found.version
        return f"{own} with torch {super().version}" if own else super().version

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        watch = Watch(self.root, self._found.function) if self._computes else None
        with self._settled():
            compiled = functools.partial(self._compiled, backend=watch or self._found.given)
            try:
                results = torch_graph.run(self.root, build, calls, compiled)
            except NotGraphed:
                raise
            except Exception:
                self._must_compile()
                raise
        if watch is None or watch.computed:
            return results
        return [one._replace(vacuous=f"calls that {self._backend} leaves to torch") for one in results]

    @functools.cached_property
    def _computes(self) -> bool:
        """Whether the backend is another package's and runs anything itself.

        Torch's own backends leave to its kernels what they do not improve, and those that rewrite graphs leave all of
        it: what they make of a program is compared as it is.
        """
        if self._found.home == "torch":
            return False
        watch = Watch(self.root, self._found.function)
        with self._settled(), contextlib.suppress(Exception):  # `_must_compile` tells it
            self._compiled(lambda x: (x.sin() + x.cos()) * x, watch)(self.root.ones(3))
        return watch.computed

    def _compiled(self, function: Callable[..., Any], backend: Any) -> Callable[..., Any]:
        compiled: Callable[..., Any] = self.root.compile(function, backend=backend)
        return compiled

    def _must_compile(self) -> None:
        """Raise `FrameworkMissing` if not even `x + 1` compiles: then the program did not cause the error."""
        if self._compiles is None:
            try:
                with self._settled():
                    self._compiled(lambda x: x + 1, self._found.given)(self.root.ones(2))
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

        Dynamo turns off the checks of distributions, which later trials would miss: they are restored. Pytest shows
        what torch logs for its traces, thousands of lines for one diagnosis, unless nothing is logged.
        """
        import torch._dynamo as dynamo
        from torch.distributions import Distribution

        before, checks = os.environ.get(_THREADS), Distribution._validate_args
        os.environ.setdefault(_THREADS, "1")
        trace = logging.getLogger(_TRACE)
        traced, trace.disabled = trace.disabled, trace.disabled or _TRACES_TO not in os.environ
        dynamo.reset()
        try:
            yield
        finally:
            trace.disabled = traced
            Distribution.set_default_validate_args(checks)
            if before is None:
                os.environ.pop(_THREADS, None)

    def script(self) -> Script:
        graph = GRAPH.replace("BACKEND", self._found.text)
        return Script(
            self.name, ("import torch", *self._found.lines), "torch", graph, self.graph_mode, graphs_forward=True
        )


def framework(backend: str = "inductor") -> TorchCompile:
    """Return the adapter for `backend`, the part of a candidate's name after ``torch+compile=``."""
    return TorchCompile(backend or "inductor")
