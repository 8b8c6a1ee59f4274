"""Sorts operators into families, by their names and by their classes in torch's operator database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Family -> pattern that is searched in the last part of a name, in lower case. The first match decides.
_BY_NAME: Final[Mapping[str, str]] = {
    "random": r"^(rand|bernoulli|multinomial|normal$|normal_|uniform|exponential|cauchy|geometric|log_normal)"
    r"|dropout|poisson$|^rrelu",
    "pooling": r"pool",
    "convolution": r"conv(?!ert)|^unfold$|^fold$",
    "loss": r"loss$|entropy|kl_div|nll_|^l1$|^mse$",
    "normalisation": r"(batch|layer|group|instance|local_response|rms).?norm|^normalize$|weight_norm|renorm",
    "activation": r"relu|gelu|elu$|silu|mish|glu$|swish|sigmoid$|softplus|softsign|softshrink|hardshrink|tanhshrink"
    r"|hardtanh|hardswish|softmax|softmin|logsigmoid|threshold|^tanh$",
    "attention and recurrent": r"attention|lstm|gru|^rnn|transformer",
    "embedding": r"embedding|one_hot",
    "matrix product": r"^(matmul|mm|bmm|mv|dot|vdot|inner|outer|ger|addmm|addmv|addbmm|baddbmm|addr|einsum|tensordot"
    r"|linear|bilinear|kron|chain_matmul|multi_dot|cross|__rmatmul__)$",
    "resampling": r"interpolate|upsample|grid_sample|affine_grid|pixel_|pad$|channel_shuffle",
    "distance": r"distance|cdist|pdist|cosine_similarity|^dist$",
}
_BY_PACKAGE: Final[Mapping[str, str]] = {
    "linalg": "linear algebra",
    "fft": "spectral",
    "special": "special functions",
    "masked": "masked",
    "signal": "spectral",
    "nn": "neural network, other",
}
_BY_CLASS: Final[Mapping[str, str]] = {
    "BinaryUfuncInfo": "elementwise, binary",
    "UnaryUfuncInfo": "elementwise, unary",
    "ReductionOpInfo": "reduction",
    "ShapeFuncInfo": "shape and indexing",
    "SpectralFuncInfo": "spectral",
}
_LINEAR: Final = re.compile(
    r"cholesky|svd|^lu|^qr$|eig|inverse|pinv|^det$|logdet|slogdet|matrix_|triangular|trace|lstsq"
)
_CREATION: Final = re.compile(
    r"^(zeros|ones|full|empty|arange|linspace|logspace|eye|new_|tril_ind|triu_ind|scalar_tensor)"
)
_SHAPE: Final = re.compile(
    r"view|reshape|permute|transpose|squeeze|expand|flatten|split|chunk|stack|cat|select|index|gather|scatter|slice"
    r"|narrow|take|repeat|tile|roll|flip|rot90|unbind|diag|tri[lu]|where|masked_|movedim|swap|unfold|getitem|t$|ravel"
    r"|meshgrid|broadcast|contiguous|clone|resize|concat|put|nonzero|atleast|block_diag|combinations|cartesian|as_strided"
)
_REDUCTION: Final = re.compile(
    r"sum|mean|prod|std|var|norm|max|min|median|mode|quantile|any$|all$|count|logsumexp|sort|topk|kthvalue|unique"
    r"|histc|bincount|searchsorted|bucketize|aminmax|cov|corrcoef|trapz|trapezoid|argwhere"
)
_CONVERSION: Final = re.compile(
    r"^(to|type|float|double|half|bfloat16|bool|byte|char|short|int|long|cfloat|cdouble|chalf|real|imag|complex|polar"
    r"|resolve_conj|resolve_neg|view_as_real|view_as_complex|conj|conj_physical|H|mH)$"
)


_BY_LAST_PART: Final = (
    (_CONVERSION, "conversion"),
    (_CREATION, "creation"),
    (_LINEAR, "linear algebra"),
    (_SHAPE, "shape and indexing"),
    (_REDUCTION, "reduction"),
)


def family_of(name: str, kind: str = "") -> str:
    """Return the family of the operator or module at dotted path `name`.

    Args:
        name: the dotted path, such as ``"nn.functional.relu"``.
        kind: its class in torch's operator database, such as ``"BinaryUfuncInfo"``; empty if it has none.
    """
    package, _, last = name.rpartition(".")
    lowered = last.lower()
    for family, pattern in _BY_NAME.items():
        if re.search(pattern, lowered):
            return family
    if package.partition(".")[0] in _BY_PACKAGE:
        return _BY_PACKAGE[package.partition(".")[0]]
    if kind in _BY_CLASS:
        return _BY_CLASS[kind]
    return next((family for known, family in _BY_LAST_PART if known.search(last)), "other")
