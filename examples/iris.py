"""Iris with products of tanh: a flower is versicolor where two bells are high.

Run with ``python examples/iris.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets
from newron.reading import measure_fidelity

SEED = 0
PETALS = {"petal_length": "cm", "petal_width": "cm"}


def main():
    """Train on 100 flowers; tell the bells, and the crisp network nearest to them."""
    iris = datasets.load("iris")
    X, y = iris.X[list(PETALS)], iris.y.str.removeprefix("Iris-")
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=50, stratify=y, random_state=SEED
    )

    # No hidden layer: the score of each class adds one function of each column.
    network = NewronClassifier(
        "tanh_prod", hidden_layer_sizes=(), recipe="gradient", domains=PETALS, random_state=SEED
    ).fit(X_train, y_train)
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
