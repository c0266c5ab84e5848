"""Coefficients of statsmodels and lifelines for tables that are drawn here.

``PYTHONPATH=tests python -m objectives.coefficients`` writes coefficients.json; it needs
statsmodels and lifelines, which the tests do not. Each model is linear and without a penalty.
"""

import json
from pathlib import Path

import numpy as np

PAGE = Path(__file__).with_name("coefficients.json")
POWER, FEW = 1.5, 70


def draw():
    """Return a design with a constant, and targets by name of the task."""
    rng = np.random.default_rng(2100)
    X = rng.normal(size=(240, 3)).round(3)
    z = X @ [0.6, -0.4, 0.2]
    death = rng.exponential(10.0 * np.exp(-z)) + 1e-6 * np.arange(240)
    lost = rng.uniform(2.0, 30.0, 240)
    offset = rng.uniform(-0.5, 0.5, 240).round(3)
    targets = {
        "squared": (z + rng.normal(size=240)).round(3),
        "poisson": rng.poisson(np.exp(0.5 + z + offset)),
        "gamma": (np.exp(z) * rng.gamma(3.0, 1.0 / 3.0, 240)).round(4) + 0.01,
        "tweedie": np.where(rng.uniform(size=240) < 0.2, 0.0, np.exp(z) * rng.gamma(2.0, size=240)),
        "binary": (z + rng.logistic(size=240) > 0.3).astype(float),
        "ordinal": np.digitize(z + rng.logistic(size=240), [-1.0, 1.0]),
        "labels": np.column_stack([z + k + rng.logistic(size=240) > 0 for k in (0, 1)]).astype(int),
        "survival": (death <= lost, np.minimum(death, lost)),  # of the first rows, see FEW
    }
    kinds = np.column_stack([np.zeros(240), z, -z + X[:, 0]]) + rng.gumbel(size=(240, 3))
    targets["categorical"] = kinds.argmax(axis=1)
    return X, offset, targets


def measure():
    """Return the coefficients of the other packages, constants first."""
    import statsmodels.api as sm
    from lifelines import CoxPHFitter
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    X, offset, targets = draw()
    design = sm.add_constant(X)
    log, tight = sm.families.links.Log(), {"tol": 1e-12, "maxiter": 500}
    families = {
        "gamma": sm.families.Gamma(log),
        "tweedie": sm.families.Tweedie(log, var_power=POWER),
        "binary": sm.families.Binomial(),
        "squared": sm.families.Gaussian(),
    }
    found = {
        name: sm.GLM(targets[name], design, family=family).fit(**tight).params
        for name, family in families.items()
    }
    poisson = sm.GLM(targets["poisson"], design, family=sm.families.Poisson(), offset=offset)
    found["poisson"] = poisson.fit(**tight).params
    found["labels"] = [
        sm.GLM(y, design, family=sm.families.Binomial()).fit(**tight).params
        for y in targets["labels"].T
    ]
    several = sm.MNLogit(targets["categorical"], design).fit(method="newton", disp=0, tol=1e-12)
    found["categorical"] = several.params.T  # of the classes after the first
    ordered = OrderedModel(targets["ordinal"], X, distr="logit").fit(
        method="bfgs", disp=0, gtol=1e-9
    )
    first, *steps = ordered.params[3:]
    found["ordinal"] = [*(first + np.cumsum([0.0, *np.exp(steps)])), *ordered.params[:3]]
    event, time = targets["survival"]
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abc")).assign(event=event, time=time)[:FEW]
    cox = CoxPHFitter().fit(frame, "time", "event", fit_options={"precision": 1e-10})
    found["survival"] = cox.params_
    return {name: np.asarray(values).tolist() for name, values in found.items()}


if __name__ == "__main__":
    PAGE.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
