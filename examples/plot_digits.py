"""
Handwritten digits, and the ones it is unsure about
===================================================

1,797 digits of 8 × 8 pixels. The classifier needs no settings. Its probabilities are calibrated on held-out rows, so
we can ask which digits it finds hard, and look at them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fourierwalk import AdaptiveFourierClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = AdaptiveFourierClassifier(n_frequencies=256, random_state=0).fit(X_train, y_train)

probabilities = model.predict_proba(X_test)
guess, certainty = model.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1)
wrong = guess != y_test
print(f"{wrong.sum()} of {len(y_test)} test digits are wrong ({wrong.mean():.1%})")

# %%
# **Unsure first.** The sixteen test digits with the lowest certainty, with the two most likely classes. Most of
# them would make a human hesitate. If a person checks the hundred least certain digits, few errors are left:

order = np.argsort(certainty)
print(f"{wrong[order[:100]].sum()} of {wrong.sum()} errors are among the 100 least certain digits")

# %%
# **What the waves look at.** A frequency is a vector of 64 numbers, one for each pixel: it is an image itself. On
# the right are the sixteen whose amplitudes are largest. The model knows nothing about neighbouring pixels, and yet
# they form patches.

figure = plt.figure(figsize=(11, 5.6))
left, right = figure.subfigures(1, 2, wspace=0.04)
left.suptitle("The least certain digits", fontweight="bold")
for panel, row in zip(left.subplots(4, 4).flat, order, strict=False):
    panel.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    first, second = model.classes_[np.argsort(-probabilities[row])[:2]]
    panel.set_title(f"{first} or {second}?", fontsize=10, loc="center", color="#d1495b" if wrong[row] else "#4b8f6b")
    panel.axis("off")
right.suptitle("The strongest frequencies", fontweight="bold")
strength = np.linalg.norm(np.abs(model.amplitudes_), axis=1) * np.linalg.norm(model.frequencies_, axis=1)
for panel, k in zip(right.subplots(4, 4).flat, np.argsort(-strength), strict=False):
    wave = model.frequencies_[k].reshape(8, 8)
    panel.imshow(wave, cmap="RdBu_r", vmin=-np.abs(wave).max(), vmax=np.abs(wave).max(), interpolation="bicubic")
    panel.axis("off")
plt.show()

# %%
# Titles in green: the more likely class is right. Titles in red: it is wrong.
