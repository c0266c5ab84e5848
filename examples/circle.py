"""A circle with one neuron: two bells whose heights are added, and the box nearest to it.

Run with ``python examples/circle.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets
from newron.rules import measure_fidelity

SEED = 0
SQUARE = {"x1": {"low": -1, "high": 1}, "x2": {"low": -1, "high": 1}}


def split_points():
    """Give 750 points of a square to train on, 250 to test, and where they lie."""
    circle = datasets.load("circle")
    X, y = circle.X, circle.y.map({0: "outside", 1: "within"})
    return train_test_split(X, y, test_size=250, stratify=y, random_state=SEED)


def fit_network(X, y):
    """Train one neuron, as the paper tells it."""
    return NewronClassifier(
        "tanh_prod", hidden_layer_sizes=(), recipe="paper", domains=SQUARE, random_state=SEED
    ).fit(X, y)


def draw_figure():
    """Draw the network, and one point through it."""
    X, _, y, _ = split_points()
    title = "A circle: two bells whose heights are added"
    return fit_network(X, y).plot(
        X, row={"x1": 0.0, "x2": 0.61}, row_name="one point", layout="layered", title=title
    )


def main():
    """Tell the two bells, and the box that crisp rules make of them."""
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
    print(crisp.rules().cover(X_test, y_test))

    print("\nOne point through the soft network; above it the circle ends at x2 = 0.707\n")
    print(network.explain({"x1": 0.0, "x2": 0.61}))


if __name__ == "__main__":
    main()
