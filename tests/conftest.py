"""What all tests share: one BLAS thread, and the back ends."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: without it three of scikit-learn's checks are skipped

import importlib.util

import array_api_strict
import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("suite")

BACKENDS = ["numpy", "array-api-strict", "torch"]


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    with threadpool_limits(1):
        yield


class Backend:
    """Makes arrays of one library, and says whether an array is one of its own."""

    def __init__(self, name):
        self.name = name
        if name == "torch":
            import torch

            torch.set_num_threads(1)
            self.asarray, self.type = torch.asarray, torch.Tensor
        elif name == "array-api-strict":
            self.asarray, self.type = array_api_strict.asarray, type(array_api_strict.asarray([0.0]))
        else:
            self.asarray, self.type = np.asarray, np.ndarray

    def owns(self, values):
        return type(values) is self.type and str(getattr(values, "device", "cpu")).lower().startswith(("cpu", "array_api"))


def _backend(name):
    missing = name == "torch" and importlib.util.find_spec("torch") is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason="torch is not installed"))


@pytest.fixture(params=[_backend(name) for name in BACKENDS])
def xp(request):
    return Backend(request.param)
