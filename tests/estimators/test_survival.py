"""NewronSurvival: periods, curves, censoring, weights, readers, files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import newron
from estimators.support import make_subjects
from newron import NewronSurvival
from newron.errors import InputError, ModelError
from newron.estimators.periods import cut_time, expand
from newron.evaluation.survival import estimate_kaplan_meier
from newron.evaluation.times import read_times
from newron.objectives import choose_objective
from newron.rules.risk_card import read_risk_card
from newron.tables.field import Field


@pytest.fixture(scope="module", params=["sigmoid", "heaviside"])
def fitted(request, subjects):
    model = NewronSurvival(request.param, hidden_layer_sizes=(), max_terms=12, random_state=0)
    return model.fit(*subjects)


@pytest.fixture(scope="module")
def crisp(subjects):
    return NewronSurvival(hidden_layer_sizes=(), max_terms=12, random_state=0).fit(*subjects)


def expand_by_hand(X, y, ends):
    rows, events = [], []
    for x, (event, time) in zip(X, y, strict=True):
        begin = 0.0
        for end in ends:
            if time <= begin and begin > 0.0:
                break
            inside = time <= end
            if inside and not event and time < 0.5 * (begin + end):
                break
            rows.append([*x, end])
            events.append(float(inside and event))
            if inside:
                break
            begin = end
    return np.array(rows), np.array(events)


def test_coefficients_are_those_of_a_logistic_regression_of_periods(subjects):
    X, y = subjects
    times = read_times(y, len(y))
    ends = cut_time(times, None)
    rows, events = expand_by_hand(X, y, ends)
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    oracle = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    oracle.fit((rows - centre) / spread, events)
    periods = expand(X, times, ends, (Field("a"), Field("b")))
    design = np.column_stack([np.ones(len(periods.X)), (periods.X - centre) / spread])
    loss = choose_objective(newron.model.Survival(("no", "yes"), time="t", ends=ends))
    found = np.zeros(4)
    for _ in range(30):
        expansion = loss.expand(loss.encode_targets(periods.y), (design @ found)[:, None])
        curvature = expansion.curvature(0, 0)[:, None] * design
        found -= np.linalg.solve(design.T @ curvature, design.T @ expansion.gradient[:, 0])
    np.testing.assert_allclose(found, [*oracle.intercept_, *oracle.coef_[0]], atol=1e-4)
    network = NewronSurvival(
        "linear", hidden_layer_sizes=(), weight_decay=0.0, max_iter=400, n_init=1, random_state=0
    ).fit(X, y)
    hazards = network.model_.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(
        hazards, oracle.predict_proba((rows - centre) / spread)[:, 1], atol=5e-3
    )


class TestCurves:
    def test_risk_is_in_order(self, fitted):
        assert fitted.score(*make_subjects(400, 5)) > 0.64

    def test_survival_falls_from_one_and_hazards_rise(self, fitted, subjects):
        X, _ = subjects
        survival = fitted.predict_survival_function(X, return_array=True)
        hazard = fitted.predict_cumulative_hazard_function(X, return_array=True)
        assert survival.shape == (len(X), len(fitted.unique_times_))
        assert np.all(np.diff(survival, axis=1) <= 0.0)
        assert survival.max() < 1.0
        np.testing.assert_allclose(-np.log(survival), hazard, rtol=1e-9)
        np.testing.assert_allclose(np.log(hazard.mean(axis=1)), fitted.predict(X))

    def test_functions_have_the_values_of_the_array(self, fitted, subjects):
        X, _ = subjects
        survival = fitted.predict_survival_function(X[:3], return_array=True)
        hazard = fitted.predict_cumulative_hazard_function(X[:3], return_array=True)
        for i, curve in enumerate(fitted.predict_survival_function(X[:3])):
            np.testing.assert_array_equal(curve(curve.x), survival[i])
            assert curve(0.0) == 1.0
            assert curve(1e9) == survival[i, -1]
            between = 0.5 * (curve.x[3] + curve.x[4])
            assert survival[i, 4] < curve(between) < survival[i, 3]
        for i, curve in enumerate(fitted.predict_cumulative_hazard_function(X[:3])):
            np.testing.assert_allclose(curve(curve.x), hazard[i])
            assert curve(0.0) == 0.0

    def test_the_mean_curve_is_that_of_kaplan_and_meier(self, fitted, subjects):
        X, y = subjects
        times = fitted.unique_times_
        known = estimate_kaplan_meier(y["death"], y["months"])(times)
        mean = fitted.predict_survival_function(X, return_array=True).mean(axis=0)
        at_risk = (y["months"][:, None] >= times).sum(axis=0)
        well = at_risk >= 30  # the estimate itself has an error of 0.03 with fewer
        assert well.sum() > 15
        np.testing.assert_allclose(mean[well], known[well], atol=0.04)

    def test_times_before_zero_are_refused(self, fitted, subjects):
        (curve,) = fitted.predict_survival_function(subjects[0][:1])
        with pytest.raises(InputError, match="from 0 on"):
            curve([-1.0])


class TestFitting:
    def test_a_weight_of_two_is_the_row_twice(self):
        X, y = make_subjects(120, 2)
        weight = np.random.default_rng(3).integers(0, 3, len(X))
        settings = {"hidden_layer_sizes": (), "max_terms": 4, "random_state": 0}
        weighed = NewronSurvival(**settings).fit(X, y, weight.astype(float))
        twice = NewronSurvival(**settings).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
        assert weighed.model_ == twice.model_

    def test_the_order_of_rows_does_not_matter(self):
        X, y = make_subjects(120, 4)
        order = np.random.default_rng(5).permutation(len(X))
        settings = {"hidden_layer_sizes": (), "max_terms": 4, "random_state": 0}
        first = NewronSurvival(**settings).fit(X, y)
        assert first.model_ == NewronSurvival(**settings).fit(X[order], y[order]).model_

    def test_folds_keep_the_periods_of_a_subject_together(self, subjects):
        from newron.training.folds import split_folds, split_fraction
        from newron.training.training_set import TrainingSet

        X, y = subjects
        times = read_times(y, len(y))
        periods = expand(X, times, cut_time(times, None), (Field("a"), Field("b")))
        data = TrainingSet.from_rows(
            periods.X, periods.y, None, periods.fields, group=periods.group
        )
        loss = choose_objective(newron.model.Survival(("no", "yes"), time="t", ends=(1.0,)))
        folds = split_folds(data, loss, np.random.SeedSequence(0))
        assert len(folds) == 4
        for fold in folds:
            apart = set(data.group[fold.train.index]) & set(data.group[fold.validation.index])
            assert not apart
        events = [data.y[fold.validation.index, 0].sum() for fold in folds]
        assert max(events) - min(events) <= 1.0
        held = split_fraction(data, loss, 0.2, np.random.default_rng(0))
        assert not set(data.group[held > 0]) & set(data.group[held == 0])

    def test_categories_missing_values_directions_and_units_are_welcome(self):
        X, y = make_subjects(150, 7)
        frame = pd.DataFrame({"age": X[:, 0], "sex": np.where(X[:, 1], "m", "f")})
        frame.loc[::10, "age"] = np.nan
        model = NewronSurvival(
            hidden_layer_sizes=(),
            max_terms=6,
            monotonic_cst={"age": 1},
            domains={"months": "months"},
            random_state=0,
        ).fit(frame, y)
        ages = pd.DataFrame({"age": np.linspace(30.0, 80.0, 40), "sex": "m"})
        assert np.all(np.diff(model.predict(ages)) >= 0.0)
        assert model.feature_names_in_.tolist() == ["age", "sex"]
        plain = NewronSurvival("sigmoid", hidden_layer_sizes=(), monotonic_cst=[1, 0]).fit(X, y)
        rows = np.column_stack([np.linspace(30.0, 80.0, 40), np.ones(40)])
        assert np.all(np.diff(plain.predict(rows)) >= 0.0)

    def test_hidden_layers_pruning_and_fewer_intervals_work(self):
        X, y = make_subjects(150, 8)
        model = NewronSurvival(
            recipe="gradient",
            hidden_layer_sizes=(2,),
            n_init=1,
            max_iter=30,
            early_stopping=True,
            objective="survival:8",
            random_state=0,
        ).fit(X, y)
        assert len(model.unique_times_) <= 8
        assert model.predict_survival_function(X, return_array=True).shape[1] <= 8


class TestProtocol:
    def test_cross_validation_clones_and_pickles(self, subjects):
        model = NewronSurvival("sigmoid", hidden_layer_sizes=(), random_state=0)
        scores = cross_val_score(model, *subjects, cv=3)
        assert scores.min() > 0.6
        fit = clone(model).fit(*subjects)
        other = pickle.loads(pickle.dumps(fit))
        np.testing.assert_array_equal(other.predict(subjects[0]), fit.predict(subjects[0]))
        assert fit.n_features_in_ == 2
        assert fit.get_params()["objective"] == "auto"

    def test_before_a_fit_there_is_nothing_to_predict(self, subjects):
        with pytest.raises(NotFittedError):
            NewronSurvival().predict(subjects[0])

    def test_other_columns_are_refused(self, fitted):
        with pytest.raises(ValueError, match="features"):
            fitted.predict([[1.0, 2.0, 3.0]])

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.arange(4.0), "times alone say not"),
            ((np.zeros(4), np.arange(4.0)), "at least one event"),
            ((np.ones(4), [1.0, 2.0, -1.0, 3.0]), "from 0 on"),
            ((np.ones(4), [1.0, 2.0, np.nan, 3.0]), "finite times"),
            ((np.ones(3), np.ones(3)), "for each of 4 rows"),
            ((np.full(4, 2), np.ones(4)), "true or false"),
            ((np.ones(4), ["a", "b", "c", "d"]), "numbers"),
        ],
    )
    def test_bad_events_and_times_are_refused(self, y, message):
        with pytest.raises(InputError, match=message):
            NewronSurvival().fit(np.arange(4.0)[:, None], y)

    def test_a_column_called_as_the_time_is_refused(self, subjects):
        X, y = subjects
        frame = pd.DataFrame(X, columns=["age", "months"])
        with pytest.raises(InputError, match="'months' for both"):
            NewronSurvival().fit(frame, y)

    @pytest.mark.parametrize("objective", ["poisson", "survival:x", "survival:0", "auto:3"])
    def test_other_objectives_are_refused(self, objective, subjects):
        with pytest.raises(InputError, match="survival:40"):
            NewronSurvival(objective=objective).fit(*subjects)


class TestReading:
    def test_files_keep_the_intervals(self, fitted, subjects, tmp_path):
        X, _ = subjects
        fitted.save(tmp_path / "m.json")
        loaded = newron.load(tmp_path / "m.json")
        assert loaded == fitted.model_
        assert loaded.output == fitted.model_.output
        other = NewronSurvival.from_model(loaded)
        np.testing.assert_array_equal(
            other.predict_survival_function(X, return_array=True),
            fitted.predict_survival_function(X, return_array=True),
        )

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"ends": [2.0, 1.0]}, "rising times"),
            ({"ends": []}, "rising times"),
            ({"time": "nowhere"}, "expected a column 'nowhere'"),
            ({"classes": ["a", "b", "c"]}, "no event and the event"),
        ],
    )
    def test_hostile_files_are_refused(self, crisp, changes, message):
        document = crisp.model_.to_dict()
        document["output"] |= changes
        with pytest.raises(ModelError, match=message):
            newron.Model.from_dict(document)

    def test_rules_are_points_and_proved(self, crisp, subjects):
        rules = crisp.rules()
        assert rules.form == "points"
        assert rules.proof.equal
        assert "months ≥" in rules.to_text()
        with pytest.raises(ModelError, match="use 'points'"):
            crisp.rules(form="rules")

    def test_a_card_of_risk_has_the_curves_of_the_network(self, crisp, subjects):
        X, _ = subjects
        card = crisp.riskcard()
        assert "months" not in {row.column for row in card.rows}
        parts = crisp.contributions(crisp.at(X[:20]))
        survival = crisp.predict_survival_function(X[:20], return_array=True)
        for total, curve in zip(parts[:, :2].sum(axis=1), survival, strict=True):
            np.testing.assert_allclose(card.find_survival(total), curve, atol=1e-9)

    def test_a_card_of_whole_points_tells_every_total(self, crisp):
        card = read_risk_card(crisp.scorecard(5, seconds=0.2))
        text = str(card)
        assert text.startswith("Points for death")
        assert "no death until months" in text
        curves = [card.find_survival(total) for total in card.list_totals()]
        assert np.all(np.diff(np.array(curves), axis=0) <= 0.0)
        found = card.to_dict()
        assert len(found["survival"][0]["curve"]) == len(found["times"])

    def test_a_card_needs_the_time_by_itself(self, crisp):
        text = """
        Points for death
            +2  x1 ≥ 50 and months ≥ 2
        Sum ≥ 4: death
        Otherwise: no death
        """
        model = newron.construct.from_rules(text, crisp.model_.schema, crisp.model_.output)
        with pytest.raises(ModelError, match="months by itself"):
            NewronSurvival.from_model(model).riskcard()

    def test_other_readers_take_a_row_at_a_time(self, fitted, subjects):
        X, _ = subjects
        at = fitted.at(X[:5], 4.0)
        parts = fitted.contributions(at)
        np.testing.assert_allclose(
            np.asarray(parts).sum(axis=1), fitted.model_.scores(at)[:, 0], rtol=1e-9
        )
        assert "months" in str(fitted.explain(fitted.at(X[:1]), max_changes=0))
        assert "months" in fitted.plot().svg
        assert len(fitted.shapes(by="column"))

    def test_exports_give_the_hazard(self, fitted, subjects):
        names: dict[str, object] = {}
        exec(compile(str(fitted.export("python")), "model.py", "exec"), names)
        at = fitted.at(subjects[0][:10], 4.0)
        columns = fitted.model_.schema.names
        rows = [dict(zip(columns, row, strict=True)) for row in at.rows.tolist()]
        want = fitted.model_.predict_proba(at)[:, 1]
        got = [names["predict_proba"](row)[1] for row in rows]
        np.testing.assert_array_equal(got, want)

    @pytest.mark.parametrize("verb", ["importance", "prune"])
    def test_what_does_not_apply_says_why(self, fitted, subjects, verb):
        X, y = subjects
        with pytest.raises(InputError, match="survival"):
            getattr(fitted, verb)(X, y)
