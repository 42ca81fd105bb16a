"""The scikit-learn estimators. They check parameters and data; `Training` does the work."""

from fourierwalk.estimators.classifier import AdaptiveFourierClassifier
from fourierwalk.estimators.regressor import AdaptiveFourierRegressor
from fourierwalk.estimators.transformer import AdaptiveFourierFeatures

__all__ = ["AdaptiveFourierClassifier", "AdaptiveFourierFeatures", "AdaptiveFourierRegressor"]
