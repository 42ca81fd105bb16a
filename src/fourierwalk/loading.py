"""Models from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.files import container
from fourierwalk.files.fields import Fields
from fourierwalk.model import FourierModel

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures, FourierModel)
}


class Loaded(NamedTuple):
    """A model, what else stands in its file, the version that wrote it, and its checksum."""

    model: Any
    about: dict[str, Any]
    library: str
    sha256: str


def load(path: Path | str) -> Any:
    """The estimator, or the `FourierModel`, that `save` wrote.

    Reading runs no code, whatever the file holds: it is JSON and arrays, and every size is checked before memory is
    taken. Arrays are NumPy's, also where the model was fitted on others.

    Parameters
    ----------
    path : path or str
        The file.

    Returns
    -------
    estimator or FourierModel

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        Where the file is cut short, altered, of a newer version, or not ours.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import fourierwalk
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> model = fourierwalk.AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = fourierwalk.load(model.save(Path(folder) / "sine.fw"))
    >>> bool(np.all(loaded.predict(x) == model.predict(x)))
    True
    """
    return read(path).model


def read(path: Path | str) -> Loaded:
    """The model and all else that its file tells."""
    content = container.read(path)
    if content.kind not in KINDS:
        raise ValueError(f"{path} must hold one of {sorted(KINDS)}, got {content.kind[:80]!r}.")
    try:
        fields = Fields(content.tree, content.kind)
        model = KINDS[content.kind].from_tables(fields)
        about = dict(fields.fields("about").values) if fields.has("about") else {}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        said = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
        raise ValueError(f"{path} holds no model that can be used: {said}.") from error
    return Loaded(model, about, content.library, content.sha256)
