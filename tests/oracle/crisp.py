"""Polishing and growing, the naive way: every candidate tried on the exact loss."""

import itertools

import numpy as np


def row_losses(loss, scores, targets, weight):
    if loss == "squared":
        return weight * ((scores - targets) ** 2).mean(axis=1)
    if loss == "binary":
        z = scores[:, 0]
        return weight * (np.logaddexp(0, z) - targets[:, 0] * z)
    top = scores.max(axis=1, keepdims=True)
    norm = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
    return weight * (norm - scores[np.arange(len(scores)), targets[:, 0].astype(int)])


def total_loss(shape, ranks, loss, targets, weight):
    return row_losses(loss, shape.score(ranks), targets, weight).sum()


def best_single_change(shape, which, index, n_values, evaluate):
    """Try every cut and sign of one condition; give the lowest loss."""
    table = getattr(shape, which)
    source = int(table[index, 0])
    kept = table[index].copy()
    best = np.inf
    for cut, sign in itertools.product(range(n_values(source) + 1), (1, -1)):
        table[index] = (source, sign, cut)
        best = min(best, evaluate(shape))
    table[index] = kept
    return best


def slopes(loss, scores, targets, weight):
    if loss == "binary":
        p = 1 / (1 + np.exp(-scores))
        return weight[:, None] * (p - targets), weight[:, None] * np.maximum(p * (1 - p), 1e-6)
    if loss == "squared":
        k = scores.shape[1]
        ones = np.ones_like(scores)
        return 2 * weight[:, None] * (scores - targets) / k, 2 * weight[:, None] * ones / k
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    hit = np.eye(scores.shape[1])[targets[:, 0].astype(int)]
    return weight[:, None] * (p - hit), weight[:, None] * np.maximum(p * (1 - p), 1e-6)


def newton_gain(on, slope, curve, weight, ridge, least):
    """What a Newton step of a term gains that is on for these rows."""
    if weight[on].sum() < least or weight[~on].sum() < least:
        return 0.0

    def part(rows):
        return (slope[rows].sum(axis=0) ** 2 / (curve[rows].sum(axis=0) + ridge)).sum()

    return max(0.5 * (part(on) + part(~on) - part(np.ones(len(on), bool))), 0.0)


def best_term(ranks, n_bins, slope, curve, weight, ridge, least, price):
    """Try every condition and every window; give the best score."""
    best = 0.0
    for column, bins in zip(ranks, n_bins, strict=True):
        for cut in range(1, bins):
            gain = newton_gain(column >= cut, slope, curve, weight, ridge, least)
            best = max(best, gain)
            for high in range(cut + 1, bins):
                on = (column >= cut) & (column < high)
                gain = newton_gain(on, slope, curve, weight, ridge, least)
                best = max(best, gain / (1 + price))
    return best
