"""Optimizers over several steps: the parameters after each step, which depend on the optimizer's whole state."""

from __future__ import annotations

import unittest

from autotest import autotest, nothing, oneof, random, random_bool, random_tensor, torch


def train(make, steps=4):
    """Fit a small network. Its parameters are compared after the trial, as those of every module."""
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    optimizer = make(m.parameters())
    x = random_tensor(shape=(5, 3), low=-1, requires_grad=False)
    target = random_tensor(shape=(5, 2), low=-1, requires_grad=False)
    for _ in range(steps):
        loss = torch.nn.functional.mse_loss(m(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return m, optimizer


class TestOptimizers(unittest.TestCase):
    @autotest(n=10)
    def test_sgd(self):
        train(lambda parameters: torch.optim.SGD(parameters, lr=random(0.01, 0.5)))

    @autotest(n=10)
    def test_sgd_with_momentum(self):
        train(
            lambda parameters: torch.optim.SGD(
                parameters,
                lr=random(0.01, 0.5),
                momentum=random(0.1, 0.95),
                weight_decay=random(0.0, 0.1) | nothing(),
            )
        )

    @autotest(n=10)
    def test_sgd_with_nesterov(self):
        train(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=random(0.1, 0.95), nesterov=True))

    @autotest(n=10)
    def test_sgd_with_dampening(self):
        train(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, dampening=random(0.1, 0.5)))

    @autotest(n=10)
    def test_sgd_upwards(self):
        train(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, maximize=True))

    @autotest(n=10)
    def test_sgd_upwards_without_momentum(self):
        train(lambda parameters: torch.optim.SGD(parameters, lr=0.1, maximize=True))

    @autotest(n=10)
    def test_adam(self):
        train(
            lambda parameters: torch.optim.Adam(
                parameters,
                lr=random(0.001, 0.1),
                betas=(random(0.5, 0.95), random(0.8, 0.999)),
                weight_decay=random(0.0, 0.1) | nothing(),
            )
        )

    @autotest(n=10)
    def test_adam_with_amsgrad(self):
        train(lambda parameters: torch.optim.Adam(parameters, lr=0.01, amsgrad=True))

    @autotest(n=10)
    def test_adamw(self):
        train(lambda parameters: torch.optim.AdamW(parameters, lr=random(0.001, 0.1), weight_decay=random(0.0, 0.2)))

    @autotest(n=5)
    def test_decay_of_adamw_by_default(self):
        train(lambda parameters: torch.optim.AdamW(parameters, lr=0.1))

    @autotest(n=10)
    def test_adagrad(self):
        train(lambda parameters: torch.optim.Adagrad(parameters, lr=random(0.001, 0.1)))

    @autotest(n=10)
    def test_rmsprop(self):
        # With a negligible eps, because OneFlow adds it at another place, see the next test.
        train(
            lambda parameters: torch.optim.RMSprop(
                parameters, lr=random(0.001, 0.01), alpha=random(0.8, 0.99), eps=1e-30, centered=random_bool()
            )
        )

    @autotest(n=5)
    def test_eps_of_rmsprop(self):
        x = random_tensor(shape=(3,), low=0.1, high=1, layout="contiguous")
        (x * x).sum().backward()
        torch.optim.RMSprop([x], lr=0.1, eps=random(0.001, 0.1)).step()

    @autotest(n=5)
    def test_rmsprop_with_momentum(self):
        train(lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, momentum=0.9))

    @autotest(n=10)
    def test_adadelta(self):
        train(lambda parameters: torch.optim.Adadelta(parameters, lr=random(0.1, 1.0)))


class TestAroundOptimizers(unittest.TestCase):
    @autotest(n=10)
    def test_learning_rate_in_steps(self):
        # Contiguous, because OneFlow does not update a parameter that is a view, see below.
        x = random_tensor(shape=(3,), low=-1, layout="contiguous")
        optimizer = torch.optim.SGD([x], lr=0.5)
        name = oneof("StepLR", "ExponentialLR").value()
        arguments = {"step_size": 2, "gamma": 0.5} if name == "StepLR" else {"gamma": 0.7}
        schedule = getattr(torch.optim.lr_scheduler, name)(optimizer, **arguments)
        for _ in range(4):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()
            schedule.step()

    @autotest(n=10)
    def test_clipping_of_gradients_by_norm(self):
        m = torch.nn.Linear(3, 2)
        m(random_tensor(shape=(4, 3), low=-3, high=3)).sum().backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), max_norm=random(0.1, 2.0))

    @autotest(n=10)
    def test_clipping_of_gradients_by_value(self):
        m = torch.nn.Linear(3, 2)
        m(random_tensor(shape=(4, 3), low=-3, high=3)).sum().backward()
        torch.nn.utils.clip_grad_value_(m.parameters(), clip_value=random(0.1, 2.0))

    @autotest(n=10)
    def test_gradients_that_accumulate(self):
        m = torch.nn.Linear(3, 2)
        for _ in range(3):
            m(random_tensor(shape=(4, 3), low=-1)).sum().backward()

    @autotest(n=10)
    def test_parameter_groups(self):
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
        groups = [{"params": first.parameters()}, {"params": second.parameters(), "lr": 0.01}]
        optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            second(first(random_tensor(shape=(2, 3), low=-1, dtype="float32"))).sum().backward()
            optimizer.step()

    @autotest(n=10)
    def test_frozen_parameters_stay(self):
        m = torch.nn.Linear(3, 2)
        m.bias.requires_grad = False
        optimizer = torch.optim.SGD([m.weight], lr=0.1)
        m(random_tensor(shape=(4, 3), low=-1)).sum().backward()
        optimizer.step()

    @autotest(n=10)
    def test_steps_on_a_parameter_that_is_a_view(self):
        x = random_tensor(shape=(3, 2), low=-1, layout=oneof("transposed", "strided", "offset"))
        (x * x).sum().backward()
        getattr(torch.optim, oneof("SGD", "Adam", "AdamW", "Adagrad", "Adadelta").value())([x], lr=0.5).step()

    @autotest(n=10)
    def test_updates_without_autograd(self):
        # Not expanded: torch refuses to write to memory that elements share, and OneFlow may crash.
        x = random_tensor(shape=(3,), low=-1, layout=oneof("contiguous", "strided", "offset"))
        (x * x).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
        return x * 2
