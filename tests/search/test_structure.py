"""The tree as a value: steps, patience, limits."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newron.search.structure import Candidate, GrowthRule, Tree, list_children


def grow(rule, score, choices=((),)):
    """Judge whole levels by a function of the candidate until the tree ends."""
    tree = Tree.start(rule, choices)
    while tree.waiting:
        tree = tree.advance({candidate: score(candidate) for candidate in tree.candidates})
    return tree


def list_widths(tree):
    return [node.candidate.widths for node in tree.nodes]


class TestSteps:
    def test_a_step_doubles_every_hidden_layer_or_adds_one_of_one_neuron(self):
        assert list_children((4, 2)) == [(8, 4), (4, 2, 1)]

    def test_without_hidden_layer_there_is_nothing_to_double(self):
        assert list_children(()) == [(1,)]

    def test_one_layer_at_a_time_reaches_the_network_of_monks_2(self):
        rule = GrowthRule(widening="each", max_structures=20)
        assert (1, 2) in list_widths(grow(rule, lambda c: 0.5))
        assert (1, 2) not in list_widths(grow(GrowthRule(), lambda c: 0.5))


class TestPatience:
    def test_without_gain_every_path_ends_after_five_steps(self):
        tree = grow(GrowthRule(), lambda c: 0.5)
        assert len(tree.nodes) == 32
        assert [node.patience for node in tree.nodes] == [5, 4, 3, 3] + [2] * 4 + [1] * 8 + [0] * 16

    def test_a_gain_of_one_percent_costs_nothing(self):
        scores = {(): 0.5, (1,): 0.51, (2,): 0.5199, (1, 1): 0.6}
        tree = Tree.start(GrowthRule())
        for _ in range(3):
            tree = tree.advance({c: scores[c.widths] for c in tree.candidates})
        assert [node.patience for node in tree.nodes] == [5, 5, 4, 5]
        assert tree.nodes[2].gain == pytest.approx(0.0099)

    def test_each_child_has_its_own(self):
        tree = grow(GrowthRule(patience=1), lambda c: 0.9 if c.widths == (1,) else 0.5)
        assert list_widths(tree) == [(), (1,), (2,), (1, 1)]

    def test_errors_gain_by_their_share(self):
        rule = GrowthRule(relative=True)
        assert rule.measure_gain(-98.0, -100.0) == pytest.approx(0.02)
        assert rule.measure_gain(-1.0, 0.0) == -1.0

    def test_what_could_not_be_judged_has_no_children(self):
        tree = grow(GrowthRule(), lambda c: math.nan if c.widths == (1, 1) else 0.5)
        assert all(widths[:2] != (1, 1) for widths in list_widths(tree)[4:])
        assert len(grow(GrowthRule(), lambda c: math.nan).nodes) == 1


class TestLimits:
    def test_neurons_layers_and_structures_are_limited(self):
        always = {"patience": 99, "min_gain": 0.0}
        few = grow(GrowthRule(max_neurons=4, **always), lambda c: 0.5)
        assert list_widths(few) == [
            (), (1,), (2,), (1, 1), (4,), (2, 1), (2, 2), (1, 1, 1), (2, 1, 1), (1, 1, 1, 1),
        ]  # fmt: skip
        flat = grow(GrowthRule(max_layers=1, max_neurons=8, **always), lambda c: 0.5)
        assert list_widths(flat) == [(), (1,), (2,), (4,), (8,)]
        short = grow(GrowthRule(max_structures=7, max_neurons=None, **always), lambda c: 0.5)
        assert len(short.nodes) == 7

    def test_structures_are_counted_for_each_choice(self):
        choices = [(("n_factors", 1),), (("n_factors", 2),)]
        tree = grow(GrowthRule(max_structures=3), lambda c: 0.5, choices)
        assert [node.candidate.choice for node in tree.nodes].count(choices[0]) == 3
        assert len(tree.nodes) == 6

    def test_what_is_to_come_is_counted(self):
        tree = Tree.start(GrowthRule())
        assert tree.count_to_come() == 32
        assert tree.advance({Candidate(()): 0.5}).count_to_come() == 31
        assert grow(GrowthRule(), lambda c: 0.5).count_to_come() == 0


def test_the_drawing_shows_every_structure_under_its_parent():
    tree = grow(GrowthRule(patience=2), lambda c: 0.5, [(("processing", "sigmoid"),)])
    assert str(tree) == (
        "() processing=sigmoid            0.5000  patience 2\n"
        "└─ (1,) processing=sigmoid       0.5000  patience 1\n"
        "   ├─ (2,) processing=sigmoid    0.5000  patience 0\n"
        "   └─ (1, 1) processing=sigmoid  0.5000  patience 0"
    )


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["all", "each"]), st.integers(1, 6))
def test_whatever_the_scores_it_is_a_finite_tree_in_breadth_first_order(random, widening, patience):
    rule = GrowthRule(patience=patience, widening=widening, max_neurons=6)
    tree = grow(rule, lambda c: random.random())
    assert len(set(list_widths(tree))) == len(tree.nodes)
    parents = [node.parent for node in tree.nodes[1:]]
    assert parents == sorted(parents)
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent]
        assert node.candidate.widths in list_children(parent.candidate.widths, widening)
        assert parent.patience > 0
        assert node.patience == parent.patience - (node.score - parent.score < 0.01)
