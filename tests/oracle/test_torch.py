"""The core's forward pass, loss and gradients equal PyTorch autograd's."""

import numpy as np
import pytest

from oracle.networks import (
    ACTIVATIONS,
    AGGREGATIONS,
    FUNCTIONS,
    LOSSES,
    core_differentiate,
    make_start,
    make_table,
    make_wiring,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed: run scripts/install_heavy")


class Step(torch.autograd.Function):
    """Heaviside forward, the sigmoid's derivative backward: the stated surrogate."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return (z >= 0).to(z.dtype)

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        s = torch.sigmoid(z)
        return g * s * (1 - s)


VALUES = {
    "heaviside": Step.apply,
    "sigmoid": torch.sigmoid,
    "linear": lambda z: z,
    "relu": torch.relu,
    "selu": torch.selu,
}
JOINS = {
    "sum": lambda p: p.sum(-1),
    "mean": lambda p: p.mean(-1),
    "min": lambda p: p.amin(-1),
    "max": lambda p: p.amax(-1),
    "product": lambda p: p.prod(-1),
}
ENDS = {
    "identity": lambda z: z,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
}


def torch_loss(wiring, params, x, y, weight, kind):
    signals = x
    for layer in wiring.layers:
        plan = layer.plan
        shape = (layer.n_edges, plan.n_factors)
        w, b = params[layer.w].reshape(shape), params[layer.b].reshape(shape)
        z = w * (signals[:, layer.source.astype(int)].unsqueeze(2) - b)
        if plan.processing == "tanh_prod":
            h = (torch.tanh(z).prod(2) + 1) / 2
        else:
            h = VALUES[plan.processing](z[:, :, 0])
        if plan.weighted:
            h = h * params[layer.alpha]
        out = JOINS[plan.aggregation](h.reshape(len(x), plan.n_neurons, -1))
        if plan.centred:
            out = out - params[layer.centre]
        scores = ENDS[plan.activation](out)
        signals = torch.cat([signals, scores], dim=1)
    functional = torch.nn.functional
    if kind == "binary":
        losses = functional.binary_cross_entropy_with_logits(scores, y, reduction="none")[:, 0]
    elif kind == "categorical":
        losses = functional.cross_entropy(scores, y[:, 0].long(), reduction="none")
    else:
        losses = ((scores - y) ** 2).mean(1)
    return (weight * losses).mean()


def compare(wiring, loss):
    x, y, weight = make_table(41, wiring.n_channels, loss, seed=3)
    start = make_start(wiring, x, seed=3)
    got_loss, got = core_differentiate(wiring, start, x, y, weight, loss)
    params = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    tables = (torch.tensor(a, dtype=torch.float64) for a in (x, y, weight))
    want_loss = torch_loss(wiring, params, *tables, loss)
    want_loss.backward()
    want = params.grad.numpy()
    assert got_loss == pytest.approx(want_loss.item(), rel=2e-5, abs=2e-5)
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-5 * max(1.0, np.abs(want).max()))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_combination_matches_autograd(function, aggregation, activation):
    compare(make_wiring(function, aggregation, activation), "binary")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_matches_autograd(function, loss):
    compare(make_wiring(function, loss=loss, per_input=2, direct=True), loss)
