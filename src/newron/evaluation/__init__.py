"""How good models are: splits, intervals, baselines, comparisons, calibration."""

from newron.evaluation.baselines import make_baselines
from newron.evaluation.calibration import Calibration, CalibrationBin, measure_calibration
from newron.evaluation.comparison import (
    Comparison,
    Ranking,
    compare_classifiers,
    compare_errors,
    compare_folds,
    compare_tables,
    rank_models,
)
from newron.evaluation.disagreement import Disagreement, find_disagreement
from newron.evaluation.drift import Drift, DriftBin, measure_drift, measure_stability
from newron.evaluation.groups import GroupComparison, GroupQuality, compare_groups
from newron.evaluation.intervals import (
    Estimate,
    estimate_auc,
    estimate_difference,
    estimate_mean,
    estimate_proportion,
)
from newron.evaluation.measurement import measure_model
from newron.evaluation.quality import (
    ClassificationQuality,
    RegressionQuality,
    measure_classification,
    measure_regression,
)
from newron.evaluation.splits import SplitPlan, choose_plan, make_folds, make_splits
from newron.evaluation.survival import (
    SurvivalQuality,
    estimate_brier,
    estimate_concordance,
    estimate_kaplan_meier,
    measure_survival,
)
from newron.evaluation.threshold import ThresholdQuality, choose_threshold, measure_threshold
from newron.evaluation.validation import (
    Evaluation,
    Predictions,
    cross_predict,
    cross_validate,
    evaluate,
)

__all__ = [
    "Calibration",
    "CalibrationBin",
    "ClassificationQuality",
    "Comparison",
    "Disagreement",
    "Drift",
    "DriftBin",
    "Estimate",
    "Evaluation",
    "GroupComparison",
    "GroupQuality",
    "Predictions",
    "Ranking",
    "RegressionQuality",
    "SplitPlan",
    "SurvivalQuality",
    "ThresholdQuality",
    "choose_plan",
    "choose_threshold",
    "compare_classifiers",
    "compare_errors",
    "compare_folds",
    "compare_groups",
    "compare_tables",
    "cross_predict",
    "cross_validate",
    "estimate_auc",
    "estimate_brier",
    "estimate_concordance",
    "estimate_difference",
    "estimate_kaplan_meier",
    "estimate_mean",
    "estimate_proportion",
    "evaluate",
    "find_disagreement",
    "make_baselines",
    "make_folds",
    "make_splits",
    "measure_calibration",
    "measure_classification",
    "measure_drift",
    "measure_model",
    "measure_regression",
    "measure_stability",
    "measure_survival",
    "measure_threshold",
    "rank_models",
]
