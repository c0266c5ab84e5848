"""Iris with products of tanh: a flower is versicolor where two bells are high.

Run with ``python examples/iris.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets
from newron.rules import measure_fidelity

SEED = 0
PETALS = {"petal_length": "cm", "petal_width": "cm"}


def split_flowers():
    """Give 100 flowers to train on, 50 to test, and their kinds."""
    iris = datasets.load("iris")
    X, y = iris.X[list(PETALS)], iris.y.str.removeprefix("Iris-")
    return train_test_split(X, y, test_size=50, stratify=y, random_state=SEED)


def fit_network(X, y):
    """Train without hidden layer: the score of each class adds a function of each column."""
    return NewronClassifier(
        "tanh_prod", hidden_layer_sizes=(), recipe="gradient", domains=PETALS, random_state=SEED
    ).fit(X, y)


def draw_figure():
    """Draw the network, and one flower through it."""
    X, X_test, y, _ = split_flowers()
    title = "Iris: versicolor is where two bells are high"
    return fit_network(X, y).plot(X, row=X_test.iloc[0], row_name="one flower", title=title)


def main():
    """Tell the bells, and the crisp network nearest to them."""
    X_train, X_test, y_train, y_test = split_flowers()
    network = fit_network(X_train, y_train)
    model = network.model_

    right = int((model.predict(X_test) == y_test).sum())
    print(f"Right for {right} of {len(X_test)} flowers that it has not seen.")

    print("\nWhat each function does\n")
    print(model.shapes())

    print("\nThe same as fuzzy rules\n")
    print(model.fuzzy())

    print("\nThe nearest crisp network: how faithful it is, and its rules\n")
    crisp = model.crisp(X_train)
    print(measure_fidelity(model, crisp, X_test))
    print()
    print(crisp.rules().cover(X_test, y_test))

    print(f"\nOne flower through the soft network; it is a {y_test.iloc[0]}\n")
    print(network.explain(X_test.iloc[0]))


if __name__ == "__main__":
    main()
