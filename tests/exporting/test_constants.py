import numpy as np
import pytest
from exported import compiled, run_c
from hypothesis import given, settings
from hypothesis import strategies as st

from fourierwalk.exporting import constants

ENDS = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 0.1, -1 / 3])


def unpacked(text):
    """The numbers in packed strings, read by another reader: Python's."""
    lines = text.partition("{\n")[2].partition("\n}")[0].splitlines()
    digits = (
        "".join(line.strip(",").strip()[1:-1] for line in lines)
        .replace("\\\\", "\0")
        .replace("\\", "")
        .replace("\0", "\\")
    )
    values = [ord(digit) - 35 for digit in digits]
    bits = [sum(digit << (6 * i) for i, digit in enumerate(values[j : j + 11])) for j in range(0, len(values), 11)]
    return np.array(bits, dtype=np.uint64).view(np.float64)


@given(st.lists(st.floats(), min_size=1, max_size=40))
def test_packed_numbers_keep_every_bit(values):
    array = np.array(values)
    text = constants.packed("model", array)
    assert np.array_equal(unpacked(text).view(np.uint64), array.view(np.uint64))
    assert "??" not in text
    assert text.isascii()


@settings(max_examples=4, deadline=None)
@given(st.lists(st.floats(), max_size=40))
@pytest.mark.parametrize("write", [constants.packed, constants.literal])
def test_the_compiler_reads_the_same_numbers(write, tmp_path_factory, values):
    array = np.concatenate((ENDS, values))
    code = "\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n" + write("model", array)
    code += f"enum {{ model_INPUTS = 1, model_OUTPUTS = {array.size} }};\n"
    code += "static inline void model_predict(const double *x, double *y)\n"
    code += "{\n    (void)x;\n    for (int i = 0; i < model_OUTPUTS; i++)\n        y[i] = model_at(i);\n}\n"
    library = compiled(code, tmp_path_factory.mktemp("c"))
    found = run_c(library, np.zeros((1, 1)), array.size)[0][0]
    assert np.array_equal(found, array, equal_nan=True)
    assert np.array_equal(np.signbit(found)[~np.isnan(array)], np.signbit(array)[~np.isnan(array)])


def test_a_packed_number_takes_eleven_characters():
    n = 4096
    assert len(constants.packed("model", np.random.default_rng(0).normal(size=n))) < 12 * n
