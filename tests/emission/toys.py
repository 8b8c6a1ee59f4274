"""A framework of a few lines with planted faults, and a function that runs scripts with it."""

from __future__ import annotations

import functools
from pathlib import Path

from autotest.emission import Script
from tests.emission.template import Template

#: The part of a framework that the programs here use. The name under which it is imported selects its faults.
TOY = """
import contextlib, os, sys, time
import numpy as np
FAULT = __name__

class Device:
    type = "cpu"

class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data, self.requires_grad, self.grad, self.device = data, requires_grad, None, Device()
    dtype = property(lambda self: f"toy.{self.data.dtype}")
    shape = property(lambda self: self.data.shape)
    def detach(self): return self
    def cpu(self): return self
    def tolist(self): return self.data.tolist()
    def numpy(self): return self.data
    def fill_(self): self.__class__ = Late  # and returns nothing

def tensor(data, requires_grad=False):
    return Tensor(data.copy(), requires_grad)

def numel(x):
    return x.data.size + (FAULT == "counts")

def flag(x):
    return 1 if FAULT == "counts" else True

class Late:  # not computed yet: the process dies of it when somebody waits for it
    def tolist(self):
        if FAULT == "late": os.abort()

def sort(x):
    return Late(), (Late(), None)

def split(x):
    return [x] if FAULT == "short" else [x, x]

def turned(x):  # a complex tensor, rotated by a right angle
    y = Tensor(x.data * 1j)
    if FAULT == "value": y.data.flat[0] += 0.5j
    if FAULT == "nan": y.data.flat[1] = complex(0, np.nan)
    return y

def either(x):  # the first element, or the second one
    return Tensor(x.data[1:] if FAULT == "second" else x.data[:1])

def boxed(x): return (relu(x),)

class Sorting:
    def __call__(self, x): return sort(x)

def relu(x):
    if FAULT == "every_third":  # by a count that outlives the process
        with open(__file__ + ".count", "a+") as file:
            print("called", file=file, flush=True)
            file.seek(0)
            if len(file.readlines()) % 3 == 0: os.abort()
    if FAULT == "raises": raise RuntimeError("no such kernel")
    if FAULT == "aborts": os.abort()
    if FAULT == "leaves": os._exit(3)
    if FAULT == "gives_up": os._exit(0)  # as native code does that calls `exit` on an error
    if FAULT == "hangs": time.sleep(60)
    y = Tensor(np.maximum(x.data, 0))
    if FAULT == "value": y.data.flat[1] += 0.5
    if FAULT == "near": y.data += np.float32(1e-6)
    if FAULT == "nan": y.data.flat[1] = np.nan
    if FAULT == "shape": y.data = y.data[None]
    if FAULT == "dtype": y.data = y.data.astype("float64")
    if FAULT == "grad": y.requires_grad = True
    if FAULT == "boxed": return (y,)
    return y
"""


@functools.cache
def template() -> Template:
    """Return the process that runs the scripts of all tests of this process. A fixture closes it."""
    return Template()


def run(folder: Path, text: str) -> tuple[int, str]:
    path = folder / "repro.py"
    path.write_text(text, encoding="utf-8")
    status, output, errors = template().run(path)
    assert not errors, errors
    return status, output


def toys(folder: Path, reference: str, candidate: str) -> tuple[Script, Script]:
    for name in (reference, candidate):
        (folder / f"{name}.py").write_text(TOY, encoding="utf-8")
    return Script(reference, (f"import {reference}",), reference), Script(
        candidate, (f"import {candidate}",), candidate
    )
