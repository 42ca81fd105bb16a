import numpy as np
import scipy.sparse

from fourierwalk.arrays import memory


def test_only_a_gpu_is_an_accelerator(anywhere):
    found = memory.accelerator_bytes(anywhere.asarray([1.0]))
    assert found > 1e9 if anywhere.on_gpu else found is None
    assert memory.accelerator_bytes(scipy.sparse.csr_array(np.eye(2))) is None


def test_free_memory_is_what_the_machine_says():
    assert 1e7 < memory.free_bytes() < 1e14
