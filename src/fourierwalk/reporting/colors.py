"""The colours of pages and figures, each with its value in light and in dark mode."""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "ink": "#000000",
    "quiet": "#57606a",
    "faint": "#c8ccd1",
    "grid": "#e6e9ec",
    "panel": "#f4f6f8",
    "series-0": "#1a5fd0",
    "series-1": "#c2334d",
    "series-2": "#1f7a33",
    "series-3": "#96590a",
    "series-4": "#7b4ea3",
    "series-5": "#2b6f80",
}
DARK = {
    "paper": "#12161b",
    "ink": "#e8ebee",
    "quiet": "#a3adb8",
    "faint": "#4a525b",
    "grid": "#2b3138",
    "panel": "#1b2027",
    "series-0": "#7db0ff",
    "series-1": "#ff8a9a",
    "series-2": "#68d07f",
    "series-3": "#f0b357",
    "series-4": "#c8a4f2",
    "series-5": "#6cc9db",
}
NAMES = {value: name for name, value in LIGHT.items()}
"""Names of the colours by their value in light mode, in which figures are drawn."""

COLORS = tuple(value for name, value in LIGHT.items() if name.startswith("series-"))


def variables() -> str:
    """CSS that sets every colour as a variable, for light and for dark mode.

    Examples
    --------
    >>> variables().splitlines()[0][:50]
    ':root { color-scheme: light dark; --paper: #ffffff'
    """
    return "\n".join(
        (
            f":root {{ color-scheme: light dark; {_set(LIGHT)} }}",
            f"@media (prefers-color-scheme: dark) {{ :root {{ {_set(DARK)} }} }}",
        )
    )


def _set(values: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in values.items())
