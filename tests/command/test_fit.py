"""``newron fit``: what it prints, measures and writes."""

import csv
import json
import re

import numpy as np
import pytest

import newron
from builders.tables import make_table, write_csv
from newron.command.fit_options import FitOptions
from newron.command.fit_pipeline import CardEstimator
from newron.evaluation.splits import SplitPlan, make_splits
from newron.tables import read_labelled

QUICK = ("--recipe", "gradient", "--hidden", "0", "--folds", "2", "--jobs", "1")


@pytest.fixture
def table(tmp_path):
    write_csv(tmp_path / "table.csv", make_table(120))
    return "table.csv"


def make_regression_table(n=80):
    rng = np.random.default_rng(0)
    rows = [["x", "kind", "price"]]
    for _ in range(n):
        x, kind = rng.uniform(0, 10), "ab"[int(rng.integers(2))]
        rows.append([f"{x:.2f}", kind, f"{3.0 * (x > 5) + 2.0 * (kind == 'b') + 0.5:.2f}"])
    return rows


def make_quick_estimator(y):
    return CardEstimator(FitOptions(recipe="gradient", hidden=(), jobs=1).make_estimator(y))


class TestWhatIsPrinted:
    def test_the_table_and_its_target(self, run, table):
        done = run("fit", table, "--target", "sick", *QUICK)
        assert done.exit_code == 0, done.output
        head, kinds = done.stdout.splitlines()[:2]
        assert re.fullmatch(
            rf"newron {newron.__version__} · table\.csv: 120 rows, 2 inputs, "
            r"target sick \(\d+ yes, \d+ no\)",
            head,
        )
        assert kinds == "  1 number, 1 category · 6 values missing: age 6"

    def test_signs_of_numbers_are_units_of_the_model(self, run, tmp_path):
        rows = make_table(60)
        for row in rows[1:]:
            row[0] = row[0] and f"{row[0]} %"
        write_csv(tmp_path / "table.csv", rows)
        done = run("fit", "table.csv", "-t", "sick", "-o", "m.json", *QUICK)
        assert done.exit_code == 0, done.output
        assert newron.load(tmp_path / "m.json").schema.columns[0].unit == "%"

    def test_tables_without_header_are_fitted_and_predicted(self, run, tmp_path):
        write_csv(tmp_path / "table.csv", make_table(60)[1:])
        done = run("fit", "table.csv", "-t", "x3", "-o", "m.json", "--no-header", *QUICK)
        assert done.exit_code == 0, done.output
        done = run("predict", "m.json", "table.csv", "--no-header")
        assert len(done.stdout.splitlines()) == 61

    def test_units_are_printed_after_numbers(self, run, fails, table, tmp_path):
        words = ("fit", table, "-t", "sick", "-o", "m.json", *QUICK)
        done = run(*words, "--unit", "age=years")
        assert done.exit_code == 0, done.output
        assert re.search(r"age .*\d years", done.stdout)
        assert newron.load(tmp_path / "m.json").schema.columns[0].unit == "years"
        assert "expected COLUMN=UNIT" in fails(*words, "--unit", "age", "--force")
        assert "expected one of the inputs age" in fails(*words, "--unit", "sick=y", "--force")

    def test_how_good_it_is_and_how_that_was_measured(self, run, table):
        out = run("fit", table, "-t", "sick", *QUICK).stdout
        found = re.search(
            r"Accuracy on new rows ([\d.]+) %, 95 % interval ([\d.]+) to ([\d.]+)\.", out
        )
        value, low, high = map(float, found.groups())
        assert 85.0 < value <= 100.0
        assert low < value <= high
        assert (
            "Measured by 2-fold cross-validation; the network below is trained on all 120 rows."
            in out
        )
        assert re.search(r"    always “yes” +├─*●─*┤ +\d\d\.\d", out)
        assert "logistic regression" in out

    def test_the_rules_their_proof_and_the_files(self, run, table, tmp_path):
        out = run("fit", table, "-t", "sick", *QUICK).stdout
        assert re.search(
            r"✓ proved +the text of the rules equals the network for all \d+ combinations", out
        )
        for name in ("report.html", "rules.txt", "network.svg", "model.json"):
            assert re.search(rf"^    {re.escape(name)} ", out, re.MULTILINE)
            assert (tmp_path / "table-newron" / name).stat().st_size > 100
        assert {file.name for file in tmp_path.iterdir()} == {"table.csv", "table-newron"}
        assert "newron explain table-newron/model.json table.csv --row 1" in out

    def test_progress_goes_to_standard_error_a_line_at_the_end_of_each_stage(self, run, table):
        lines = run("fit", table, "-t", "sick", *QUICK).stderr.splitlines()
        assert [line.split("━")[0].strip() for line in lines] == ["2 folds", "final fit"]
        assert re.fullmatch(r"  2 folds        ━{24}  2 of 2   [\d.]+ s", lines[0])

    def test_what_is_left_out_and_noted(self, run, tmp_path):
        rows = make_table(120)
        rows = [[*row, "note" if i == 0 else f"text {i}"] for i, row in enumerate(rows)]
        rows[5][2] = ""
        write_csv(tmp_path / "t.csv", rows)
        out = run("fit", "t.csv", "-t", "sick", *QUICK).stdout
        assert "  left out   note: 120 different texts in 120 rows" in out
        assert "  ! note     1 row has no sick: left out" in out

    def test_quiet_prints_nothing(self, run, table):
        assert run("fit", table, "-t", "sick", *QUICK, "--quiet").output == ""

    def test_json_has_all_of_it(self, run, table, tmp_path):
        done = run("fit", table, "-t", "sick", *QUICK, "--json")
        assert done.stderr == ""
        printed = json.loads(done.stdout)
        assert printed["rows"] == 120
        assert printed["inputs"][1]["categories"] == ["blue", "green", "red"]
        assert printed["missing"] == {"age": 6}
        assert set(printed["measured"]["scores"]) == {"network", "logistic regression", "constant"}
        assert printed["proof"]["equal"] is True
        assert all((tmp_path / name).is_file() for name in printed["files"])
        model = newron.load(tmp_path / "table-newron/model.json")
        assert printed["fingerprint"] == model.fingerprint

    def test_narrow_terminals_get_no_chart(self, run, table, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "70")
        out = run("fit", table, "-t", "sick", *QUICK).stdout
        plain = re.sub(r"\x1b\[[\d;]*m", "", out)
        assert "├" not in plain
        assert "\x1b[1m" in out

    def test_no_colour_if_somebody_wants_none(self, run, table, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("NO_COLOR", "1")
        out = run("fit", table, "-t", "sick", *QUICK).stdout
        assert not re.search(r"\x1b\[(3|9)\d", out)


class TestWhatIsTrained:
    def test_the_model_speaks_the_language_of_the_table(self, run, table, tmp_path):
        run("fit", table, "-t", "sick", *QUICK, "-o", "model.json", "--quiet")
        model = newron.load(tmp_path / "model.json")
        assert model.schema.names == ("age", "colour")
        assert model.schema.columns[1].categories == ("blue", "green", "red")
        assert model.predict([[75.0, "blue"], [25.0, "red"], [25.0, "blue"]]).tolist() == [
            "yes", "yes", "no",
        ]  # fmt: skip

    def test_a_score_card_has_whole_points(self, run, tmp_path):
        rng = np.random.default_rng(1)
        names = [f"x{i}" for i in range(6)]
        X = rng.integers(0, 4, size=(300, 6))
        y = (X @ [3, 2, 2, 1, 1, 1] + rng.normal(size=300)) >= 15
        rows = [[*map(str, x), "ny"[int(c)]] for x, c in zip(X, y, strict=True)]
        write_csv(tmp_path / "t.csv", [[*names, "c"], *rows])
        words = ("fit", "t.csv", "-t", "c", "--recipe", "gradient", "--hidden", "0", "--test", "0")
        out = run(*words, "--points", "3").stdout
        assert "No hidden layer: a score card." in out
        assert "Not measured" in out
        points = re.findall(r"^    x\d .*([+−]\d+)$", out, re.MULTILINE)
        assert len(points) >= 5
        assert {abs(int(p.replace("−", "-"))) for p in points} <= {1, 2, 3}
        assert re.search(r"sum ≥ −?\d+: y, otherwise n", out)
        assert re.search(r"points +(−?\d+ +)+│", out)
        proof = run("prove", "t-newron/model.json", "t-newron/card.txt")
        assert proof.exit_code == 0
        assert "✓ proved" in proof.stdout

    def test_test_rows_are_not_trained_on(self, run, table, tmp_path):
        words = ("-t", "sick", *QUICK[:4], "-q", "--seed", "1")
        run("fit", table, *words, "--test", "0.25", "-o", "part.json")
        loaded = read_labelled(tmp_path / table, "sick")
        (split,) = make_splits(loaded.y.values, SplitPlan(test_size=0.25), 1)
        assert list(map(len, split)) == [90, 30]
        rows = make_table(120)
        write_csv(tmp_path / "rest.csv", [rows[0], *(rows[1:][i] for i in split[0])])
        run("fit", "rest.csv", *words, "--test", "0", "-o", "rest.json")
        assert newron.load(tmp_path / "part.json") == newron.load(tmp_path / "rest.json")

    def test_the_size_of_the_test_part_is_printed(self, run, table):
        words = ("fit", table, "-t", "sick", *QUICK[:4], "--test", "0.25")
        out = run(*words).stdout
        assert "Measured on 30 rows apart; the network below is trained on 90 rows." in out

    def test_regression(self, run, tmp_path):
        write_csv(tmp_path / "t.csv", make_regression_table())
        done = run("fit", "t.csv", "-t", "price", *QUICK)
        assert done.exit_code == 0, done.output
        assert "target price (numbers, 0.5 to 5.5)" in done.stdout
        assert re.search(r"Mean absolute error on new rows [\d.]+, 95 % interval", done.stdout)
        assert "R² " in done.stdout
        assert "ridge regression" in done.stdout
        assert newron.load(tmp_path / "t-newron/model.json").output.names == ("price",)

    @pytest.mark.parametrize("name", ["sigmoid", "smooth"])
    def test_smooth_networks_print_their_shapes(self, name, run, table, tmp_path):
        done = run("fit", table, "-t", "sick", *QUICK, "--recipe", "default", "--processing", name)
        assert done.exit_code == 0, done.output
        assert "What each function does" in done.stdout
        assert "proved" not in done.stdout
        assert (tmp_path / "table-newron/shapes.txt").is_file()

    def test_several_classes(self, run, tmp_path):
        rows = [["x", "y"], *([str(i), "abc"[i // 20]] for i in range(60))]
        write_csv(tmp_path / "t.csv", rows)
        done = run("fit", "t.csv", "-t", "y", *QUICK)
        assert done.exit_code == 0, done.output
        assert "always “a”" in done.stdout

    def test_the_same_seed_gives_the_same_model(self, run, table, tmp_path):
        for name in ("a.json", "b.json"):
            run("fit", table, "-t", "sick", *QUICK, "-o", name, "-q", "--seed", "3")
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()

    def test_categories_that_a_fold_lacks_are_missing_to_its_network(self, tmp_path):
        rows = [
            ["c", "y"],
            *(["ab"[i % 2], "ny"[i % 2]] for i in range(40)),
            ["z", "y"],
            ["z", "n"],
        ]
        loaded = read_labelled(write_csv(tmp_path / "t.csv", rows), "y")
        estimator = make_quick_estimator(loaded.y).fit(loaded.X[:40], loaded.y[:40])
        assert estimator.model_.schema.columns[0].categories == ("a", "b")
        predicted = estimator.predict(loaded.X[38:])
        expected = estimator.model_.predict([["a"], ["b"], [None], [None]])
        assert predicted.tolist() == expected.tolist()

    def test_a_column_of_categories_that_is_all_missing_in_some_rows_stays_one(self, tmp_path):
        rows = [["x", "c", "y"], *([str(i), "", "ny"[i % 2]] for i in range(40)), ["1", "z", "y"]]
        loaded = read_labelled(write_csv(tmp_path / "t.csv", rows), "y")
        estimator = make_quick_estimator(loaded.y).fit(loaded.X[:40], loaded.y[:40])
        assert estimator.model_.schema.columns[1].categories == ()
        assert len(estimator.predict(loaded.X)) == 41

    def test_the_positive_class_is_the_second_of_the_model(self, run, table, tmp_path):
        words = ("fit", table, "-t", "sick", *QUICK, "-q", "-o")
        run(*words, "yes.json", "--positive", "yes")
        run(*words, "no.json", "--positive", "no")
        assert newron.load(tmp_path / "yes.json").output.labels == ("no", "yes")
        assert newron.load(tmp_path / "no.json").output.labels == ("yes", "no")


class TestWhatIsWritten:
    def test_a_model_alone_and_a_report_elsewhere(self, run, table, tmp_path):
        words = ("fit", table, "-t", "sick", *QUICK, "-o", "m.json", "--report", "r.html")
        assert "m.json   the model" in run(*words).stdout
        assert {file.name for file in tmp_path.iterdir()} == {"table.csv", "m.json", "r.html"}
        assert "newron fit table.csv -t sick" in (tmp_path / "r.html").read_text("utf-8")

    def test_nothing_is_overwritten_and_no_time_is_spent_to_find_out(
        self, run, fails, table, tmp_path
    ):
        folder = tmp_path / "table-newron"
        folder.mkdir()
        (folder / "model.json").write_text("mine")
        printed = fails("fit", table, "-t", "sick", *QUICK)
        assert printed.startswith("table-newron/model.json exists")
        (folder / "other.txt").write_text("mine too")
        assert run("fit", table, "-t", "sick", *QUICK, "--force").exit_code == 0
        newron.load(folder / "model.json")
        assert (folder / "other.txt").read_text() == "mine too"

    def test_no_text_of_an_earlier_model_stays_beside_another(self, run, table, tmp_path):
        run("fit", table, "-t", "sick", *QUICK, "-q")
        run("fit", table, "-t", "sick", *QUICK, "-q", "--processing", "sigmoid", "--force")
        names = {file.name for file in (tmp_path / "table-newron").iterdir()}
        assert names == {"model.json", "network.svg", "report.html", "shapes.txt"}

    def test_nothing_is_half_written(self, fails, table, monkeypatch):
        def fail(*_, **__):
            raise OSError(28, "No space left on device", "network.svg")

        monkeypatch.setattr("newron.figures.figure.Figure.save", fail)
        printed = fails("fit", table, "-t", "sick", *QUICK, "-q")
        assert printed == "network.svg: No space left on device"


class TestErrors:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["-t", "sic"], "expected the target 'sic', got none; did you mean 'sick'?"),
            ([], "expected --target, the column to predict, or --labels, or --event and --time"),
            (["-t", "sick", "--folds", "2", "--test", "0.2"], "--folds or --test, got both"),
            (["-t", "sick", "--folds", "1"], "folds: expected 0, or 2 to 120"),
            (["-t", "sick", "--test", "1"], "test size: expected a fraction"),
            (["-t", "sick", "--test", "nonsense"], "--test"),
            (["-t", "sick", "--hidden", "4,x"], "--hidden: expected numbers such as 4,2"),
            (["-t", "sick", "--hidden", "0,4"], "--hidden: expected numbers such as 4,2"),
            (["-t", "sick", "--processing", "step"], "--processing: expected"),
            (["-t", "sick", "--processing", "smooth", "--hidden", "auto"], "--hidden auto"),
            (["-t", "sick", "--recipe", "soup"], "--recipe: expected default"),
            (["-t", "sick", "--class-weight", "x"], "--class-weight: expected balanced"),
            (["-t", "sick", "--drop", "colou"], "did you mean 'colour'?"),
            (["-t", "sick", "-o", "table.csv"], "expected another file than the input"),
            (["-t", "sick", "-o", "nowhere/m.json"], "got none; make it"),
            (["-t", "sick", "--report", "nowhere/r.html"], "got none; make it"),
        ],
    )
    def test_what_cannot_be_is_one_line(self, fails, table, words, message):
        assert message in fails("fit", table, "-q", *words)

    def test_a_file_that_is_no_model_is_not_overwritten(self, fails, table, tmp_path):
        (tmp_path / "notes.txt").write_text("mine")
        message = fails("fit", table, "-q", "-t", "sick", "-o", "notes.txt")
        assert "expected a folder or a name in .json" in message
        assert (tmp_path / "notes.txt").read_text() == "mine"

    @pytest.mark.parametrize("rows", [2, 8])
    def test_few_rows_are_trained_on_and_not_measured(self, run, tmp_path, rows):
        body = [[str(i), "ny"[i % 2]] for i in range(rows)]
        write_csv(tmp_path / "t.csv", [["x", "y"], *body])
        done = run("fit", "t.csv", "-t", "y", "--recipe", "gradient", "--hidden", "0")
        assert done.exit_code == 0, done.output
        assert "Not measured" in done.stdout

    def test_a_class_of_one_row_can_be_a_test_row(self, run, tmp_path):
        rows = [["x", "y"], *([str(i), "ab"[i % 2]] for i in range(40)), ["7", "c"]]
        write_csv(tmp_path / "t.csv", rows)
        words = ("fit", "t.csv", "-t", "y", "--recipe", "gradient", "--hidden", "0")
        assert run(*words, "--test", "0.5").exit_code == 0
        assert run(*words, "--folds", "3", "--force").exit_code == 0


def test_hostile_names_neither_steer_the_terminal_nor_break_what_is_written(run, tmp_path):
    name, kind = 'a"; DROP TABLE t; --\n\x1b[2J', "'); --\x1b]0;x\x07"
    rows = [[str(i), kind if i % 3 else "o", "then" if i % 3 else "if"] for i in range(60)]
    with (tmp_path / "t;x.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[name, "or", "of"], *rows])
    done = run("fit", "t;x.csv", "-t", "of", *QUICK)
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    assert "newron explain 't;x-newron/model.json' 't;x.csv' --row 1" in done.stdout
    model = newron.load(tmp_path / "t;x-newron" / "model.json")
    assert model.schema.names == (name, "or")
    assert model.predict([[1.0, kind], [1.0, "o"]]).tolist() == ["then", "if"]
    again = run("prove", "t;x-newron/model.json", "t;x-newron/rules.txt")
    assert again.exit_code == 0, again.output


class TestWhatIsMeasured:
    def test_it_is_in_the_file_and_heads_report_and_inspect(self, run, table, tmp_path):
        out = run("fit", table, "-t", "sick", *QUICK).stdout
        headline = re.search(r"Accuracy on new rows [^\n]*(?=\.\n)", out)[0]
        (found,) = newron.load("table-newron/model.json").measured
        assert found.describe() == headline
        assert (found.protocol, found.n_folds, found.n_rows) == ("cross-validation", 2, 120)
        assert list(found.scores) == ["model", "logistic regression", "constant"]
        assert run("inspect", "table-newron/model.json").stdout.splitlines()[2].strip() == (
            f"{headline}."
        )
        page = (tmp_path / "table-newron" / "report.html").read_text("utf-8")
        title = re.search("<title>(.*?)</title>", page)[1]
        assert f"right for {min(round(100 * found.value.value), 99)} of 100 new rows" in title
        assert f"{headline}, measured by 2-fold cross-validation of 120 rows" in page

    def test_a_table_of_ones_own_is_measured_and_attached(self, run, fails, table, tmp_path):
        run("fit", table, "-t", "sick", *QUICK, "-o", "m.json")
        assert "got the table of its training" in fails("evaluate", "m.json", table, "-t", "sick")
        write_csv(tmp_path / "new.csv", make_table(40, seed=9))
        done = run("evaluate", "m.json", "new.csv", "-t", "sick", "--attach")
        assert done.exit_code == 0, done.output
        first, second = newron.load("m.json").measured
        assert f"{second.describe()}." in done.stdout
        assert (second.protocol, second.source) == ("new rows", "new.csv")
        lines = run("inspect", "m.json").stdout
        assert lines.index(second.describe_protocol()[:20]) < lines.index("2-fold")
        assert first.protocol == "cross-validation"

    def test_where_a_regression_is_better_it_says_so_and_what_to_try(self, run, tmp_path):
        rng = np.random.default_rng(0)
        x = rng.uniform(0.0, 10.0, 60)
        rows = [["x", "y"], *([f"{a:.3f}", f"{3.0 * a:.3f}"] for a in x)]
        write_csv(tmp_path / "line.csv", rows)
        out = " ".join(run("fit", "line.csv", "-t", "y", *QUICK, "--terms", "2").stdout.split())
        assert "ridge regression is better by" in out
        assert "--processing smooth" in out

    def test_where_chance_may_explain_it_says_that_too(self, run, tmp_path):
        noise = np.random.default_rng(4).random((90, 2)).round(2).tolist()
        rows = [["a", "b", "c"], *([str(a), str(b), "yn"[i % 2]] for i, (a, b) in enumerate(noise))]
        write_csv(tmp_path / "noise.csv", rows)
        out = " ".join(run("fit", "noise.csv", "-t", "c", *QUICK, "--terms", "2").stdout.split())
        assert "These inputs may not predict c" in out


class TestExposures:
    @pytest.fixture
    def claims(self, tmp_path):
        rng = np.random.default_rng(5)
        age, years = rng.integers(18, 80, 150), rng.uniform(0.2, 3.0, 150).round(2)
        counts = rng.poisson(years * np.exp(0.8 * (age < 30)))
        rows = [list(map(str, row)) for row in zip(age, years, counts, strict=True)]
        write_csv(tmp_path / "c.csv", [["age", "years", "claims"], *rows])
        words = ("fit", "c.csv", "-t", "claims", "--objective", "poisson", "-o", "m.json")
        return (*words, "--terms", "3", "--folds", "2", "--jobs", "1")

    def test_a_column_of_them_is_no_input_and_its_logarithm_is_added(self, run, claims):
        done = run(*claims, "--exposure", "years")
        assert done.exit_code == 0, done.output
        model = newron.load("m.json")
        assert model.schema.names == ("age",)
        got = run("predict", "m.json", "c.csv", "--exposure", "years").stdout.split()[1:]
        table = np.loadtxt("c.csv", delimiter=",", skiprows=1)
        want = model.predict(table[:, :1]) * table[:, 1]
        np.testing.assert_allclose(np.array(got, float), want)

    def test_offsets_are_added_as_they_are(self, run, claims):
        run(*claims, "--offset", "years")
        model = newron.load("m.json")
        got = run("predict", "m.json", "c.csv", "--offset", "years").stdout.split()[1:]
        table = np.loadtxt("c.csv", delimiter=",", skiprows=1)
        want = model.predict(table[:, :1], offset=table[:, 1])
        np.testing.assert_allclose(np.array(got, float), want)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--exposure", "years", "--offset", "years"), "got both"),
            (("--exposure", "when"), "expected a column of age, years, got 'when'"),
            (("--exposure", "years", "--objective", "ordinal"), "expected numbers to predict"),
        ],
    )
    def test_what_is_none_is_one_line(self, fails, claims, words, message):
        assert message in fails(*claims, *words)

    def test_an_exposure_of_0_is_named(self, run, fails, claims, tmp_path):
        table = (tmp_path / "c.csv").read_text(encoding="utf-8").splitlines()
        table[3] = "40,0,1"
        (tmp_path / "c.csv").write_text("\n".join(table), encoding="utf-8")
        message = fails(*claims, "--exposure", "years")
        assert "--exposure: expected numbers above 0 in 'years', got 0" in message
