"""The same network and optimizer in eager PyTorch, as a user would write it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

__all__ = ["time_step"]


def _make(widths: Sequence[int]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    places = []
    for n, m in pairwise(widths):
        places += [torch.randn(n, m, requires_grad=True) for _ in range(2)]
    last = [
        torch.randn(widths[-2], widths[-1], requires_grad=True),
        torch.zeros(widths[-1], requires_grad=True),
    ]
    return places, last


FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "bell": lambda z: torch.exp(-z * z),
}


def time_step(
    widths: Sequence[int], n_rows: int, batch: int, n_steps: int, function: str = "sigmoid"
) -> float:
    """Return the seconds of one step of Adam on a shuffled batch."""
    process = FUNCTIONS[function]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    places, (alpha, centre) = _make(widths)
    optimizer = torch.optim.Adam([*places, alpha, centre], lr=0.01)
    x = torch.randn(n_rows, widths[0])
    y = (x[:, :1] > 0).float()

    def step(rows: torch.Tensor) -> None:
        signal = x[rows]
        for w, b in zip(places[::2], places[1::2], strict=True):
            h = process(w * (signal.unsqueeze(2) - b))
            signal = (h * alpha if w is places[-2] else h).sum(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(signal - centre, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step(torch.arange(min(batch, n_rows)))
    done, start = 0, time.perf_counter()
    while done < n_steps:
        order = torch.randperm(n_rows)
        for first in range(0, n_rows, batch):
            step(order[first : first + batch])
            done += 1
            if done == n_steps:
                break
    return (time.perf_counter() - start) / n_steps
