"""Heart disease as a score card: a network of steps, pruned until it fits on an index card.

Run with ``python examples/heart.py``; needs pandas.
"""

from sklearn.model_selection import train_test_split

from newron import NewronClassifier, datasets

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


def main():
    """Train on 180 patients; tell the rules, a card of whole points, and one patient."""
    X, y = load_patients()
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=90, stratify=y, random_state=SEED
    )

    # Grow a network of at most 30 conditions, then take out what rows held out do not miss.
    network = NewronClassifier(
        "heaviside", recipe="grow", max_terms=30, pruning=True, domains=UNITS, random_state=SEED
    ).fit(X_train, y_train)

    right = int((network.predict(X_test) == y_test).sum())
    path = network.prune_path_
    print(f"Right for {right} of {len(X_test)} patients that it has not seen.")
    print(f"Pruning left {path.chosen} of {path.literals[-1]} conditions.")

    print("\nThe rules, and on how many of the patients of training each condition holds\n")
    rules = network.rules()
    print(rules)

    print("\nThe same as a card with whole points of at most 5\n")
    print(network.scorecard(5, X_test, y_test))

    print(f"\nOne patient, whom the table calls {y_test.iloc[0]}\n")
    print(rules.to_model().explain(X_test.iloc[0]))


if __name__ == "__main__":
    main()
