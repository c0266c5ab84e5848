"""The scikit-learn faces of newron."""

from newron.estimators.classifier import NewronClassifier
from newron.estimators.regressor import NewronRegressor
from newron.estimators.survival import NewronSurvival

__all__ = ["NewronClassifier", "NewronRegressor", "NewronSurvival"]
