"""The methods that make a fitted model into ONNX, torch or C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fourierwalk.exporting.description import Description
from fourierwalk.exporting.extra import needed
from fourierwalk.files.writing import replacing


class Exportable:
    """A model with a description, from which it is written for other programs."""

    def description(self) -> Description:
        """What the model computes, as plain arrays."""
        raise NotImplementedError

    def description_with_std(self) -> Description:
        """The same with standard deviations."""
        raise ValueError(f"std=True needs a regressor with error bars, got {type(self).__name__}.")

    def to_onnx(self, path: Path | str | None = None, *, dtype: Any = "float64", std: bool = False) -> Any:
        """The model as ONNX, with the encoder of tables, the clamp and the probabilities (extra ``onnx``).

        The input is a matrix ``X``. If the model was fitted to a table, there is one input for each column, of shape
        (n, 1): numbers, strings for categories, and whole microseconds since 1970 for dates. NaN, an empty string and
        the least integer (NumPy's NaT) are missing values.

        The output is ``variable``, of shape (n, q). A classifier has ``output_label``, (n,), and
        ``output_probability``, (n, n_classes).

        Parameters
        ----------
        path : path or str, optional
            A file to write as well.
        dtype : {"float64", "float32"}, default="float64"
            The precision. In float64 the results equal `predict` to rounding. A file in float32 is half as large.
        std : bool, default=False
            Whether a regressor also has the output ``std``, (n, q): what ``predict(X, return_std=True)`` gives. The
            file is then much larger, because it holds the covariance of the amplitudes.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> import numpy as np
        >>> import pytest
        >>> runtime = pytest.importorskip("onnxruntime")
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
        >>> session = runtime.InferenceSession(model.to_onnx().SerializeToString())
        >>> bool(np.allclose(session.run(None, {"X": x})[0][:, 0], model.predict(x), rtol=0, atol=1e-12))
        True
        """
        from fourierwalk.exporting import network

        proto = network.to_onnx(self.description_with_std() if std else self.description(), dtype)
        if path is not None:
            with replacing(path) as file:
                file.write(proto.SerializeToString())
        return proto

    def to_torch(self, *, trainable: bool = False) -> Any:
        """The model as a torch module in double precision, which can be differentiated (extra ``torch``).

        A regressor gives what `predict` gives, a classifier what `predict_proba` gives, and `AdaptiveFourierFeatures`
        what `transform` gives. Rows of a table are given as numbers: ``encoder_.codes(X)`` makes them.

        Parameters
        ----------
        trainable : bool, default=False
            Whether frequencies, coefficients and offset are parameters, which an optimiser can change. Else they are
            buffers.

        Returns
        -------
        torch.nn.Module

        Examples
        --------
        >>> import numpy as np
        >>> import pytest
        >>> torch = pytest.importorskip("torch")
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
        >>> points = torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)
        >>> model.to_torch()(points).sum().backward()
        >>> bool(abs(points.grad.item() - 2 * np.cos(1.0)) < 0.2)
        True
        """
        description = self.description()
        needed("torch", "to_torch", "torch")
        from fourierwalk.exporting.module import FourierModule

        return FourierModule(description, trainable)

    def to_c(self, path: Path | str | None = None, *, name: str = "model", readable: bool = False) -> str:
        """The model as a C99 header that needs nothing but ``math.h``.

        ``void NAME_predict(const double *x, double *y)`` writes the prediction of one row; of a classifier the
        probabilities, and ``int NAME_class(const double *x)`` gives the index of the class. In rows of a table a
        category is the index of its level, a date is microseconds since 1970, and NaN is a missing value:
        ``encoder_.codes(X)`` makes such rows.

        Parameters
        ----------
        path : path or str, optional
            A file to write as well.
        name : str, default="model"
            How all names in the header start.
        readable : bool, default=False
            Whether constants are written as numbers. Else they are packed into strings, with all their bits: the header
            is about half as long, and a prediction takes longer, because it unpacks them.

        Returns
        -------
        str

        Examples
        --------
        >>> import numpy as np
        >>> from fourierwalk import AdaptiveFourierRegressor
        >>> x = np.linspace(-3, 3, 300)[:, None]
        >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
        >>> "void sine_predict(const double *x, double *y)" in model.to_c(name="sine")
        True
        """
        from fourierwalk.exporting import header

        text = header.to_c(self.description(), name, readable)
        if path is not None:
            with replacing(path) as file:
                file.write(text.encode("utf-8"))
        return text
