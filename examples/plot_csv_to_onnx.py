"""
A CSV file with categories: from file to ONNX
=============================================

406 cars of the years 1970 to 1982 with words, dates and missing values. We fit a model on the command line, open it
in Python, and run it in another program, without fourierwalk.
"""

import tempfile
from contextlib import chdir
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from vega_datasets import data

import fourierwalk
from fourierwalk.cli import main

folder = Path(tempfile.mkdtemp())
cars = data.cars()
cars.insert(0, "Make", cars.pop("Name").str.split().str[0])
cars.to_csv(folder / "cars.csv", index=False)
print((folder / "cars.csv").read_text()[:300])

# %%
# **Fit.** This is ``fourierwalk fit cars.csv --target Miles_per_Gallon``, called from Python here. It says what it
# infers, holds out a fifth of the rows, and compares its error there with simple models and with gradient boosting.

with chdir(folder):
    main(["fit", "cars.csv", "--target", "Miles_per_Gallon", "--error-bars", "--seed", "0", "--out", "cars.fw"])

# %%
# **Look.** The model file opens in Python, with its error bars. An importance is an input's share of the squared slope.

model = fourierwalk.load(folder / "cars.fw")
table = cars.dropna(subset="Miles_per_Gallon").drop(columns="Miles_per_Gallon")
miles = cars["Miles_per_Gallon"].dropna().to_numpy()
mean, std = model.predict(table, return_std=True)
for name, importance in zip(model.feature_names_in_, model.feature_importances_, strict=True):
    print(f"{name:18} {importance:.2f}")

# %%
# **Export.** One call writes an ONNX file that does all that ``predict`` does: words become numbers, gaps are
# filled, waves are summed. Each column is an input of its own. A date is a number of microseconds.

model.to_onnx(folder / "cars.onnx", std=True)
session = onnxruntime.InferenceSession(folder / "cars.onnx")
feed = {}
for wanted in session.get_inputs():
    column = table[[wanted.name]]
    if wanted.type == "tensor(string)":
        feed[wanted.name] = column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
    elif wanted.type == "tensor(int64)":
        feed[wanted.name] = column.to_numpy(dtype="datetime64[us]").astype("int64")
    else:
        feed[wanted.name] = column.to_numpy(dtype="float64")
values, deviations = session.run(["variable", "std"], feed)
print(f"largest difference from Python: {np.abs(values[:, 0] - mean).max():.0e}")

# %%
# **The picture.** What the ONNX file says about every car, with its standard deviation, over what was measured.
# Four cars of five were in the training rows.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=[1.25, 1])
colours = {"USA": "#2a6f97", "Europe": "#edae49", "Japan": "#d1495b"}
for origin, colour in colours.items():
    of = (table["Origin"] == origin).to_numpy()
    axes[0].errorbar(
        miles[of],
        values[of, 0],
        deviations.ravel()[of],
        fmt="o",
        color=colour,
        markersize=4,
        elinewidth=0.6,
        alpha=0.75,
        label=origin,
    )
axes[0].axline((10, 10), slope=1, color="#5b6470", linewidth=0.8)
axes[0].set(
    title="What the ONNX file says",
    xlabel="measured, miles per gallon",
    ylabel="predicted, miles per gallon",
    aspect="equal",
)
axes[0].legend()
order = np.argsort(model.feature_importances_)
names = [model.feature_names_in_[j].replace("_", " ").lower() for j in order]
axes[1].barh(names, model.feature_importances_[order], color="#4b8f6b")
axes[1].set(title="What matters", xlabel="share of the squared slope")
plt.show()
