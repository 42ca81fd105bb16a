"""
Grid search in a pipeline
=========================

The estimators are scikit-learn's in every respect: pipelines, grid search, ``clone``. Here adapted features stand in
the middle of a pipeline, and a logistic regression follows them. A grid search shows what moving the frequencies is
worth: without it, everything hangs on the right bandwidth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fourierwalk import AdaptiveFourierFeatures

# %%
# **The pipeline.** ``AdaptiveFourierFeatures`` has seen the targets when it makes its columns: its frequencies were
# moved by them. So the whole pipeline must be judged on other rows, which is what its cross-validation does.

X, y = load_breast_cancer(return_X_y=True)
features = AdaptiveFourierFeatures(n_steps=40, standardize=False, regularization=1e-3, random_state=0)
pipeline = make_pipeline(StandardScaler(), features, LogisticRegression(max_iter=1000))
spreads, widths = [0.03, 0.1, 0.3, 1.0], [8, 16, 32, 64]
grid = {
    "adaptivefourierfeatures__sampler": ["fixed", "resampling"],
    "adaptivefourierfeatures__n_frequencies": widths,
    "adaptivefourierfeatures__initial": spreads,
}
search = GridSearchCV(pipeline, grid, cv=5).fit(X, y)
for name, value in search.best_params_.items():
    print(f"{name.partition('__')[2]:14} {value}")
print(f"accuracy       {search.best_score_:.3f}")
probability = cross_val_predict(search.best_estimator_, X, y, cv=5, method="predict_proba")[:, 1]

# %%
results = search.cv_results_
scores = np.empty((2, 4, 4))
for score, settings in zip(results["mean_test_score"], results["params"], strict=True):
    sampler, width, spread = (settings[name] for name in grid)
    scores[["fixed", "resampling"].index(sampler), widths.index(width), spreads.index(spread)] = score

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.2), width_ratios=[1, 1, 1.3])
for panel, table, name in zip(axes, scores, ("drawn once", "that moved"), strict=False):
    panel.imshow(table, origin="lower", vmin=0.6, vmax=1.0, cmap="viridis")
    panel.set(title=f"Frequencies {name}", xlabel="first spread σ", xticks=range(4), yticks=range(4))
    panel.set_xticklabels(spreads)
    panel.set_yticklabels(widths)
    for (row, column), value in np.ndenumerate(table):
        colour = "white" if value < 0.85 else "black"
        panel.text(column, row, f"{100 * value:.1f}", ha="center", va="center", color=colour, fontsize=9)
axes[0].set_ylabel("number of frequencies")
plane = PCA(2).fit_transform(StandardScaler().fit_transform(X))
dots = axes[2].scatter(
    *plane.T,
    c=probability,
    cmap="coolwarm_r",
    s=18,
    edgecolors="#1d2530",
    linewidths=np.where((probability > 0.5) == y, 0, 1.4),
)
axes[2].set(title="Held-out probabilities (rings: wrong)", xlabel="first principal component", ylabel="second")
figure.colorbar(dots, label="probability of a benign tumour")
plt.show()

# %%
# Numbers in the tables are accuracies in per cent, means over five folds. Frequencies that move forgive a spread
# that is too small. A spread that is much too large for 30 inputs (σ = 1) is mended by neither: ``sampler="auto"``
# finds the spread first.
