"""The adapter for ONNX Runtime: recorded torch programs are exported to ONNX and their forward pass is run there."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from autotest.emission import Script
from autotest.frameworks import torch_graph
from autotest.frameworks.failures import missing
from autotest.frameworks.requests import Build, Given, Graphed, NotGraphed
from autotest.frameworks.torch import TorchFramework

#: The classes by which a reproducer exports its program and runs it.
GRAPH = """\
class Exported(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held = torch.nn.ModuleList(modules)

    def forward(self, *given):
        results = program(*given, *self.held)
        given_back[:] = [True for _ in results]
        return results


class Replay:
    def __call__(self, *given):
        file, names = io.BytesIO(), [f"given{at}" for at in range(len(given))]
        kept = {"training": torch.onnx.TrainingMode.PRESERVE, "opset_version": OPSET}
        if "dynamo" in inspect.signature(torch.onnx.export).parameters:
            kept["dynamo"] = False
        try:
            torch.onnx.export(Exported(), given, file, input_names=names, **kept)
        except Exception as error:
            sys.exit(print("cannot tell:", error) or 2)
        session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
        taken = {item.name for item in session.get_inputs()}
        feed = {name: one.detach().numpy() for name, one in zip(names, given) if name in taken}
        return [torch.from_numpy(np.array(one)) for one in session.run(None, feed)]
"""
#: The version of ONNX's operators that programs are exported to.
_OPSET = 17


class OnnxRuntime(TorchFramework):
    """torch with ONNX Runtime as its graph mode. Every trial is checked in graph mode, which has no gradients."""

    always_in_graph = True
    graph_mode = "ONNX Runtime"

    def __init__(self) -> None:
        super().__init__("onnxruntime", alias="onnxruntime")

    def import_root(self) -> ModuleType:
        try:
            import onnx  # noqa: F401 - exporting needs it
            import onnxruntime  # noqa: F401
        except ImportError as error:
            raise missing(self.name, error) from error
        return super().import_root()

    @property
    def version(self) -> str:
        _ = self.root  # raises `FrameworkMissing`, which says what is missing
        import onnxruntime

        return f"{onnxruntime.__version__} with torch {super().version}"

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        if calls[0].leaves or calls[0].trained:
            raise NotImplementedError("ONNX Runtime runs programs forward")
        # The states of modules become part of the exported program, so each call is exported separately.
        results: list[Graphed] = []
        for call in calls:
            exported = functools.partial(self._exported, inputs=call.inputs)
            results += torch_graph.run(self.root, build, [call], exported)
        return results

    def _exported(self, module: Any, inputs: Sequence[Any]) -> Any:
        """Return a function that runs `module` on tensors like `inputs` in ONNX Runtime.

        Raises `NotGraphed` if the module cannot be exported, or ONNX Runtime cannot load the exported model.
        """
        import onnxruntime

        file = io.BytesIO()
        names = [f"given{at}" for at in range(len(inputs))]
        export = self.root.onnx.export
        # Export by tracing, also in releases of torch whose default exporter is another.
        chosen = {"dynamo": False} if "dynamo" in inspect.signature(export).parameters else {}
        try:
            with self.root.no_grad(), contextlib.redirect_stdout(io.StringIO()):  # it prints missing operators
                export(
                    module,
                    tuple(inputs),
                    file,
                    input_names=names,
                    opset_version=_OPSET,
                    training=self.root.onnx.TrainingMode.PRESERVE,  # each module keeps its training or eval mode
                    **chosen,
                )
        except Exception as error:  # the exporter belongs to torch, and raises if it has no operator for a call
            raise NotGraphed(f"calls that cannot be exported ({type(error).__name__})") from error
        own = onnxruntime.capi.onnxruntime_pybind11_state
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised as well
        try:
            session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
        except own.NotImplemented as error:
            raise NotGraphed("calls for which it has no kernel") from error
        except (own.InvalidGraph, own.Fail) as error:  # the fault of torch's exporter, which reports no error itself
            raise NotGraphed("calls whose export is not a valid model") from error
        if any("bfloat16" in item.type for item in (*session.get_inputs(), *session.get_outputs())):
            raise NotGraphed("bfloat16, which its arrays of NumPy lack")
        taken = {item.name for item in session.get_inputs()}

        def run(*given: Any) -> list[Any]:
            feed = {name: self.to_numpy(one) for name, one in zip(names, given, strict=True) if name in taken}
            return [self.root.from_numpy(np.array(one)) for one in session.run(None, feed)]

        return run

    def script(self) -> Script:
        lines = ("import inspect", "import io", "import onnxruntime", "import torch")
        return Script(self.name, lines, "torch", GRAPH.replace("OPSET", str(_OPSET)), self.graph_mode)


def framework() -> OnnxRuntime:
    """Return the adapter for ONNX Runtime."""
    return OnnxRuntime()
