"""What all tests share: one BLAS thread, and the back ends."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: without it three of scikit-learn's checks are skipped

import importlib
import importlib.util
import sys

import array_api_strict
import numpy as np
import pytest
from browser import CHROMIUM, Browser
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("suite")

BACKENDS = ["numpy", "array-api-strict", "torch"]
ON_GPU = {"torch on a GPU": "torch", "CuPy": "cupy"}  # added, with the marker `cuda`, where there is one
ELSEWHERE = "array-api-strict on another device"  # a stand-in for a GPU: its arrays refuse to be read as NumPy's


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    with threadpool_limits(1):
        yield


class Backend:
    """Makes arrays of one library on one device, and says whether an array is one of its own."""

    def __init__(self, name):
        self.name = name
        if name == "torch":
            import torch

            torch.set_num_threads(1)
            self._library, self._device = torch, "cpu"
        elif name in ON_GPU:
            self._library, self._device = importlib.import_module(ON_GPU[name]), "cuda"
        elif name == "numpy":
            self._library, self._device = np, "cpu"
        else:
            self._library = array_api_strict
            self._device = array_api_strict.Device("device1" if name == ELSEWHERE else "CPU_DEVICE")

    @property
    def on_gpu(self):
        """Whether its arrays are on a GPU."""
        return self.name in ON_GPU

    def asarray(self, values, **options):
        if self._library is np or self.name == "CuPy":
            return self._library.asarray(values, **options)
        return self._library.asarray(values, device=self._device, **options)

    def owns(self, values):
        """Of this library's own type, and on this device."""
        mine = self.asarray(np.zeros(1))
        return type(values) is type(mine) and getattr(values, "device", None) == getattr(mine, "device", None)

    def host(self, values):
        """One of its own arrays, read back as NumPy's for a comparison."""
        assert self.owns(values), f"expected an array of {self.name}, got {type(values)}"
        if self.name == ELSEWHERE:
            values = values.to_device(array_api_strict.Device("CPU_DEVICE"))
        if self.on_gpu:
            return values.get() if self.name == "CuPy" else values.cpu().numpy()
        return np.asarray(values)

    def dtype(self, values):
        """The name of an array's type of numbers, the same in all libraries."""
        return str(values.dtype).rpartition(".")[2]


def has_gpu():
    """Whether torch can use one."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


@pytest.fixture
def remote(monkeypatch):
    """Torch's CPU tensors taken for tensors on a GPU: only the waiting is missing. Recordings need the real thing."""
    torch = pytest.importorskip("torch")
    for name, module in list(sys.modules.items()):
        is_ours = name.startswith("fourierwalk.") and name != "fourierwalk.solving.recording"
        if is_ours and "is_remote" in vars(module):
            monkeypatch.setattr(module, "is_remote", torch.is_tensor)
    return torch


GPUS = [name for name, library in ON_GPU.items() if has_gpu() and importlib.util.find_spec(library) is not None]


def _backend(name):
    if name in GPUS:
        return pytest.param(name, marks=pytest.mark.cuda)
    missing = name == "torch" and importlib.util.find_spec("torch") is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason="torch is not installed"))


@pytest.fixture(params=[_backend(name) for name in [*BACKENDS, *GPUS]])
def xp(request):
    """A library of arrays."""
    return Backend(request.param)


@pytest.fixture(params=[_backend(name) for name in [*BACKENDS[1:], *GPUS]])
def foreign(request):
    """A library of arrays that is not NumPy."""
    return Backend(request.param)


@pytest.fixture(params=[_backend(name) for name in [*BACKENDS, ELSEWHERE, *GPUS]])
def anywhere(request):
    """A library of arrays, or one of them on a device whose arrays NumPy cannot read."""
    return Backend(request.param)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A headless Chromium, where there is one."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
