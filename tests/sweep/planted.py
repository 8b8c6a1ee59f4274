"""Candidates with one fault each, for the sweep to find."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from autotest.frameworks import Framework, Pair, framework
from autotest.frameworks.samples import DatabaseEntry, Sample, SampleDatabase, SampleKind
from autotest.results.sweep import Cell, CellKey
from autotest.sweeping.judged_units import judged
from autotest.sweeping.sample_cache import SampleCache
from autotest.sweeping.units import Unit, units
from tests.support.faulty import FaultyTorch

TORCH = framework("torch")


@functools.cache
def databases() -> Mapping[str, SampleDatabase]:
    return MappingProxyType({database.name: database for database in TORCH.sample_databases()})


@functools.cache
def entries() -> Sequence[DatabaseEntry]:
    """Return all entries of all databases. They are cached, because they do not depend on the caller."""
    return tuple(entry for database in databases().values() for entry in database.entries())


@functools.lru_cache(maxsize=8)
def _made(kind: SampleKind, database: str, key: CellKey, seed: int) -> Sequence[Sample]:
    found = databases()[database].samples(key.operator, key.form, key.dtype, kind, seed)  # type: ignore[arg-type]
    return tuple(found)


class MadeOnce(SampleCache):
    """Caches the ordinary samples of a cell for the units that use them, as a folder does for workers."""

    def ordinary(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        return iter(_made("sample", database.name, unit.key, unit.seed))

    def optioned(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        return iter(_made("option", database.name, unit.key, unit.seed) if unit.optioned else ())


def swept(candidate: Framework, name: str, *kinds: str, enough: Callable[[Cell], bool] = lambda cell: False) -> Cell:
    """Return the cell `name`, judged in this process on samples of these kinds, or of all, until they are `enough`."""
    available = databases()
    cell = Cell()
    pair = Pair(TORCH, candidate)
    of_operator = [entry for entry in entries() if entry.key == name.partition("/")[0]]
    for unit in units(of_operator, lambda key: key == name, 0):
        if not kinds or unit.kind in kinds:
            for part in judged(unit, pair, available[unit.database], kept=MadeOnce()):
                cell.merge(part.cell)
                if enough(cell):
                    return cell
    assert cell.checks or cell.left_out, f"{name} is no cell"
    return cell


def failing(cell: Cell) -> set[str]:
    return {name for name, (passed, total) in cell.checks.items() if passed < total}


def fault(path: str, change: Callable[[Any], Any]) -> FaultyTorch:
    return FaultyTorch({path: change})


def off_in_double(exp: Any) -> Any:
    return lambda x: exp(x) * 1.001 if x.dtype is torch.float64 else exp(x)


def off_when_truncating(div: Any) -> Any:
    return lambda x, y, *, rounding_mode=None: div(x, y, rounding_mode=rounding_mode) + (rounding_mode == "trunc")


def off_when_strided(exp: Any) -> Any:
    return lambda x: exp(x) + (0 if x.is_contiguous() else 1)


def nan_at_first(mul: Any) -> Any:
    def wrong(x: Any, y: Any) -> Any:
        given = mul(x, y)
        mask = torch.zeros_like(given)
        mask.view(-1)[:1] = float("nan")
        return given + mask

    return wrong


def other_slope(sin: Any) -> Any:
    return lambda x: sin(x) + (x - x.detach()) * 0.5


def writes_into_operand(absolute: Any) -> Any:
    def wrong(x: Any) -> Any:
        given = absolute(x)
        x.data.add_(1)
        return given

    return wrong


def copies_first(mul_: Any) -> Any:
    return lambda x, y: mul_(x.clone(), y)


def flat_slope(sin: Any) -> Any:
    """An operator with right value and gradient, whose second derivative is zero."""

    def wrong(x: Any) -> Any:
        fixed = x.detach()
        return sin(fixed) + (x - fixed) * torch.cos(fixed)

    return wrong


def wrong_slope_of_strided_cotangents(tanh: Any) -> Any:
    class Wrong(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return tanh(x)

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            (x,) = context.saved_tensors
            return cotangent * (1 - tanh(x) ** 2) * (1 if cotangent.is_contiguous() else 2)

    return Wrong.apply


def ignores_inplace(kind: Any) -> Any:
    def made(*args: Any, inplace: bool = False) -> Any:
        return kind(*args, inplace=False)

    return made


def adds_a_dimension_to_out(cumsum: Any) -> Any:
    return lambda *args, out=None: cumsum(*args) if out is None else out.set_(cumsum(*args)[None])


def does_not_see_views(mul_: Any) -> Any:
    return lambda x, y: x if x._base is not None else mul_(x, y)


def returns_a_copy(clamp_: Any) -> Any:
    return lambda *args, **kwargs: clamp_(*args, **kwargs).clone()


def copies_single_elements(reshape: Any) -> Any:
    return lambda x, *args, **kwargs: reshape(x.clone() if x.numel() == 1 else x, *args, **kwargs)


def no_nan_is_equal(isclose: Any) -> Any:
    return lambda *args, **kwargs: isclose(*args, **{**kwargs, "equal_nan": False})


def fills_without_strides(minimum: Any) -> Any:
    def wrong(x: Any, y: Any, *, out: Any = None) -> Any:
        if out is None or out.is_contiguous():
            return minimum(x, y, out=out)
        return out.copy_(minimum(x, y).flatten().flip(0).view_as(out))

    return wrong


def inference_writes_into_operand(lgamma: Any) -> Any:
    return lambda x: lgamma(x) if x.requires_grad else x.lgamma_()


def leaves_out_alone(exp: Any) -> Any:
    return lambda x, out=None: exp(x)


def accepts_everything(cat: Any) -> Any:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return cat(*args, **kwargs)
        except Exception:  # noqa: BLE001 - that it accepts everything is the fault
            return torch.zeros(1)

    return wrong


def refuses_batches(tril: Any) -> Any:
    def wrong(x: Any, *args: Any) -> Any:
        if x.dim() > 2:
            raise RuntimeError("tril of a batch")
        return tril(x, *args)

    return wrong


def calls_it_axis(total: Any) -> Any:
    def renamed(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
        return total(x) if axis is None else total(x, axis, keepdim)

    return renamed


def other_every_time(cosh: Any) -> Any:
    calls = [0.0]

    def wrong(x: Any) -> Any:
        calls[0] += 1e-7
        return cosh(x) * (1 + calls[0])

    return wrong


def adds_to_out(mm: Any) -> Any:
    return lambda *args, out=None: mm(*args) if out is None else out.add_(mm(*args))


def leaves_gaps_alone(fill_: Any) -> Any:
    return lambda x, *args, **kwargs: fill_(x, *args, **kwargs) if x.is_contiguous() else x


def saturates(absolute: Any) -> Any:
    def wrong(x: Any) -> Any:
        given = absolute(x)
        return given.clamp(0, torch.iinfo(x.dtype).max - 1) if x.dtype is torch.int32 else given

    return wrong


def forgets_dtype(cumsum: Any) -> Any:
    return lambda x, dim, dtype=None, **kwargs: cumsum(x, dim, **kwargs)


def counts_from_the_end_wrongly(stack: Any) -> Any:
    return lambda tensors, dim=0: stack(tensors, dim - 1 if dim < -1 else dim)


def forgets_one_of_two_alike(addcmul: Any) -> Any:
    def wrong(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
        return addcmul(x, tensor1, tensor2.detach() if tensor1 is tensor2 else tensor2, value=value)

    return wrong


def drops_empty_parts(split: Any) -> Any:
    return lambda x, sizes, dim=0: tuple(part for part in split(x, sizes, dim) if part.shape[dim])


def adds_the_last_only(index_add_: Any) -> Any:
    def wrong(x: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
        last = torch.tensor([place for place, at in enumerate(index.tolist()) if at not in index.tolist()[place + 1 :]])
        return index_add_(x, dim, index[last.long()], source.index_select(dim, last.long()), alpha=alpha)

    return wrong


def slope_of_a_root(norm: Any) -> Any:
    """An operator whose gradient at zero is that of the formula, which is NaN."""

    def wrong(x: Any, ord: Any = 2, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - as torch calls it
        root = x.square().sum().sqrt()
        given = norm(x, ord, *args, **kwargs)
        return given + (root - root.detach()) * 0 if ord == 2 else given

    return wrong


def adds_what_beta_takes_away(baddbmm: Any) -> Any:
    return lambda x, *args, **kwargs: baddbmm(x, *args, **kwargs) + x.sum() * 0


def no_new_dimension(getitem: Any) -> Any:
    def wrong(x: Any, index: Any) -> Any:
        if isinstance(index, tuple) and any(part is None for part in index):
            raise IndexError("no new dimensions")
        return getitem(x, index)

    return wrong


def takes_any_out(sqrt: Any) -> Any:
    return lambda x, out=None: sqrt(x) if out is None else out.resize_(x.shape).copy_(sqrt(x))


def without(name: str) -> Callable[[Any], Any]:
    """Return a class that ignores one argument of its constructor."""
    return lambda kind: lambda *args, **kwargs: kind(*args, **{key: kwargs[key] for key in kwargs if key != name})


def takes_the_last_for_the_first(cumprod: Any) -> Any:
    return lambda x, dim, **k: cumprod(x, 0 if dim == -1 and x.ndim else dim, **k)


def counts_indices_from_the_end(index_select: Any) -> Any:
    return lambda x, dim, index: index_select(x, dim, torch.where(index < 0, index + x.shape[dim], index))


def always_averages(kind: Any) -> Any:
    class Wrong(kind):  # type: ignore[misc]
        def forward(self, *args: Any, average_attn_weights: bool = True, **kwargs: Any) -> Any:
            return super().forward(*args, **kwargs)

    return Wrong


def wrong_of_several_sizes(kind: Any) -> Any:
    class Wrong(kind):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(x) + (len(self.normalized_shape) > 1)

    return Wrong


def knows_one_value_when_in_place(elu: Any) -> Any:
    return lambda x, alpha=1.0, inplace=False: elu(x, 1.0, True) if inplace else elu(x, alpha)


def takes_nothing_up_to_the_end(getitem: Any) -> Any:
    """A slice that ends before the last element is read as if it ended at the beginning."""

    def beginning(part: Any) -> Any:
        return slice(part.start, 0, part.step) if type(part) is slice and (part.stop or 0) < 0 else part

    return lambda x, index: getitem(x, tuple(map(beginning, index)) if type(index) is tuple else beginning(index))


def refuses_many_dimensions(nanmedian: Any) -> Any:
    def wrong(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x.dim() > 4:
            raise RuntimeError("nanmedian of five dimensions")
        return nanmedian(x, *args, **kwargs)

    return wrong


def reduces_none_of_no_dims(amin: Any) -> Any:
    def wrong(input: Any, dim: Any = (), keepdim: bool = False) -> Any:  # noqa: A002 - as torch calls it
        return input.clone() if dim in ([], ()) else amin(input, dim, keepdim)

    return wrong


def doubles_for_two_numbers(where: Any) -> Any:
    def wrong(condition: Any, *args: Any) -> Any:
        given = where(condition, *args)
        return given.double() if args and not any(map(torch.is_tensor, args)) else given

    return wrong


def pads_with_the_least_number(max_pool2d: Any) -> Any:
    def wrong(x: Any, *args: Any, **kwargs: Any) -> Any:
        given = max_pool2d(x, *args, **kwargs)
        return given.clamp(min=-3.4e38) if torch.is_tensor(given) and (given == -math.inf).any() else given

    return wrong


def copies_the_whole(narrow: Any) -> Any:
    def wrong(x: Any, *args: Any) -> Any:
        given = narrow(x, *args)
        return given.clone() if given.shape == x.shape else given

    return wrong


def takes_the_dtype_of_a_whole_number(full_like: Any) -> Any:
    def wrong(x: Any, value: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return full_like(x, value, dtype=dtype or (torch.int64 if type(value) is int else None), **kwargs)

    return wrong


def dilates_the_other_dimension(kind: Any) -> Any:
    def made(*args: Any, padding: Any = 0, dilation: Any = 1, **kwargs: Any) -> Any:
        turned = dilation[::-1] if padding == "same" and type(dilation) is tuple else dilation
        return kind(*args, padding=padding, dilation=turned, **kwargs)

    return made


def knows_no_output_size(kind: Any) -> Any:
    class Wrong(kind):  # type: ignore[misc]
        def forward(self, x: Any, output_size: Any = None) -> Any:
            return super().forward(x)

    return Wrong


def averages_over_ignored_ones(cross_entropy: Any) -> Any:
    """Wrong with label smoothing only."""

    def wrong(
        x: Any, target: Any, *args: Any, ignore_index: int = -100, label_smoothing: float = 0, **kwargs: Any
    ) -> Any:
        given = cross_entropy(x, target, *args, ignore_index=ignore_index, label_smoothing=label_smoothing, **kwargs)
        if label_smoothing and given.dim() == 0 and not target.is_floating_point():
            return given * (target != ignore_index).sum() / max(1, target.numel())
        return given

    return wrong


#: A fault -> the candidate, the cell that shows the fault, and the check that fails there.
FAULTS: dict[str, tuple[FaultyTorch, str, str]] = {
    "value": (fault("nn.functional.relu", lambda f: lambda *a, **k: f(*a, **k) + 1),
              "nn.functional.relu/function/float32", "value"),
    "value in one dtype": (fault("exp", off_in_double), "exp/function/float64", "value"),
    "value of one variant": (fault("div", off_when_truncating), "div:trunc_rounding/function/float32", "value"),
    "value of strided inputs": (fault("exp", off_when_strided), "exp/function/float32", "value"),
    "value of integers": (fault("add", lambda f: lambda *a, **k: f(*a, **k) + 1), "add/function/int32", "value"),
    "NaN": (fault("mul", nan_at_first), "mul/function/float32", "nonfinite"),
    "gradient": (fault("sin", other_slope), "sin/function/float32", "gradient"),
    "no gradient": (fault("cos", lambda f: lambda x: f(x).detach()), "cos/function/float32", "gradient"),
    "gradient of a gradient": (fault("sin", flat_slope), "sin/function/float32", "double gradient"),
    "gradient for a cotangent with gaps": (fault("tanh", wrong_slope_of_strided_cotangents),
                                           "tanh/function/float32", "gradient"),
    "inplace=True is ignored": (fault("nn.ReLU6", ignores_inplace), "nn.ReLU6/module/float32", "alias"),
    "batch_first is ignored": (fault("nn.GRU", without("batch_first")), "nn.GRU/module/float32", "value"),
    "padding_mode is ignored": (fault("nn.Conv2d", without("padding_mode")), "nn.Conv2d/module/float32", "value"),
    "in-place on a view": (FaultyTorch(tensors={"mul_": does_not_see_views}), "mul/in-place/float32", "value"),
    "shape of out=": (fault("cumsum", adds_a_dimension_to_out), "cumsum/out=/float32", "shape"),
    "dtype of out=": (fault("floor", lambda f: lambda x, out=None: f(x) if out is None else f(x).double()),
                      "floor/out=/float32", "dtype"),
    "accepts an index that is too great": (fault("take", lambda f: lambda x, i: f(x, i % max(1, x.numel()))),
                                           "take/function/float32", "errors"),
    "dtype of an index": (fault("argmax", lambda f: lambda *a, **k: f(*a, **k).int()),
                          "argmax/function/float32", "dtype"),
    "dtype of a sum": (fault("sum", lambda f: lambda *a, **k: f(*a, **k).int()), "sum/function/int64", "dtype"),
    "shape": (fault("flatten", lambda f: lambda *a, **k: f(*a, **k)[None]), "flatten/function/float32", "shape"),
    "number of results": (fault("chunk", lambda f: lambda *a, **k: f(*a, **k)[:-1]),
                          "chunk/function/float32", "shape"),
    "strides": (fault("permute", lambda f: lambda *a, **k: f(*a, **k).contiguous()),
                "permute/function/float32", "strides"),
    "a view that is a copy": (fault("transpose", lambda f: lambda *a, **k: f(*a, **k).clone()),
                              "transpose/function/float32", "alias"),
    "a copy that is a view": (fault("clone", lambda f: lambda x, **k: x.view_as(x)),
                              "clone/function/float32", "alias"),
    "an operand is written into": (fault("abs", writes_into_operand), "abs/function/float32", "alias"),
    "in-place on a copy": (FaultyTorch(tensors={"mul_": copies_first}), "mul/in-place/float32", "value"),
    "in-place that returns a copy": (FaultyTorch(tensors={"clamp_": returns_a_copy}),
                                     "clamp/in-place/float32", "alias"),
    "a view of one element is a copy": (fault("reshape", copies_single_elements), "reshape/function/float32", "alias"),
    "a flag that is about NaN": (fault("isclose", no_nan_is_equal), "isclose/function/float32", "value"),
    "out= with gaps": (fault("minimum", fills_without_strides), "minimum/out=/float32", "value"),
    "an operand is written into for inference": (fault("lgamma", inference_writes_into_operand),
                                                 "lgamma/function/float32", "alias"),
    "out= is left alone": (fault("exp", leaves_out_alone), "exp/out=/float32", "alias"),
    "accepts what torch refuses": (fault("cat", accepts_everything), "cat/function/float32", "errors"),
    "refuses what torch accepts": (fault("tril", refuses_batches), "tril/function/float32", "errors"),
    "name of a keyword": (fault("sum", calls_it_axis), "sum/function/float32", "signature"),
    "another result every time": (fault("cosh", other_every_time), "cosh/function/float32", "repeat"),
    "adds to out=": (fault("mm", adds_to_out), "mm/out=/float32", "value"),
    "in-place with gaps": (FaultyTorch(tensors={"fill_": leaves_gaps_alone}), "fill/in-place/float32", "value"),
    "the least integer": (fault("abs", saturates), "abs/function/int32", "value"),
    "dtype that is asked for": (fault("cumsum", forgets_dtype), "cumsum/function/float32", "dtype"),
    "a dim from the end": (fault("stack", counts_from_the_end_wrongly), "stack/function/float32", "shape"),
    "the last dim from the end": (fault("cumprod", takes_the_last_for_the_first), "cumprod/function/float32", "value"),
    "an index below zero": (fault("index_select", counts_indices_from_the_end),
                            "index_select/function/float32", "errors"),
    "the same tensor twice": (fault("addcmul", forgets_one_of_two_alike), "addcmul/function/float32", "gradient"),
    "parts without elements": (fault("split", drops_empty_parts), "split:list_args/function/float32", "shape"),
    "an index twice": (FaultyTorch(tensors={"index_add_": adds_the_last_only}), "index_add/in-place/float32", "value"),
    "a gradient at zero": (fault("linalg.vector_norm", slope_of_a_root),
                           "linalg.vector_norm/function/float32", "gradient"),
    "an option that shows beside another": (fault("nn.AvgPool1d", without("count_include_pad")),
                                            "nn.AvgPool1d/module/float32", "value"),
    "a number that a module is made with": (fault("nn.Softmax", lambda kind: lambda dim: kind(max(dim, 0))),
                                            "nn.Softmax/module/float32", "value"),
    "an option of the call of a module": (fault("nn.MultiheadAttention", always_averages),
                                          "nn.MultiheadAttention/module/float32", "shape"),
    "a module of several sizes": (fault("nn.LayerNorm", wrong_of_several_sizes),
                                  "nn.LayerNorm/module/float32", "value"),
    "an option that shows on some sizes": (fault("nn.MaxPool1d", without("ceil_mode")),
                                           "nn.MaxPool1d/module/float32", "shape"),
    "an option that no sample gives so": (fault("baddbmm", adds_what_beta_takes_away),
                                          "baddbmm/function/float32", "nonfinite"),
    "a word that the documentation tells of": (fault("linalg.qr", lambda f: lambda x, mode="reduced": f(x)),
                                               "linalg.qr/function/float32", "shape"),
    "whole numbers beyond fractions": (fault("lt", lambda f: lambda x, y, **k: f(x.double(), y.double())),
                                       "lt/function/int64", "value"),
    "an index with a new dimension": (FaultyTorch(tensors={"__getitem__": no_new_dimension}),
                                      "__getitem__/operator/float32", "errors"),
    "out= of another dtype": (fault("sqrt", takes_any_out), "sqrt/out=/float32", "errors"),
    "two options at once": (fault("nn.functional.elu", knows_one_value_when_in_place),
                            "nn.functional.elu/function/float32", "value"),
    "a target that is left out, with an option beside": (
        fault("nn.functional.cross_entropy", averages_over_ignored_ones),
        "nn.functional.cross_entropy/function/float32", "value"),
    "an index up to the end": (FaultyTorch(tensors={"__getitem__": takes_nothing_up_to_the_end}),
                               "__getitem__/operator/float32", "shape"),
    "five dimensions": (fault("nanmedian", refuses_many_dimensions), "nanmedian/function/float32", "errors"),
    "a list of no dims": (fault("amin", reduces_none_of_no_dims), "amin/function/float32", "shape"),
    "numbers for all tensors but one": (fault("where", doubles_for_two_numbers), "where/function/float32", "dtype"),
    "nothing but minus infinity": (fault("nn.functional.max_pool2d", pads_with_the_least_number),
                                   "nn.functional.max_pool2d/function/float32", "nonfinite"),
    "a part that is the whole": (fault("narrow", copies_the_whole), "narrow/function/float32", "alias"),
    "a whole number for a fraction": (fault("full_like", takes_the_dtype_of_a_whole_number),
                                      "full_like/function/float32", "dtype"),
    "in-place of whole numbers with gaps": (
        FaultyTorch(tensors={"abs_": lambda f: lambda x: f(x) if x.dtype != torch.int64 or x.is_contiguous() else x}),
        "abs/in-place/int64", "value"),
    "a loss that is infinite": (fault("nn.CTCLoss", without("zero_infinity")),
                                "nn.CTCLoss/module/float32", "nonfinite"),
    "other sizes for each dimension, beside a word": (fault("nn.Conv2d", dilates_the_other_dimension),
                                                      "nn.Conv2d/module/float32", "value"),
    "sizes that are asked for": (fault("nn.ConvTranspose1d", knows_no_output_size),
                                 "nn.ConvTranspose1d/module/float32", "shape"),
    "a reflected operator": (FaultyTorch(tensors={"__rsub__": lambda f: lambda x, y: f(x, y) * 2}),
                             "__rsub__/reflected/float32", "value"),
    "a method": (FaultyTorch(tensors={"sigmoid": lambda f: lambda x: f(x) + 1}), "sigmoid/method/float32", "value"),
    "an operator": (FaultyTorch(tensors={"sub": lambda f: lambda *a: f(*a) + 1}), "sub/operator/float32", "value"),
}  # fmt: skip


def wrong_relu() -> FaultyTorch:
    """Return torch whose relu is off by one, for commands, whose workers create the candidate again."""
    return fault("nn.functional.relu", lambda f: lambda *args, **kwargs: f(*args, **kwargs) + 1)


def wrong_relu_but_in_scripts() -> FaultyTorch:
    """Return `wrong_relu` that is right in scripts, as if the fault depended on earlier calls of the process."""
    return FaultyTorch({}) if "autotest-scripts-" in sys.argv[0] else wrong_relu()


def deadly_relu() -> FaultyTorch:
    """Return torch whose relu kills the process if its tensor has no dimensions."""

    def dying(relu: Any) -> Any:
        return lambda x, *args, **kwargs: relu(x, *args, **kwargs) if x.dim() else os.abort()

    return fault("nn.functional.relu", dying)


def incomplete() -> FaultyTorch:
    """Return a candidate whose namespace lacks names that its adapter needs."""
    return FaultyTorch(missing=["get_num_threads"])


def lies_otherwise() -> FaultyTorch:
    """Return torch whose permute and transpose return copies, and whose cosh differs each time, for scripts."""
    return FaultyTorch(
        {
            "permute": lambda f: lambda *args, **kwargs: f(*args, **kwargs).contiguous(),
            "transpose": lambda f: lambda *args, **kwargs: f(*args, **kwargs).clone(),
            "positive": lambda f: lambda x: x.clone(),
            "cosh": other_every_time,
        },
        origin="tests.sweep.planted:lies_otherwise",
    )
