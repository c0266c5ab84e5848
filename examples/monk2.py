"""MONK-2 by counting: class 1 if exactly two of six attributes have their first value.

Run with ``python examples/monk2.py``; needs pandas.
"""

from newron import NewronClassifier, datasets

SEED = 3


def fit_network(X, y):
    """Train the paper's network: a neuron that counts, two that ask it, and the output."""
    return NewronClassifier(
        "heaviside", hidden_layer_sizes=(1, 2), direct_inputs=False, recipe="gradient",
        n_init=40, random_state=SEED,
    ).fit(X, y)  # fmt: skip


def draw_figure():
    """Draw the network, and one robot through it."""
    train = datasets.load("monks-2", part="train")
    title = "MONK-2: class 1 if exactly two of six attributes have their first value"
    row = dict(zip(train.X.columns, (1, 3, 1, 2, 4, 2), strict=True))
    network = fit_network(train.X, train.y)
    return network.plot(train.X, row=row, row_name="one robot", title=title)


def main():
    """Train on 169 robots; tell the rule, its proof, and one robot."""
    train, test = (datasets.load("monks-2", part=part) for part in ("train", "test"))
    network = fit_network(train.X, train.y)

    right = int((network.predict(test.X) == test.y).sum())
    print(f"Right for {right} of all {len(test.X)} robots.")

    print("\nThe rule, and on how many of the robots of training it holds\n")
    rules = network.rules()
    print(rules)

    print("\nOne robot through the rule\n")
    print(rules.to_model().explain(test.X.iloc[20]))


if __name__ == "__main__":
    main()
