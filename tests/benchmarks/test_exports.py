import pytest

from fourierwalk.benchmarks import exports

pytest.importorskip("onnx")


@pytest.mark.filterwarnings("ignore:Nothing was found")
def test_every_file_has_a_size():
    figures = list(exports.sizes(32))
    assert [figure.what for figure in figures[:5]] == [
        "kB, save",
        "kB, ONNX, float64",
        "kB, ONNX, float32",
        "kB, C",
        "kB, C, constants as numbers",
    ]
    assert len(figures) == 10
    assert all(figure.value > 0.5 for figure in figures)
    assert [figure.target for figure in figures[:5]] == [50.0, 50.0, 50.0, 50.0, None]
