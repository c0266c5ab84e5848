"""Networks on the terminal."""

import re

import pytest

from newron.command.printing import (
    draw_chart,
    find_card,
    print_model,
    print_proof,
    write_card,
)
from newron.command.terminal import Console
from newron.construct import from_rules
from newron.evaluation import Estimate
from newron.model import Classes, Column, Schema
from newron.rules import prove
from newron.rules.extraction import extract
from newron.rules.proof import Proof

SCHEMA = Schema(
    (
        Column("coloured vessels", 0.0, 3.0, (0.0, 1.0, 2.0, 3.0), gaps=True),
        Column("chest pain", 0.0, 3.0, categories=("typical", "atypical", "other", "nothing")),
        Column("cholesterol", 100.0, 600.0, unit="mg/dl"),
        Column("age", 20.0, 90.0, unit="y"),
        Column("sex", 0.0, 1.0, categories=("female", "male")),
    )
)
OUTPUT = Classes(("healthy", "sick"), unit=0.3)
CARD = """
Points for sick
    +3  coloured vessels ≥ 1 or missing
    −3  chest pain in {typical, atypical, other}
    −1  190 ≤ cholesterol < 236 mg/dl
    +2  age ≥ 55 y
    +1  sex = male
Sum ≥ 2: sick
Otherwise: healthy
"""


def make(text):
    return from_rules(text, SCHEMA, OUTPUT)


def show(capsys, model, width=None, monkeypatch=None):
    if width is not None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(width))
    print_model(Console(), model, extract(model), "rules.txt")
    return re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)


def test_a_card_is_printed_in_whole_points_with_what_totals_mean(capsys):
    expected = """\
  Score card                                      points
    coloured vessels  ≠ 0 or missing                  +3
    chest pain        = nothing                       +3
    age               ≥ 55 y                          +2
    cholesterol       < 190 mg/dl or ≥ 236 mg/dl      +1
    sex               = male                          +1
    ────────────────────────────────────────────────────
    sum ≥ 6: sick, otherwise healthy
    Missing values count as: chest pain = nothing, cholesterol = 100 mg/dl

    points             0    1    2    3    4    5 │  6    7    8    9   10
    probability %     14   18   23   29   35   43 │ 50   57   65   71   77
"""
    assert show(capsys, make(CARD)) == expected


def test_a_card_is_a_rule_text_that_can_be_proved():
    model = make(CARD)
    text = write_card(find_card(model))
    assert "    +3  coloured vessels ≠ 0 or missing\n" in text
    rules = "\n".join("" if line.startswith("#") else line for line in text.splitlines())
    assert prove(rules, model).equal is True
    assert "# points " in text
    assert "# Proved equal to the network in class" in text


def test_narrow_terminals_get_no_table_of_totals(capsys, monkeypatch):
    out = show(capsys, make(CARD), 60, monkeypatch)
    assert "Score card" in out
    assert "probability %" not in out
    assert max(map(len, out.splitlines())) <= 60


def test_a_long_condition_is_cut_where_there_is_no_room(capsys, monkeypatch):
    out = show(capsys, make(CARD), 40, monkeypatch)
    assert "…" in out
    assert max(map(len, out.splitlines())) <= 40


def test_rules_are_printed_from_the_top(capsys):
    members = "age ≥ 55 y; sex = male; chest pain = nothing"
    model = make(f"If exactly 2 of [{members}], then sick\nOtherwise healthy\n")
    first, second, third = show(capsys, model).splitlines()
    assert first == "    sick     if exactly 2 of"
    assert second.startswith(" " * 15)
    assert sorted(re.split(" {2,}", second.strip())) == sorted(members.split("; "))
    assert third == "    healthy  otherwise"


def test_a_rule_of_one_line(capsys):
    model = make("If age ≥ 55 y and sex = male, then sick\nOtherwise healthy\n")
    assert show(capsys, model) == (
        "    sick     if age ≥ 55 y and sex = male\n    healthy  otherwise\n"
    )


def test_a_network_that_always_predicts_the_same(capsys):
    assert show(capsys, make("Always sick\n")) == "    sick  always\n"


@pytest.mark.parametrize(
    ("proof", "text"),
    [
        (
            Proof(True, "columns", 1166400, 0.41, covers=("class", "score", "probability")),
            "  ✓ proved   the card equals the network for all 1 166 400 combinations of "
            "conditions,\n             in class, score and probability (0.4 s)\n",
        ),
        (
            Proof(None, "SAT", 9, 60.0, note="the check did not finish in 60 s"),
            "  ! not proved  the check did not finish in 60 s; agreement on 3 of 3 rows.\n",
        ),
        (
            Proof(False, "SAT", 9, 60.0, {"age": 3, "sex": None}, ("sick", "healthy")),
            "  ! refuted  for age = 3, sex missing the rules say sick, the network says healthy.\n",
        ),
    ],
)
def test_a_proof_or_its_lack(capsys, proof, text):
    print_proof(Console(), proof, "the card equals", "agreement on 3 of 3 rows")
    assert capsys.readouterr().out == text


def test_a_chart_has_a_line_for_each_estimate(capsys):
    rows = [
        ("this", Estimate(83.8, 79.3, 87.5)),
        ("a rather long name of a model", Estimate(54.1, 48.5, 59.6)),
    ]
    draw_chart(Console(), rows, unit="%", limit=100.0)
    axis, first, second = capsys.readouterr().out.splitlines()
    assert axis.split() == ["40", "50", "60", "70", "80", "90", "%"]
    assert re.fullmatch(r"    this +├─+●─+┤ +83\.8", first)
    assert re.fullmatch(r"    a rather long name of a mo… +├─+●─+┤ +54\.1", second)
    at = [line.index("●") for line in (first, second)]
    assert axis.index("80") < at[0] < axis.index("90")
    assert axis.index("50") < at[1] < axis.index("60")


def test_estimates_that_are_all_the_same_can_be_drawn(capsys):
    draw_chart(Console(), [("this", Estimate(0.0, 0.0, 0.0)), ("that", Estimate(0.0, 0.0, 0.0))])
    assert capsys.readouterr().out.count("●") == 2


def test_points_of_many_classes_stand_below_their_conditions(capsys):
    names = ["apple", "birch", "cedar", "date", "elm", "fir", "ginkgo", "hazel", "ivy"]
    weights = "  ".join(f"+{k}.12345" for k in range(1, 10))
    text = f"""
    Points for {", ".join(names)}
        {weights}  age ≥ 55 y
        {weights.replace(".12345", ".5")}  cholesterol ≥ 236 mg/dl
        0  0  0  0  0  0  0  0  1.25  to start with
    The highest sum wins, the first of equals
    """
    model = from_rules(text, SCHEMA, Classes(tuple(names)))
    print_model(Console(), model, model.rules(form="points"), "rules.txt")
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert "age ≥ 55 y" in printed
    for k in range(1, 10):
        assert f"+{k - 1}.12345" in printed or f"+{k}.12345" in printed or k == 1


def test_what_missing_values_count_as_is_wrapped_and_not_cut(capsys):
    schema = Schema(tuple(Column(f"quite a long name {k}", 0.0, 10.0) for k in range(6)))
    lines = "".join(f"    +2  quite a long name {k} ≤ 5 or missing\n" for k in range(6))
    text = f"Points for ill\n{lines}Sum ≥ 5: ill\nOtherwise: well\n"
    model = from_rules(text, schema, Classes(("well", "ill")))
    print_model(Console(), model, model.rules(form="points"), "rules.txt")
    printed = " ".join(capsys.readouterr().out.split())
    assert all(f"quite a long name {k} = " in printed for k in range(6))


def test_ticks_of_an_axis_do_not_touch(capsys):
    rows = [("this", Estimate(16700.0, 14900.0, 18500.0)), ("b", Estimate(23700, 21000, 26900))]
    draw_chart(Console(), rows, unit="error")
    ticks = capsys.readouterr().out.splitlines()[0].split()
    assert all(len(tick) == 5 for tick in ticks)


def test_lines_break_neither_before_percent_signs_nor_at_fixed_spaces():
    console = Console()
    lines = console.wrap("x" * 60 + " (95 % interval)" + " y" * 10 + " 121\u00a0high", 2)
    assert not any(line.startswith("%") for line in lines)
    assert all("\u00a0" not in line for line in lines)
    assert "(95 % interval)" in " ".join(lines)
