"""Heart disease as a score card: a network of steps, pruned until it fits on an index card.

Run with ``python examples/heart.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets
from newron.figures import draw

SEED = 0

# The table has codes; these are the words of its documentation, shortened.
CHEST_PAIN = {1: "typical angina", 2: "atypical angina", 3: "non-anginal", 4: "asymptomatic"}
RESTING_ECG = {0: "normal", 1: "ST-T abnormality", 2: "hypertrophy"}
THAL = {3: "normal", 6: "fixed defect", 7: "reversible defect"}
UNITS = {"age": "years", "resting_bp": "mm Hg", "serum_chol": "mg/dl"}


def load_patients():
    """Give 270 patients with 13 measurements, and whether they are ill."""
    heart = datasets.load("heart")
    patients = heart.X.assign(
        chest_pain=heart.X["chest_pain"].cat.rename_categories(CHEST_PAIN),
        resting_ecg=heart.X["resting_ecg"].cat.rename_categories(RESTING_ECG),
        thal=heart.X["thal"].cat.rename_categories(THAL),
    )
    return patients, heart.y.map({1: "healthy", 2: "ill"})


def split_patients():
    """Give 180 patients to train on, 90 to test, and whether they are ill."""
    X, y = load_patients()
    return train_test_split(X, y, test_size=90, stratify=y, random_state=SEED)


def fit_network(X, y):
    """Grow at most 30 conditions, then take out what validation rows do not miss."""
    return NewronClassifier(
        "heaviside", recipe="grow", max_terms=30, pruning=True, domains=UNITS, random_state=SEED
    ).fit(X, y)


def draw_figure():
    """Draw the card of whole points, and one patient through it."""
    X, X_test, y, _ = split_patients()
    card = fit_network(X, y).scorecard(5)
    title = "Heart disease: a card of whole points"
    return draw(card, X, row=X_test.iloc[0], row_name="one patient", title=title)


def main():
    """Tell the rules, a card of whole points, and one patient."""
    X_train, X_test, y_train, y_test = split_patients()
    network = fit_network(X_train, y_train)

    right = int((network.predict(X_test) == y_test).sum())
    path = network.path_
    print(f"Right for {right} of {len(X_test)} patients that it has not seen.")
    print(f"Pruning left {path.chosen} of {path.sizes[-1]} conditions.")

    print("\nThe rules, and on how many of the patients of training each condition holds\n")
    rules = network.rules()
    print(rules)

    print("\nThe same as a card with whole points of at most 5\n")
    print(network.scorecard(5, X_test, y_test))

    print(f"\nOne patient, whom the table calls {y_test.iloc[0]}\n")
    print(rules.to_model().explain(X_test.iloc[0]))


if __name__ == "__main__":
    main()
