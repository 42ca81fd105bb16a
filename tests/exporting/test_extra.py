import pytest

from fourierwalk.exporting.extra import needed


def test_a_package_that_is_there_is_imported():
    assert needed("json", "to_json", "json").dumps([1]) == "[1]"


def test_one_that_is_not_is_named_with_its_extra():
    with pytest.raises(ImportError, match=r"^to_x needs no_such_package: pip install 'fourierwalk\[x\]'\.$"):
        needed("no_such_package", "to_x", "x")
