import numpy as np
from exported import case

from fourierwalk.exporting import program


def test_the_store_keeps_arrays_one_after_the_other():
    store = program.Store()
    assert [store.put(np.ones((2, 3))), store.put([True, False]), store.put(2.0)] == [0, 6, 8]
    assert store.array.tolist() == [1] * 6 + [1, 0, 2]


def test_only_what_is_needed_is_written():
    plain = program.values(case("unscaled").model.description(), program.Store(), "predict")
    assert "NAME_level" not in plain
    assert "NAME_within" not in plain
    assert "isnan" not in plain
    full = program.values(case("robust table").model.description(), program.Store(), "values")
    assert "static inline void NAME_values(const double *x, double *y)" in full
    assert "NAME_within(z[j] / 3.0" in full
    assert full.count("NAME_level(x[") == 3


def test_no_word_of_a_template_is_left():
    for name in ("table", "sigmoid", "clamped", "transformer", "robust"):
        text = program.values(case(name).model.description(), program.Store(), "predict")
        for word in ("ENCOD", "SOURCE", "CENTER", "FIRST", "COUNT", "BIAS", "WAVES", "FREQ", "BOUND", "LIMIT", "CLIP"):
            assert word not in text
