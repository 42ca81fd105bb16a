"""The torch module against Python."""

import io
import pickle

import numpy as np
import pytest
from exported import X, Y, assert_close, case, every_case

torch = pytest.importorskip("torch")


@every_case
def test_the_module_gives_what_python_gives(name):
    each = case(name)
    values = each.model.to_torch()(torch.tensor(each.codes)).numpy()
    assert values.shape == each.expected.shape
    assert_close(values, each.expected)


@pytest.mark.parametrize("name", ["cos-sin", "sigmoid", "robust", "clamped", "three classes", "transformer"])
def test_gradients_are_those_of_the_function(name):
    each = case(name)
    rows = torch.tensor(each.rows[:4], requires_grad=True)
    assert torch.autograd.gradcheck(each.model.to_torch(), (rows,), eps=1e-6, atol=1e-5, rtol=1e-4)


def test_missing_numbers_have_no_gradient():
    rows = torch.tensor(case("holes of fit").rows, requires_grad=True)
    case("holes of fit").model.to_torch()(rows).sum().backward()
    assert bool(torch.all(rows.grad[torch.isnan(rows)] == 0))
    assert bool(torch.all(torch.isfinite(rows.grad)))


def test_the_state_can_be_saved_and_loaded():
    module, other = case("robust").model.to_torch(), case("cos-sin").model.to_torch()
    assert {"frequencies", "coefficients", "offset", "center", "scale", "clipped"} <= module.state_dict().keys()
    file = io.BytesIO()
    torch.save(other.state_dict(), file)
    file.seek(0)
    changed = case("cos-sin").model.to_torch()
    changed.frequencies.zero_()
    changed.load_state_dict(torch.load(file))
    assert torch.equal(changed(torch.tensor(X)), other(torch.tensor(X)))
    assert torch.equal(pickle.loads(pickle.dumps(module))(torch.tensor(X)), module(torch.tensor(X)))


def test_buffers_by_default_and_parameters_on_demand():
    model = case("cos-sin").model
    assert list(model.to_torch().parameters()) == []
    module = model.to_torch(trainable=True)
    assert {name for name, _ in module.named_parameters()} == {"frequencies", "coefficients", "offset"}
    x, y = torch.tensor(X), torch.tensor(Y)
    before = torch.mean((module(x) - y) ** 2)
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=20)

    def closure():
        optimizer.zero_grad()
        loss = torch.mean((module(x) - y) ** 2)
        loss.backward()
        return loss

    optimizer.step(closure)
    assert torch.mean((module(x) - y) ** 2) < 0.9 * before


def test_a_layer_inside_a_network():
    layer = case("transformer").model.to_torch()
    network = torch.nn.Sequential(layer, torch.nn.Linear(16, 1, dtype=torch.float64))
    assert network(torch.tensor(X)).shape == (200, 1)
    assert "0.frequencies" in network.state_dict()


def test_single_precision_by_torchs_own_means():
    model = case("cos-sin").model
    values = model.to_torch().float()(torch.tensor(X))
    assert values.dtype == torch.float32
    assert np.max(np.abs(values.numpy() - model.predict(X))) < 1e-4


def test_levels_and_labels_are_told():
    module = case("table").model.to_torch()
    assert module.names[:2] == ("area", "town")
    assert module.levels["town"] == ['"??/*', "Graz", "Zürich", "Łódź", None]
    assert case("words as classes").model.to_torch().labels == ['may"be??', "no", "ÿes"]
    assert case("cos-sin").model.to_torch().labels is None


def test_a_missing_level_may_also_be_nan():
    each = case("table")
    place = list(each.rows.columns).index("town")
    codes = each.codes
    missing = codes[:, place] == 4
    assert missing.any()
    given = np.where(missing[:, None] & (np.arange(codes.shape[1]) == place), np.nan, codes)
    module = each.model.to_torch()
    assert torch.equal(module(torch.tensor(given)), module(torch.tensor(codes)))
