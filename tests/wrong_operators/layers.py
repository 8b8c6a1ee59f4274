"""Operators that move, index, pool, normalise or lose something wrongly."""

from __future__ import annotations

from autotest import oneof, random, random_bool, random_tensor, torch
from tests.wrong_operators.wrong import (
    Wrong,
    gradient_where,
    of_two,
    off,
    through,
    when,
    where,
)
from tests.wrong_operators.wrong import torch as real

LAYERS = [
    Wrong(
        "pad edge mode",
        "nn.functional.pad",
        lambda f: lambda x, pad, mode: f(x, pad, mode="reflect") if mode == "replicate" else f(x, pad, mode=mode),
        lambda: torch.nn.functional.pad(
            random_tensor(ndim=3, dim2=5), (1, 2), mode=oneof("reflect", "replicate", "constant")
        ),
    ),
    Wrong(
        "pad negative",
        "nn.functional.pad",
        lambda f: lambda x, pad: f(x, tuple(max(0, p) for p in pad)),
        lambda: torch.nn.functional.pad(random_tensor(ndim=2, dim1=8), (random(-2, 3), random(-2, 3))),
    ),
    Wrong(
        "triu diagonal",
        "triu",
        lambda f: lambda x, diagonal=0: f(x, min(diagonal, 1)),
        lambda: torch.triu(random_tensor(ndim=2), diagonal=random(-2, 3)),
    ),
    Wrong(
        "cat of dim -1",
        "cat",
        lambda f: lambda xs, dim=0: f(xs, 0) if dim == -1 else f(xs, dim),
        lambda: torch.cat(
            [random_tensor(ndim=2, dim0=3, dim1=3), random_tensor(ndim=2, dim0=3, dim1=3)], dim=random(-2, 2)
        ),
    ),
    Wrong(
        "repeat_interleave dim",
        "repeat_interleave",
        lambda f: lambda x, n, dim: f(x, n, dim) if dim else real().cat([x] * n),
        lambda: torch.repeat_interleave(random_tensor(ndim=2), random(1, 4), dim=random(0, 2)),
    ),
    Wrong(
        "transpose same dims",
        "transpose",
        lambda f: lambda x, a, b: f(x, a, b) if a != b else x.flip(a),
        lambda: torch.transpose(random_tensor(ndim=3), random(-3, 3), random(-3, 3)),
    ),
    Wrong(
        "squeeze dim that isn't 1",
        "squeeze",
        lambda f: lambda x, dim: f(x),
        lambda: torch.squeeze(random_tensor(ndim=3), dim=random(0, 3)),
    ),
    Wrong(
        "index_select repeated gradient",
        "index_select",
        lambda f: (
            lambda x, dim, i: (
                f(x, dim, i)
                if len(i.unique()) == len(i)
                else f(through(lambda g, y: real().where(g.abs() > 0, g * 0.5, g))(x), dim, i)
            )
        ),
        lambda: torch.index_select(
            random_tensor(ndim=2, dim0=4), 0, random_tensor(shape=(5,), dtype=int, low=0, high=4)
        ),
    ),
    Wrong(
        "scatter_add duplicates",
        "scatter_add",
        lambda f: lambda x, d, i, s: real().scatter(x, d, i, x.gather(d, i) + s),
        lambda: torch.scatter_add(
            random_tensor(ndim=1, dim0=4), 0, random_tensor(shape=(6,), dtype=int, high=4), random_tensor(shape=(6,))
        ),
    ),
    Wrong(
        "masked_fill of broadcast mask",
        "masked_fill",
        lambda f: lambda x, m, v: f(x, m, v) if m.shape == x.shape else x * 1,
        lambda: torch.masked_fill(random_tensor(ndim=2), random_tensor(ndim=2, dtype=bool), 1.5),
    ),
    Wrong(
        "take negative index",
        "take",
        lambda f: lambda x, i: f(x, i.clamp(min=0)),
        lambda: torch.take(random_tensor(shape=(3, 4)), random_tensor(shape=(5,), dtype=int, low=-12, high=12)),
    ),
    Wrong(
        "searchsorted right",
        "searchsorted",
        lambda f: lambda x, v: f(x, v, right=True),
        lambda: torch.searchsorted(
            random_tensor(ndim=1, contents="sorted", requires_grad=False), random_tensor(ndim=1, requires_grad=False)
        ),
    ),
    Wrong(
        "one_hot",
        "nn.functional.one_hot",
        lambda f: lambda x, n: f(x.clamp(max=n - 2), n),
        lambda: torch.nn.functional.one_hot(random_tensor(ndim=1, dtype=int, high=5), 5),
    ),
    Wrong(
        "embedding padding_idx gradient",
        "nn.functional.embedding",
        lambda f: lambda i, wt, padding_idx=None: f(i, wt),
        lambda: torch.nn.functional.embedding(
            random_tensor(ndim=2, dtype=int, high=6), random_tensor(ndim=2, dim0=6), padding_idx=random(0, 6)
        ),
    ),
    Wrong(
        "embedding repeated gradient",
        "nn.functional.embedding",
        lambda f: lambda i, wt: f(i, through(lambda g, y: g.sign())(wt)),
        lambda: torch.nn.functional.embedding(random_tensor(ndim=1, dtype=int, high=6), random_tensor(ndim=2, dim0=6)),
    ),
    Wrong(
        "interpolate align_corners",
        "nn.functional.interpolate",
        lambda f: lambda x, scale_factor, mode, align_corners: f(x, scale_factor=scale_factor, mode=mode),
        lambda: torch.nn.functional.interpolate(
            random_tensor(ndim=4), scale_factor=2, mode="bilinear", align_corners=random_bool()
        ),
    ),
    Wrong(
        "conv2d dilation",
        "nn.functional.conv2d",
        lambda f: lambda x, wt, dilation=1: f(x, wt, padding=dilation - 1) if dilation > 1 else f(x, wt),
        lambda: torch.nn.functional.conv2d(
            random_tensor(ndim=4, dim1=2, dim2=8, dim3=8), random_tensor(shape=(3, 2, 2, 2)), dilation=random(1, 4)
        ),
    ),
    Wrong(
        "conv2d groups",
        "nn.functional.conv2d",
        lambda f: lambda x, wt, groups: f(x, wt, groups=groups) if groups == 1 else f(x.flip(1), wt, groups=groups),
        lambda: torch.nn.functional.conv2d(
            random_tensor(ndim=4, dim1=4, dim2=5, dim3=5), random_tensor(shape=(4, 2, 2, 2)), groups=2
        ),
    ),
    Wrong(
        "conv1d stride padding",
        "nn.functional.conv1d",
        lambda f: (
            lambda x, wt, stride=1, padding=0: (
                f(x, wt, stride=stride, padding=padding)
                if stride == 1
                else f(x, wt, stride=stride, padding=padding).flip(-1)
            )
        ),
        lambda: torch.nn.functional.conv1d(
            random_tensor(ndim=3, dim1=2, dim2=9),
            random_tensor(shape=(3, 2, 3)),
            stride=random(1, 3),
            padding=random(0, 2),
        ),
    ),
    Wrong(
        "conv2d bias gradient",
        "nn.functional.conv2d",
        lambda f: lambda x, wt, b: f(x, wt, through(lambda g, y: g * 2)(b)),
        lambda: torch.nn.functional.conv2d(
            random_tensor(ndim=4, dim1=2, dim2=4, dim3=4), random_tensor(shape=(3, 2, 2, 2)), random_tensor(shape=(3,))
        ),
    ),
    Wrong(
        "max_pool ceil_mode",
        "nn.functional.max_pool2d",
        lambda f: lambda x, k, ceil_mode=False: f(x, k),
        lambda: torch.nn.functional.max_pool2d(random_tensor(ndim=4, dim2=7, dim3=7), 2, ceil_mode=random_bool()),
    ),
    Wrong(
        "max_pool padding zero",
        "nn.functional.max_pool2d",
        lambda f: lambda x, k, padding=0: f(real().nn.functional.pad(x, [padding] * 4), k),
        lambda: torch.nn.functional.max_pool2d(random_tensor(ndim=4, dim2=6, dim3=6), 3, padding=1),
    ),
    Wrong(
        "max_pool NaN",
        "nn.functional.max_pool1d",
        lambda f: lambda x, k: f(x.nan_to_num(nan=-9.0), k),
        lambda: torch.nn.functional.max_pool1d(random_tensor(ndim=3, dim2=8), 2),
    ),
    Wrong(
        "avg_pool count_include_pad",
        "nn.functional.avg_pool2d",
        lambda f: lambda x, k, padding=0, count_include_pad=True: f(x, k, padding=padding),
        lambda: torch.nn.functional.avg_pool2d(
            random_tensor(ndim=4, dim2=6, dim3=6), 3, padding=1, count_include_pad=random_bool()
        ),
    ),
    Wrong(
        "max pool tie gradient",
        "nn.functional.max_pool1d",
        lambda f: lambda x, k: -f(-x.flip(-1), k).flip(-1) if False else f(x.flip(-1), k).flip(-1),
        lambda: torch.nn.functional.max_pool1d(random_tensor(ndim=3, dim2=8), 2),
    ),
    Wrong(
        "cross_entropy ignore_index",
        "nn.functional.cross_entropy",
        lambda f: lambda x, y, ignore_index=-100: f(x, y),
        lambda: torch.nn.functional.cross_entropy(
            random_tensor(ndim=2, dim0=6, dim1=4),
            random_tensor(shape=(6,), dtype=int, high=4),
            ignore_index=random(0, 4),
        ),
    ),
    Wrong(
        "cross_entropy label_smoothing",
        "nn.functional.cross_entropy",
        lambda f: lambda x, y, label_smoothing=0.0: f(x, y),
        lambda: torch.nn.functional.cross_entropy(
            random_tensor(ndim=2, dim0=6, dim1=4),
            random_tensor(shape=(6,), dtype=int, high=4),
            label_smoothing=random(0.0, 1.0),
        ),
    ),
    Wrong(
        "cross_entropy weight mean",
        "nn.functional.cross_entropy",
        lambda f: lambda x, y, weight: f(x, y, weight=weight, reduction="none").mean(),
        lambda: torch.nn.functional.cross_entropy(
            random_tensor(ndim=2, dim0=6, dim1=4),
            random_tensor(shape=(6,), dtype=int, high=4),
            weight=random_tensor(shape=(4,), low=0.1, high=2, requires_grad=False),
        ),
    ),
    Wrong(
        "nll reduction",
        "nn.functional.nll_loss",
        lambda f: (
            lambda x, y, reduction: f(x, y, reduction="mean") if reduction == "sum" else f(x, y, reduction=reduction)
        ),
        lambda: torch.nn.functional.nll_loss(
            random_tensor(ndim=2, dim0=6, dim1=4),
            random_tensor(shape=(6,), dtype=int, high=4),
            reduction=oneof("none", "sum", "mean"),
        ),
    ),
    Wrong(
        "kl_div log target",
        "nn.functional.kl_div",
        lambda f: lambda x, y: (y * (y.log() - x)).mean(),
        lambda: torch.nn.functional.kl_div(random_tensor(ndim=2), random_tensor(ndim=2, low=0)),
    ),
    Wrong(
        "bce clamp",
        "nn.functional.binary_cross_entropy",
        lambda f: lambda x, y: -(y * x.log() + (1 - y) * (1 - x).log()).mean(),
        lambda: torch.nn.functional.binary_cross_entropy(
            random_tensor(ndim=2, low=0, high=1), random_tensor(ndim=2, low=0, high=1)
        ),
    ),
    Wrong(
        "bce logits unstable",
        "nn.functional.binary_cross_entropy_with_logits",
        lambda f: lambda x, y: -(y * x.sigmoid().log() + (1 - y) * (1 - x.sigmoid()).log()).mean(),
        lambda: torch.nn.functional.binary_cross_entropy_with_logits(
            random_tensor(ndim=2), random_tensor(ndim=2, low=0, high=1)
        ),
    ),
    Wrong(
        "cosine_similarity zero",
        "nn.functional.cosine_similarity",
        lambda f: lambda x, y: (x * y).sum(1) / (x.norm(dim=1) * y.norm(dim=1)),
        lambda: torch.nn.functional.cosine_similarity(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "normalize zero",
        "nn.functional.normalize",
        lambda f: lambda x: x / x.norm(dim=1, keepdim=True),
        lambda: torch.nn.functional.normalize(random_tensor(ndim=2)),
    ),
    Wrong(
        "layer_norm eps outside",
        "nn.functional.layer_norm",
        lambda f: lambda x, s: (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True).sqrt() + 1e-5),
        lambda: torch.nn.functional.layer_norm(random_tensor(ndim=2, dim1=6), (6,)),
    ),
    Wrong(
        "matmul of batch transposed",
        "matmul",
        lambda f: lambda x, y: f(x, y) if y.is_contiguous() or y.ndim < 3 else off(f(x, y)),
        lambda: torch.matmul(
            random_tensor(ndim=3, dim0=2, dim1=3, dim2=4), random_tensor(ndim=3, dim0=2, dim1=4, dim2=3)
        ),
    ),
    Wrong(
        "bmm large batch",
        "bmm",
        when(lambda x: x.shape[0] > 8),
        lambda: torch.bmm(random_tensor(ndim=3, dim1=3, dim2=4), random_tensor(ndim=3, dim1=4, dim2=3)),
    ),
    Wrong(
        "addmm beta 0 with NaN",
        "addmm",
        lambda f: lambda a, x, y, beta: a * beta + x @ y,
        lambda: torch.addmm(
            random_tensor(ndim=2, dim0=3, dim1=3), random_tensor(shape=(3, 4)), random_tensor(shape=(4, 3)), beta=0
        ),
    ),
    Wrong(
        "einsum",
        "einsum",
        lambda f: lambda e, x, y: f(e, x, y) if x.is_contiguous() else off(f(e, x, y)),
        lambda: torch.einsum("ij,jk->ik", random_tensor(ndim=2, dim1=4), random_tensor(ndim=2, dim0=4)),
    ),
    Wrong(
        "dropout scale in train",
        "nn.functional.dropout",
        lambda f: lambda x, p, training: f(x, p, training) if training else x * (1 - p),
        lambda: torch.nn.functional.dropout(random_tensor(ndim=2), 0.5, training=False),
    ),
    Wrong(
        "prelu channel",
        "nn.functional.prelu",
        lambda f: lambda x, a: f(x, a[:1]),
        lambda: torch.nn.functional.prelu(random_tensor(ndim=2, dim1=3), random_tensor(shape=(3,))),
    ),
    Wrong(
        "detach keeps grad",
        "square",
        lambda f: lambda x: f(x.detach()) + 0 * x,
        lambda: torch.square(random_tensor(ndim=2)),
    ),
    Wrong(
        "logical_and of fractions",
        "logical_and",
        lambda f: lambda x, y: f(x.trunc(), y.trunc()),
        lambda: torch.logical_and(
            random_tensor(ndim=2, requires_grad=False), random_tensor(ndim=2, requires_grad=False)
        ),
    ),
    Wrong(
        "diff of n",
        "diff",
        lambda f: lambda x, n=1: f(x),
        lambda: torch.diff(random_tensor(ndim=2, dim1=6), n=random(1, 4)),
    ),
    Wrong("digamma at negative", "digamma", where(lambda x: x < -1), lambda: torch.digamma(random_tensor(ndim=2))),
    Wrong(
        "offset lost in gradient",
        "sin",
        gradient_where(lambda x: x.storage_offset() != 0),
        lambda: torch.sin(random_tensor(ndim=2)),
    ),
    Wrong(
        "column broadcast",
        "add",
        of_two(lambda res, x, y: off(res) if x.shape[1] == 1 < y.shape[1] and x.shape[0] == y.shape[0] else res),
        lambda: torch.add(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "row broadcast",
        "mul",
        of_two(
            lambda res, x, y: (
                off(res)
                if y.ndim == 2 and x.ndim == 2 and y.shape[0] == 1 < x.shape[0] and y.shape[1] == x.shape[1]
                else res
            )
        ),
        lambda: torch.mul(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
    Wrong(
        "sub of scalar tensor",
        "sub",
        of_two(lambda res, x, y: off(res) if y.numel() == 1 and x.numel() > 1 else res),
        lambda: torch.sub(random_tensor(ndim=2), random_tensor(ndim=2)),
    ),
]
