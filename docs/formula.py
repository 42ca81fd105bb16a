"""Formulas as pictures: drawn by matplotlib, they look alike in every browser, with or without a mathematical font."""

from html import escape

from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath

LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
MARGIN = 2


def svg(tex: str, size: int = 20) -> str:
    """An SVG element in the colour of the text around it, at most as wide as the page."""
    path = TextPath((0, 0), f"${tex.strip()}$", size=size, prop=FontProperties(math_fontfamily="stix"))
    box = path.get_extents().padded(MARGIN)
    lines = "".join(_line(points, code) for points, code in path.iter_segments(curves=True, simplify=False))
    return (
        f'<svg role="img" aria-label="{escape(tex.strip())}" width="{box.width:.0f}" fill="currentColor" '
        f'viewBox="{box.x0:.2f} {-box.y1:.2f} {box.width:.2f} {box.height:.2f}"><path d="{lines}"/></svg>'
    )


def _line(points, code) -> str:
    """One piece of an outline; SVG counts downwards."""
    if code == Path.CLOSEPOLY:
        return "Z"
    return LETTERS[code] + " ".join(f"{x:.2f} {-y:.2f}" for x, y in points.reshape(-1, 2))
