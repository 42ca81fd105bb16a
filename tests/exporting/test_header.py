"""The C header, compiled by the real compiler with every warning an error, against Python."""

import re

import numpy as np
import pytest
from exported import X, assert_close, case, compiled, every_case, run_c

from fourierwalk import AdaptiveFourierClassifier
from fourierwalk.exporting import header


@every_case
def test_the_program_gives_what_python_gives(name, tmp_path):
    each = case(name)
    text = each.model.to_c()
    y, best = run_c(compiled(text, tmp_path), each.codes, np.size(each.expected) // len(each.codes))
    assert_close(y, each.expected)
    if isinstance(each.model, AdaptiveFourierClassifier):
        assert np.array_equal(each.model.classes_[best], each.model.predict(each.rows))


@pytest.mark.parametrize("name", ["cos-sin", "table", "words as classes", "holes of fit"])
def test_readable_constants_give_the_same_bits(name, tmp_path):
    each = case(name)
    found = [
        run_c(
            compiled(each.model.to_c(readable=readable), tmp_path),
            each.codes,
            np.size(each.expected) // len(each.codes),
        )
        for readable in (False, True)
    ]
    assert np.array_equal(found[0][0], found[1][0])


def test_numbers_that_are_not_there_stay_so_in_a_bare_model(tmp_path):
    model = case("model").model
    rows = X.copy()
    rows[3, 1] = np.nan
    assert_close(run_c(compiled(model.to_c(), tmp_path), rows, 1)[0], model(rows))


def test_two_models_in_one_program(tmp_path):
    first, second = case("cos-sin").model, case("three classes").model
    text = first.to_c(name="DIGITS_SCALE") + second.to_c(name="NAME2")
    library = compiled(text, tmp_path, "DIGITS_SCALE")
    assert_close(run_c(library, X, 1)[0], case("cos-sin").expected)


@pytest.mark.parametrize("name", ["table", "words as classes"])
def test_the_header_is_cpp_too(name, tmp_path):
    each = case(name)
    flags = ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
    library = compiled(each.model.to_c(), tmp_path, compiler="c++", flags=flags)
    assert_close(run_c(library, each.codes, np.size(each.expected) // len(each.codes))[0], each.expected)


def test_a_reader_finds_columns_levels_and_labels():
    text = case("table").model.to_c(name="price")
    assert "void price_predict(const double *x, double *y) writes the prediction of a row x to y." in text
    assert ' * x[0] "area": a number\n' in text
    assert ' = "Graz"' in text
    assert "4 = missing, or another number if unknown\n" in text
    assert ' * x[2] "sold": a date, in microseconds since 1970\n' in text
    assert "static const int64_t model_labels[3] = {-1, 0, 5};" in case("three classes").model.to_c()
    assert "static const double model_labels[3] = {1.0, 2.0, 4.0};" in case("doubles as classes").model.to_c()
    assert 'model_labels[3] = {"may\\042be\\077\\077", "no", "\\303\\277es"};' in case("words as classes").model.to_c()


def test_the_program_needs_the_standard_library_alone():
    includes = re.findall(r"#include (.*)", case("table").model.to_c())
    assert set(includes) == {"<math.h>", "<stdint.h>", "<string.h>"}


@pytest.mark.parametrize("name", ["", "2x", "a-b", "a b", "ä", None, 3])
def test_a_name_that_c_does_not_have_is_a_sentence(name):
    with pytest.raises(ValueError, match=r"^name must be a name in C, .*, got .*\.$"):
        header.to_c(case("cos-sin").model.description(), name)
