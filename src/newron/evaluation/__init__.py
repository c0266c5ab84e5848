"""How good models are: splits, intervals, baselines, comparisons, calibration."""

from newron.evaluation.calibration import Calibration, measure_calibration
from newron.evaluation.comparison import (
    Comparison,
    Ranking,
    compare_classifiers,
    compare_errors,
    compare_folds,
    compare_tables,
    rank_models,
)
from newron.evaluation.drift import Drift, measure_drift, measure_stability
from newron.evaluation.groups import GroupComparison, GroupQuality, compare_groups
from newron.evaluation.label_quality import LabelQuality, measure_labels
from newron.evaluation.measurement import measure_model
from newron.evaluation.quality import (
    ClassificationQuality,
    RegressionQuality,
    measure_classification,
    measure_regression,
)
from newron.evaluation.survival import (
    SurvivalQuality,
    estimate_brier,
    estimate_concordance,
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
from newron.model.result import Estimate

__all__ = [
    "Calibration",
    "ClassificationQuality",
    "Comparison",
    "Drift",
    "Estimate",
    "Evaluation",
    "GroupComparison",
    "GroupQuality",
    "LabelQuality",
    "Predictions",
    "Ranking",
    "RegressionQuality",
    "SurvivalQuality",
    "ThresholdQuality",
    "choose_threshold",
    "compare_classifiers",
    "compare_errors",
    "compare_folds",
    "compare_groups",
    "compare_tables",
    "cross_predict",
    "cross_validate",
    "estimate_brier",
    "estimate_concordance",
    "evaluate",
    "measure_calibration",
    "measure_classification",
    "measure_drift",
    "measure_labels",
    "measure_model",
    "measure_regression",
    "measure_stability",
    "measure_survival",
    "measure_threshold",
    "rank_models",
]
