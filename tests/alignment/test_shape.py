"""Shapes: views, joining, splitting, repeating, padding, resampling, and tensors made from numbers."""

from __future__ import annotations

import unittest

import pytest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch

LAYOUTS = oneof("contiguous", "transposed", "strided", "offset", "expanded")


def cube(**more):
    return random_tensor(shape=(2, 3, 4), low=-2, high=2, **more)


@pytest.mark.parametrize("name", ["cat", "stack"])
@autotest()
def test_joining(name):
    ndim = random(1, 4).to(int).value()
    shape = [random(1, 4).to(int).value() for _ in range(ndim)]
    dtype = oneof("float32", "float64").value()
    parts = [random_tensor(shape=shape, low=-2, high=2, dtype=dtype, layout=LAYOUTS) for _ in range(3)]
    return getattr(torch, name)(parts, dim=random(-ndim, ndim))


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack"])
@autotest(n=10)
def test_stacking(name):
    shape = oneof((3,), (2, 3), (2, 3, 4)).value()
    return getattr(torch, name)([random_tensor(shape=shape, low=-2, high=2) for _ in range(2)])


@pytest.mark.parametrize("name", ["split", "chunk", "tensor_split"])
@autotest()
def test_splitting(name):
    x = random_tensor(shape=(4, 6, 5), low=-2, high=2)
    return tuple(getattr(torch, name)(x, random(1, 5).to(int), dim=random(-3, 3)))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
@autotest(n=10, auto_backward=False)
def test_constants_like(name):
    x = random_tensor(ndim=3, dim0=None, dtype=oneof("float32", "int64", "float64", "bool"), requires_grad=False)
    return getattr(torch, name)(x)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate"])
@autotest()
def test_pad(mode):
    x = random_tensor(shape=(2, 3, 5, 4), low=-2, high=2)
    widths = [random(0, 3).to(int) for _ in range(4)]
    value = random(-2, 2).to(float) if mode == "constant" else nothing()
    return torch.nn.functional.pad(x, widths, mode=mode, value=value)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
@autotest()
def test_interpolate(mode):
    x = random_tensor(shape=(2, 2, 5, 4), low=-2, high=2)
    corners = random_bool() if mode in ("bilinear", "bicubic") else nothing()
    return torch.nn.functional.interpolate(
        x, size=(random(2, 9).to(int), random(2, 9).to(int)), mode=mode, align_corners=corners
    )


class TestViews(unittest.TestCase):
    @autotest()
    def test_reshape(self):
        x = cube(layout=LAYOUTS)
        return x.reshape(oneof((4, 6), (24,), (-1, 3), (2, 2, 2, 3), (3, -1))), torch.reshape(x, (6, -1))

    @autotest()
    def test_view(self):
        x = cube()
        return x.view(4, 6), x.view(-1), x.view(oneof((2, 12), (8, 3)))

    @autotest()
    def test_flatten(self):
        x = random_tensor(ndim=4, dim0=None, low=-2, high=2)
        return torch.flatten(x, random(0, 2).to(int), random(2, 4).to(int)), torch.nn.Flatten()(x), x.flatten()

    @autotest()
    def test_permute_and_transpose(self):
        x = cube(layout=LAYOUTS)
        return (
            x.permute(oneof((2, 0, 1), (1, 2, 0), (0, -1, 1))),
            torch.transpose(x, random(-3, 3), random(-3, 3)),
            x[0].t(),
        )

    @autotest()
    def test_swapaxes_and_movedim(self):
        x = cube()
        return torch.swapaxes(x, 0, random(-3, 3)), torch.movedim(x, random(0, 3).to(int), random(0, 3).to(int)), x[1].T

    @autotest()
    def test_squeeze_and_unsqueeze(self):
        x = random_tensor(shape=(1, 3, 1, 2), low=-2, high=2)
        return torch.squeeze(x), x.squeeze(random(-4, 4).to(int)), torch.unsqueeze(x, random(-5, 5).to(int))

    @autotest()
    def test_expand(self):
        x = random_tensor(shape=(3, 1), low=-2, high=2)
        return x.expand(3, 4), x.expand(2, -1, 5), torch.broadcast_to(x, (2, 3, 2)), x.expand_as(torch.zeros(3, 6))

    @autotest()
    def test_unbind(self):
        return tuple(torch.unbind(cube(), dim=random(-3, 3)))

    @autotest(n=10)
    def test_contiguous_after_a_view(self):
        x = cube().permute(2, 0, 1)
        assert not x.is_contiguous()
        return x.contiguous(), x.contiguous().view(4, 6)

    @autotest(n=10)
    def test_sizes_and_strides(self):
        x = cube(layout=LAYOUTS, requires_grad=False)
        x.size(1), x.dim(), x.stride(), x.storage_offset(), x.is_contiguous(), x.numel()
        return x * 1


class TestRepeating(unittest.TestCase):
    @autotest()
    def test_repeat_and_tile(self):
        x = random_tensor(shape=(2, 3), low=-2, high=2)
        return x.repeat(2, random(1, 4).to(int)), x.repeat(2, 1, 3), torch.tile(x, (random(1, 4).to(int),))

    @autotest()
    def test_repeat_interleave(self):
        x = random_tensor(shape=(2, 3), low=-2, high=2)
        return torch.repeat_interleave(x, random(1, 4).to(int), dim=oneof(0, 1))

    @autotest()
    def test_roll(self):
        x = cube()
        return torch.roll(x, random(-4, 5).to(int), oneof(0, 1, 2)), torch.roll(x, (1, -2), (0, 2)), torch.roll(x, 1)

    @autotest()
    def test_flip(self):
        return torch.flip(cube(layout=LAYOUTS), oneof((0,), (1, 2), (-1,), (0, 1, 2)))

    @autotest()
    def test_meshgrid(self):
        x, y = random_tensor(shape=(3,), low=-2, high=2), random_tensor(shape=(2,), low=-2, high=2)
        return tuple(torch.meshgrid(x, y, indexing=oneof("ij", "xy")))

    @autotest(n=10)
    def test_atleast(self):
        x = random_tensor(shape=oneof((), (2,), (2, 3)), low=-2, high=2)
        return torch.atleast_1d(x), torch.atleast_2d(x), torch.atleast_3d(x)


class TestJoining(unittest.TestCase):
    @autotest()
    def test_cat_of_sizes_that_differ(self):
        parts = [random_tensor(shape=(random(1, 4).to(int), 3), low=-2, high=2) for _ in range(3)]
        return torch.cat(parts, dim=0)

    @autotest()
    def test_cat_with_nothing(self):
        return torch.cat([random_tensor(shape=(2, 3)), random_tensor(shape=(0, 3)), random_tensor(shape=(1, 3))])

    @autotest(auto_backward=False)
    def test_cat_of_mixed_dtypes(self):
        x = random_tensor(shape=(2, 3), high=9, dtype=oneof("float32", "int64"), requires_grad=False)
        return torch.cat([x, random_tensor(shape=(2, 3), high=9, dtype="float64", requires_grad=False)])

    @autotest()
    def test_split_by_sizes(self):
        first, second = torch.split(random_tensor(shape=(5, 4), low=-2, high=2), [2, 3], dim=0)
        return first, second

    @autotest()
    def test_hsplit_and_vsplit(self):
        x = random_tensor(shape=(4, 6), low=-2, high=2)
        return tuple(torch.hsplit(x, oneof(2, 3))), tuple(torch.vsplit(x, oneof(2, 4)))


class TestResampling(unittest.TestCase):
    @autotest()
    def test_pixel_shuffle(self):
        factor = random(1, 4).to(int).value()
        return torch.nn.PixelShuffle(factor)(random_tensor(shape=(2, 2 * factor**2, 3, 2), low=-2, high=2))

    @autotest()
    def test_upsample_by_a_factor(self):
        x = random_tensor(shape=(1, 2, 4, 3), low=-2, high=2)
        return torch.nn.Upsample(scale_factor=oneof(2.0, 1.5, 3.0), mode=oneof("nearest", "bilinear"))(x)

    @autotest(n=10)
    def test_interpolate_of_other_ranks(self):
        line = random_tensor(shape=(2, 2, 5), low=-2, high=2)
        block = random_tensor(shape=(1, 2, 3, 4, 2), low=-2, high=2)
        function = torch.nn.functional.interpolate
        return function(line, size=random(2, 9).to(int), mode="linear"), function(
            block, scale_factor=2, mode="trilinear"
        )

    @autotest()
    def test_grid_sample(self):
        x = random_tensor(shape=(2, 2, 4, 5), low=-2, high=2)
        # Never halfway between two pixels, see below.
        grid = random_tensor(shape=(2, 3, 3, 2), low=-0.9, high=0.9, contents="uniform")
        return torch.nn.functional.grid_sample(
            x,
            grid,
            mode=oneof("bilinear", "nearest"),
            padding_mode=oneof("zeros", "border"),
            align_corners=random_bool(),
        )

    @autotest(n=5)
    def test_grid_sample_halfway_between_two_pixels(self):
        x = random_tensor(shape=(2, 2, 4, 6), low=-2, high=2)
        grid = random_tensor(shape=(2, 3, 3, 2), low=-0.9, high=0.9) * 0
        return torch.nn.functional.grid_sample(x, grid, mode="nearest", align_corners=random_bool())

    @autotest()
    def test_affine_grid(self):
        theta = random_tensor(shape=(2, 2, 3), low=-1)
        return torch.nn.functional.affine_grid(theta, (2, 1, 3, 4), align_corners=random_bool())

    @autotest()
    def test_padding_modules(self):
        x = random_tensor(shape=(2, 3, 5, 4), low=-2, high=2)
        widths = tuple(random(0, 3).to(int).value() for _ in range(4))
        name = oneof("ReflectionPad2d", "ReplicationPad2d", "ZeroPad2d").value()
        return getattr(torch.nn, name)(widths)(x), torch.nn.ConstantPad1d(1, 2.5)(x[0])


class TestMaking(unittest.TestCase):
    @autotest(auto_backward=False)
    def test_arange(self):
        start, step = random(-5, 5).to(int), random(1, 4).to(int)
        return torch.arange(start, start + 9, step), torch.arange(random(1, 9).to(int)), torch.arange(0.0, 2.0, 0.25)

    @autotest(auto_backward=False)
    def test_linspace_and_logspace(self):
        low, steps = random(-3, 0).to(float), random(1, 9).to(int)
        return torch.linspace(low, 2.0, steps), torch.logspace(low, 2.0, steps)

    @autotest(n=10, auto_backward=False)
    def test_constants(self):
        shape = (random(0, 4).to(int), random(1, 4).to(int))
        dtype = oneof(torch.float32, torch.int64, torch.float64).value()
        return torch.zeros(shape, dtype=dtype), torch.ones(shape, dtype=dtype), torch.full(shape, 3, dtype=dtype)

    @autotest(n=10, auto_backward=False)
    def test_full_like(self):
        return torch.full_like(cube(requires_grad=False), random(-2, 2).to(float))

    @autotest(n=10, auto_backward=False)
    def test_new_tensors_of_a_tensor(self):
        x = random_tensor(shape=(2, 3), dtype=oneof("float32", "float64"), requires_grad=False)
        return x.new_zeros((2, 2)), x.new_ones(3), x.new_full((2,), 1.5)

    @autotest(n=10, auto_backward=False)
    def test_tensor_of_nested_lists(self):
        return torch.tensor([[1, 2], [3, 4]]), torch.tensor([1.5, 2.5]), torch.tensor(True), torch.tensor(3.5)
