"""The development suite: its data sets, its cells, their order."""

import numpy as np
import pytest

from comparison.made_up import data_folder, mixed_folder
from fourierwalk.comparison import methods, suite
from fourierwalk.comparison.checkouts import Checkout
from fourierwalk.comparison.methods import SUITE_NAMES
from fourierwalk.comparison.tuning import CrossValidation


def test_all_data_sets_have_three_splits(tmp_path):
    found = {dataset.name: dataset for dataset in suite.datasets("tables", str(data_folder(tmp_path)))}
    assert set(found) == {"large", "small", *suite.UCI, *suite.BUNDLED, *suite.GENERATED}
    assert {len(dataset.numbers(None)) for dataset in found.values()} == {3}
    assert len(found["wine"].numbers(1)) == 1
    assert found["large"].task == "classification"
    assert [name for name, each in found.items() if each.settings["group"] == "tabular"] == ["large", "small"]
    assert found["small"].splits(1).x.shape == (40, 2)


def test_names_restrict_it(tmp_path):
    folder = str(data_folder(tmp_path))
    assert [dataset.name for dataset in suite.datasets("tables", folder, ["wine", "small"])] == ["small", "wine"]
    with pytest.raises(ValueError, match=r"DATASET must be one of the suite's large, small, concrete, .*, got 'iris'"):
        suite.datasets("tables", folder, ["iris"])


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="--suite tables needs --data-dir"):
        suite.datasets("tables", None)
    with pytest.raises(FileNotFoundError, match=r"--data-dir .* must hold the folder tabular, which is not there"):
        suite.datasets("tables", str(tmp_path))
    (tmp_path / "tabular").mkdir()
    with pytest.raises(FileNotFoundError, match="must hold the folder uci/concrete"):
        suite.datasets("tables", str(tmp_path))


def test_mixed_tables_have_twenty_splits(tmp_path):
    (dataset,) = suite.datasets("mixed", str(mixed_folder(tmp_path)))
    assert (dataset.name, dataset.task, len(dataset.numbers(None))) == ("cars", "regression", 20)
    rows = dataset.splits(0)
    assert (rows.x.shape, rows.x_test.shape) == ((480, 3), (120, 3))
    assert rows.x.kinds == ("words", "words", "numbers")
    (tmp_path / "mixed" / "cars.csv").unlink()
    with pytest.raises(ValueError, match=r"must hold .csv files in its folder mixed, got none"):
        suite.datasets("mixed", str(tmp_path))
    with pytest.raises(ValueError, match="--suite mixed needs --data-dir, a folder that holds mixed"):
        suite.datasets("mixed", None)


def test_few_rows_of_larger_sets_have_twenty_splits(tmp_path):
    (tmp_path / "tabular").mkdir()
    rng = np.random.default_rng(0)
    for name in suite.FEW_OF:
        x, test = rng.standard_normal((100, 2)), np.arange(100)[:, None] % 3 == np.arange(3)
        np.savez(tmp_path / "tabular" / f"{name}.npz", X=x, y=x[:, 0], task=np.array("regression"), test=test)
    found = {dataset.name: dataset for dataset in suite.datasets("few", str(tmp_path))}
    assert [name for name in found if name.startswith(("airfoil", "wine"))] == ["airfoil-60", "wine-60", "wine-120"]
    rows = found["wine-60"].splits(3)
    assert (len(rows.y), len(rows.y_test), len(found["wine-60"].numbers(None))) == (60, 118, 20)
    assert np.array_equal(np.bincount(rows.y), [20, 24, 16])  # the shares of the classes are kept
    assert not np.array_equal(rows.y, found["wine-60"].splits(4).y)
    chosen = [found["wine-60"]]
    (cell, *_) = suite.cells(chosen, [8], ["svm"], [], 1)
    assert isinstance(cell.method.search, CrossValidation)


def test_parts_are_left_out_at_every_commit(tmp_path):
    found = methods.suite("regression", [8], ["ablation"], [Checkout(tmp_path, "aaa")], 1, "cuda")
    assert [method.name for method in found] == [f"ablation-{kind}-8@aaa" for kind in methods.VARIANTS]
    (dense,) = methods.suite("regression", [8], ["ablation-dense"], [Checkout(tmp_path, "aaa")], 1)
    assert dense.name == "ablation-dense-8@aaa"
    single = next(method for method in found if "fixed-ridge" in method.name)
    assert single.parameters() == {"device": "cuda", "regularization": 1e-3}
    assert single.settings() == {"commit": "aaa", "device": "cuda", "parameters": "{'regularization': 0.001}"}
    assert single.label == "with λ = 0.001 instead of a chosen one, K = 8 @ aaa"


def test_every_peer_takes_tables(tmp_path):
    pytest.importorskip("lightgbm")
    (dataset,) = suite.datasets("mixed", str(mixed_folder(tmp_path)))
    rows = dataset.splits(0)
    for method in methods.suite("regression", [8], ["fixed", "kernel-ridge", "svm", "lightgbm"], [], 1):
        predicted = method.fit(rows.x, rows.y, 0).model.predict(rows.x_test)
        assert np.std(predicted - rows.y_test) < 0.6 * np.std(rows.y_test), method.name


def test_ours_of_every_commit_and_the_peers(tmp_path):
    sources = [Checkout(tmp_path, "aaa"), Checkout(tmp_path, "bbb")]
    for task in ("regression", "classification"):
        found = methods.suite(task, ["auto", 8], None, sources, 1)
        ours = ["ours-auto@aaa", "ours-auto@bbb", "ours-8@aaa", "ours-8@bbb"]
        assert [method.name for method in found] == [*ours, *SUITE_NAMES[2:]]
    some = methods.suite("regression", [8], ["ours", "svm"], sources, 1)
    assert [method.name for method in some] == ["ours-8@aaa", "ours-8@bbb", "svm"]
    with pytest.raises(ValueError, match=r"--methods must name some of ours, ablation, network, .*, got 'mlp'"):
        methods.suite("regression", [8], ["mlp"], sources, 1)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", ["network", "fixed", "kernel-ridge", "svm", "lightgbm"])
def test_every_peer_learns(task, name):
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 1]
    y = y if task == "regression" else (y > 0).astype(int)
    (method,) = methods.suite(task, [8], [name], [], 1)
    model = method.fit(x[:200], y[:200], 0).model
    predicted = model.predict(x[200:])
    wrong = np.std(predicted - y[200:]) / np.std(y) if task == "regression" else np.mean(predicted != y[200:])
    assert wrong < 0.45


def test_ridge_is_linear():
    x = np.random.default_rng(0).standard_normal((300, 2))
    for task, y in (("regression", 3 * x[:, 0] + x[:, 1]), ("classification", (x[:, 0] > 0).astype(int))):
        (method,) = methods.suite(task, [8], ["ridge"], [], 1)
        predicted = method.fit(x[:200], y[:200], 0).model.predict(x[200:])
        assert np.mean(np.abs(predicted - y[200:])) < 0.1


def test_long_cells_come_first(tmp_path):
    chosen = suite.datasets("tables", str(data_folder(tmp_path)), ["small", "large"])
    cells = suite.cells(chosen, [8], ["ours", "svm"], [Checkout(tmp_path, "aaa")], 1, n_splits=1)
    order = [(cell.dataset.name, cell.method.name) for cell in suite.longest_first(cells)]
    assert order == [("large", "svm"), ("small", "svm"), ("large", "ours-8@aaa"), ("small", "ours-8@aaa")]
