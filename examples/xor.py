"""Exclusive or with sigmoids: four soft conditions, counted twice, are the rule of the paper.

Run with ``python examples/xor.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets
from newron.rules import measure_fidelity

SEED = 0
SQUARE = {"x1": {"low": -1, "high": 1}, "x2": {"low": -1, "high": 1}}


def split_points():
    """Give 750 points of a square to train on, 250 to test, and whether signs are alike."""
    xor = datasets.load("xor")
    X, y = xor.X, xor.y.map({0: "alike", 1: "opposite"})  # the signs of x1 and x2
    return train_test_split(X, y, test_size=250, stratify=y, random_state=SEED)


def fit_network(X, y):
    """Train two hidden neurons, as in the paper; "gradient" trains exactly this network."""
    return NewronClassifier(
        "sigmoid", hidden_layer_sizes=(2,), recipe="gradient", domains=SQUARE, random_state=SEED
    ).fit(X, y)


def draw_figure():
    """Draw the network, and one point through it."""
    X, _, y, _ = split_points()
    title = "Exclusive or: four soft conditions, asked twice"
    row = {"x1": 0.42, "x2": -0.61}
    return fit_network(X, y).plot(X, row=row, row_name="one point", title=title)


def main():
    """Tell the soft network, and the crisp one nearest to it."""
    X_train, X_test, y_train, y_test = split_points()
    network = fit_network(X_train, y_train)
    model = network.model_

    right = int((model.predict(X_test) == y_test).sum())
    print(f"Right for {right} of {len(X_test)} points that it has not seen.")

    print("\nWhat each function does\n")
    print(model.shapes())

    print("\nThe same as fuzzy rules\n")
    print(model.fuzzy())

    print("\nThe nearest crisp network: how faithful it is, and its rules\n")
    crisp = model.crisp(X_train)
    print(measure_fidelity(model, crisp, X_test))
    print()
    rules = crisp.rules().cover(X_test, y_test)
    print(rules)

    print("\nOne point through the rules\n")
    print(rules.to_model().explain({"x1": 0.42, "x2": -0.61}))


if __name__ == "__main__":
    main()
