"""The gallery's front: the order of the examples, and the part of each figure that stands there without its frame."""

import shutil
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.transforms import Bbox
from sphinx_gallery.scrapers import matplotlib_scraper

PANELS = {
    "plot_photograph": (1, 2),
    "plot_walk": (6,),
    "plot_soundings": (1,),
    "plot_wave_equation": (0,),
    "plot_co2": (1,),
    "plot_drift": (1,),
    "plot_surrogate": (0,),
    "plot_digits": (0, 6),
    "plot_csv_to_onnx": (0,),
    "plot_denoising": (1,),
    "plot_cramer_rao": (1,),
    "plot_outside": (0,),
    "plot_grid_search": (2,),
    "plot_out_of_core": (0,),
}
"""Examples in their order; the thumbnail of each spans these axes of its figure."""

FOLDER = Path(__file__).parent / "generated" / "thumbnails"
SHARPNESS = 130  # dots per inch


class Order:
    """Sorts the examples as `PANELS` does."""

    def __init__(self, folder: str) -> None:
        self._names = list(PANELS)

    def __call__(self, name: str) -> int:
        return self._names.index(Path(name).stem)

    def __repr__(self) -> str:
        return "Order"


def scrape(block, variables: dict, settings: dict) -> str:
    """Keep the thumbnail of a figure, then the figure itself."""
    for number in plt.get_fignums():
        _cut(plt.figure(number), Path(variables["src_file"]).stem)
    return matplotlib_scraper(block, variables, settings)


def _cut(figure: plt.Figure, name: str) -> None:
    figure.canvas.draw()
    axes = figure.axes
    box = Bbox.union([axes[number].get_window_extent() for number in PANELS[name]])
    FOLDER.mkdir(parents=True, exist_ok=True)
    inches = box.transformed(figure.dpi_scale_trans.inverted())
    figure.savefig(FOLDER / f"{name}.png", bbox_inches=inches, pad_inches=0, dpi=SHARPNESS)


def place(app) -> None:
    """Put thumbnails where the gallery expects its own."""
    folder = Path(app.srcdir) / "auto_examples" / "images" / "thumb"
    for path in sorted(FOLDER.glob("*.png")):
        shutil.copy(path, folder / f"sphx_glr_{path.stem}_thumb.png")
