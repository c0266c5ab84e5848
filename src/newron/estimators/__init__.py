"""The scikit-learn faces of newron."""

from newron.estimators.classifier import NewronClassifier
from newron.estimators.regressor import NewronRegressor

__all__ = ["NewronClassifier", "NewronRegressor"]
