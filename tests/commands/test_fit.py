"""``fit`` through the real command line: what is read, said, measured, saved, and what happens when it is stopped."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest
from program import COMMAND, run, started
from spreadsheets import houses

import fourierwalk
from fourierwalk import cli
from fourierwalk.commands import fit
from fourierwalk.estimators import AdaptiveFourierRegressor

QUICK = ["--frequencies", "16"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of the houses with its page, and what the command said."""
    folder = tmp_path_factory.mktemp("fit")
    houses(folder / "houses.csv")
    done = run("fit", "houses.csv", "--target", "price", "--json", *QUICK, folder=folder)
    return folder, json.loads(done.stdout), done.stderr


def test_the_result_is_told_to_machines(fitted):
    folder, told, _ = fitted
    assert told["model"] == "houses.fw"
    assert told["task"] == "regression"
    assert (told["rows"], told["columns"]) == (300, 4)
    assert told["bytes"] == (folder / "houses.fw").stat().st_size
    errors = told["held_out_errors"]
    assert list(errors) == ["fourierwalk", "the mean", "a linear model", "boosting"]
    assert errors["fourierwalk"] < 0.3 * errors["the mean"]
    assert str(folder) not in json.dumps(told["provenance"])


def test_everything_that_was_inferred_is_said(fitted):
    _, told, log = fitted
    wanted = [
        "Regression of 'price': its values are 300 different numbers.",
        "'id' is left out: it identifies rows, 300 of 300 values are different.",
        "'country' is left out: it is constant.",
        "'price in cents' is left out: it is a copy of the target.",
    ]
    assert told["said"] == wanted
    assert all(sentence in log for sentence in wanted)
    assert "300 rows and 8 columns. This takes about" in log
    assert "240 rows to learn from, 60 held out." in log
    assert "1 model of 16 frequencies" in log or "models of 16 frequencies" in log
    assert "\x1b" not in log  # plain lines where there is no terminal


def test_the_model_is_in_the_file(fitted):
    folder, told, _ = fitted
    model = fourierwalk.load(folder / "houses.fw")
    assert model.n_frequencies_ == told["n_frequencies"]
    assert [column.name for column in model.encoder_.columns_] == ["area", "town", "sold", "garden"]
    assert model.verbose == 0


def test_a_table_is_shown_to_people(fitted):
    folder, _, _ = fitted
    done = run("fit", "houses.csv", "--out", "again.fw", *QUICK, folder=folder)
    assert "price, rows held out" in done.stdout
    assert "boosting" in done.stdout
    assert "The model: again.fw" in done.stdout
    one, other = (fourierwalk.load(folder / name).frequencies_ for name in ("again.fw", "houses.fw"))
    np.testing.assert_array_equal(one, other)  # the same seed


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.tsv", {"delimiter": "\t"}),
        ("b.csv", {"delimiter": ";", "decimal": ","}),
        ("c.csv", {"encoding": "utf-16"}),
        ("d.csv", {"encoding": "utf-8-sig"}),
    ],
)
def test_other_forms_of_the_same_table_make_the_same_model(fitted, tmp_path, name, form):
    folder, _, _ = fitted
    houses(tmp_path / name, **form)
    assert cli.main(["fit", str(tmp_path / name), "--out", str(tmp_path / "m.fw"), "--quiet", *QUICK]) == 0
    one, other = fourierwalk.load(folder / "houses.fw"), fourierwalk.load(tmp_path / "m.fw")
    np.testing.assert_array_equal(one.frequencies_, other.frequencies_)


def test_npz_and_parquet_too(tmp_path, capsys):
    x = np.random.default_rng(0).normal(size=(200, 2))
    np.savez(tmp_path / "a.npz", X=x, y=np.where(x[:, 0] > 0, "up", "down"))
    assert cli.main(["fit", str(tmp_path / "a.npz"), "--out", str(tmp_path / "a.fw"), "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "classification"
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"a": x[:, 0], "b": np.where(x[:, 1] > 0, "x", "y"), "c": np.sin(x[:, 0])})
    parquet.write_table(table, tmp_path / "b.parquet")
    assert cli.main(["fit", str(tmp_path / "b.parquet"), "--out", str(tmp_path / "b.fw"), "--json", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "c"


def test_quiet_says_nothing(tmp_path):
    houses(tmp_path / "h.csv", n_rows=60)
    done = run("fit", "h.csv", "--quiet", "--held-out", "0", *QUICK, folder=tmp_path)
    assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "h.fw").exists()


@pytest.mark.parametrize("target", ["price", "town"])
def test_the_page_has_errors_inputs_and_a_film(tmp_path, target):
    houses(tmp_path / "h.csv")
    page = tmp_path / "page.html"
    arguments = [str(tmp_path / "h.csv"), "--target", target, "--out", str(tmp_path / "h.fw"), "--report", str(page)]
    assert cli.main(["fit", *arguments, "--quiet", *QUICK]) == 0
    html = page.read_text()
    assert f"A model of {target}" in html
    assert 'class="film"' in html
    assert "boosting" in html
    assert ("Right and wrong labels" in html) == (target == "town")
    assert html.count("<svg") == (4 if target == "price" else 1)
    assert ("Expected calibration error" in html) == (target == "town")
    assert ("Prediction intervals, rows held out" in html) == (target == "price")
    assert "is left out: it is constant." in html


def test_refit_keeps_the_model_of_all_rows(tmp_path, capsys):
    houses(tmp_path / "h.csv", n_rows=100)
    out = tmp_path / "h.fw"
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(out), "--json", "--refit", *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["fitted_to_all_rows"] is True
    assert fourierwalk.load(out)._total_weight == 100


def test_a_terminal_shows_one_line_that_moves(tmp_path):
    houses(tmp_path / "h.csv")
    mine, its = os.openpty()
    with started("fit", "h.csv", *QUICK, folder=tmp_path, stdout=subprocess.DEVNULL, stderr=its) as process:
        os.close(its)
        shown = b""
        while True:
            try:
                part = os.read(mine, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(mine)
    assert process.returncode == 0
    assert b"Fitting" in shown
    assert b"\x1b[" in shown
    assert "left out: it is constant" in shown.decode()


def test_an_interrupt_saves_the_best_model_so_far(tmp_path):
    houses(tmp_path / "h.csv", n_rows=20_000)
    log = []
    with started("fit", "h.csv", "--frequencies", "512", folder=tmp_path, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            log.append(line)
            if "of 16 frequencies" in line:
                process.send_signal(signal.SIGINT)
    assert process.returncode == 130, log
    assert "Interrupted: the best model so far was saved to h.fw." in log[-1]
    model = fourierwalk.load(tmp_path / "h.fw")
    assert "interrupted: the best model so far" in model.history_.decisions
    assert {path.name for path in tmp_path.iterdir()} == {"h.csv", "h.fw"}


def test_an_interrupt_before_there_is_a_model_writes_nothing(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(AdaptiveFourierRegressor, "fit", interrupted)
    houses(tmp_path / "h.csv")
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(tmp_path / "h.fw")]) == 130
    assert "stopped before there was a model: nothing was written." in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"h.csv"}


def test_an_interrupt_of_what_is_compared_with_keeps_the_model(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit.held_out, "reference_errors", interrupted)
    houses(tmp_path / "h.csv", n_rows=100)
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(tmp_path / "h.fw"), "--json", *QUICK]) == 130
    assert list(json.loads(capsys.readouterr().out)["held_out_errors"]) == ["fourierwalk"]
    assert (tmp_path / "h.fw").exists()


def test_memory_that_is_not_there_is_refused_before_it_is_taken(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fit, "free_bytes", lambda: 1e6)
    houses(tmp_path / "h.csv")
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(tmp_path / "h.fw")]) == 4
    assert "GB of memory to be fitted" in capsys.readouterr().err


BAD = {
    "empty.csv": b"",
    "header.csv": b"a,b\n",
    "binary.csv": bytes(range(256)),
    "excel.csv": b"PK\x03\x04rest",
    "latin.csv": "town,price\nZürich,1\nGraz,2\n".encode("latin-1"),
    "spaces.csv": b"a b price\n1 2 3\n4 5 6\n",
    "numbers.csv": b"1,2\n3,4\n",
    "twice.csv": b"a,b,a\n1,2,3\n",
    "short.csv": b"a,b\n1,2\n3\n",
    "infinite.csv": b"a,b\n1,2\ninf,3\n4,9\n",
    "typo.csv": b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50)) + b"7,abc\n",
    "dates.csv": b"a,b\n1,2024-01-01\n2,2024-01-02\n",
    "names.csv": b"a,b\n1,anna\n2,berta\n3,carla\n",
    "useless.csv": b"a,b\n1,2\n1,3\n1,4\n",
    "one-class.csv": b"a,b\n1,x\n2,x\n",
    "quote.csv": b'a,b\n"1,2\n3,4\n',
    "text.npz": b"a,b\n1,2\n",
    "odd.xyz": b"",
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.csv"], "The file gone.csv is not there."),
        (["empty.csv"], "empty.csv is empty."),
        (["header.csv"], "header.csv must have rows below its header, got none."),
        (["binary.csv"], "binary.csv must be text, but has bytes in it that are zero"),
        (["excel.csv"], "looks like a zip or Excel file: save the sheet as CSV."),
        (["latin.csv"], "latin.csv cannot be read as utf-8 text"),
        (["latin.csv", "--encoding", "klingon"], "--encoding must be one that Python knows, got 'klingon'."),
        (["spaces.csv", "--target", "price"], "--target must name columns of spaces.csv, which has 'a b price'"),
        (["spaces.csv"], "they must be separated by commas, semicolons, tabs or bars."),
        (["numbers.csv"], "must begin with a header row, got the numbers 1, 2."),
        (["twice.csv"], "must have a name for each column, got 'a' for columns [1, 3]."),
        (["short.csv"], "must have 2 values in each line as in its header, got 1 in line 3."),
        (["infinite.csv"], "must hold finite numbers in column 'a', got 'inf' in line 3."),
        (["typo.csv"], "must have numbers or classes in the target 'b', but it holds 'abc' in line 52 among numbers."),
        (["dates.csv"], "must have numbers or classes in the target 'b', got dates."),
        (["names.csv"], "the target 'b' must have classes of several rows, got 3 in 3 rows, such as 'anna'."),
        (["names.csv", "--task", "regression"], "--task regression needs numbers in the target 'b' of names.csv"),
        (["useless.csv"], "must have an input that can help, got only 'a', it is constant."),
        (["one-class.csv"], "the target 'b' must have at least two classes, got 1."),
        (["quote.csv"], "quote.csv"),
        (["text.npz"], "text.npz cannot be read as NPZ"),
        (["odd.xyz"], "odd.xyz must be one of .csv, .tsv, .txt, .npz, .parquet, got '.xyz'."),
        (["."], "must be one of .csv"),
        (["useless.csv", "--target", "c"], "--target must name columns of useless.csv, which has 'a', 'b', got 'c'."),
        (["useless.csv", "--drop", "c"], "--drop must name columns of useless.csv"),
        (["useless.csv", "--drop", "b"], "--drop must not name the target, got 'b'."),
        (["useless.csv", "--held-out", "2"], "--held-out must be at least 0 and below 1, got 2."),
        (["useless.csv", "--frequencies", "0"], "n_frequencies must be a whole number of at least 1"),
        (["useless.csv", "--seconds", "-1"], "max_seconds must be a finite number above 0"),
        (["useless.csv", "--threads", "0"], "--threads must be at least 1, got 0."),
        (["useless.csv", "--seed", "-1"], "--seed must be at least 0, got -1."),
    ],
)
def test_bad_input_is_one_sentence(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, data in BAD.items():
        (tmp_path / name).write_bytes(data)
    assert cli.main(["fit", *arguments, "--out", "out.fw", "--quiet"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("fourierwalk fit: ")
    assert words in error
    assert error.count("\n") == 1
    assert error.endswith(".\n")
    assert {path.name for path in tmp_path.iterdir()} == set(BAD)


def test_an_output_that_cannot_be_written_is_told_before_the_work(tmp_path, capsys):
    houses(tmp_path / "h.csv")
    (tmp_path / "file").write_text("")
    for option in ("--out", "--report"):
        assert cli.main(["fit", str(tmp_path / "h.csv"), option, str(tmp_path / "file" / "x.html")]) == 3
        assert "x.html cannot be written: " in capsys.readouterr().err
    assert cli.main(["fit", str(tmp_path / "h.csv"), "--out", str(tmp_path)]) == 3
    assert "cannot be written: it is a folder." in capsys.readouterr().err


def test_no_file_of_the_command_is_overwritten(tmp_path):
    before = houses(tmp_path / "h.csv").read_bytes()
    for outputs in ("--out h.csv", "--report h.csv", "--out x --report x", "--checkpoint h.csv"):
        done = run("fit", "h.csv", *outputs.split(), folder=tmp_path, code=3)
        assert "cannot be written: the command already reads or writes this file." in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"h.csv": before}


def test_a_mistake_through_the_real_command_line(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3\n")
    done = run("fit", "a.csv", folder=tmp_path, code=2)
    assert done.stderr.splitlines()[-1] == (
        "fourierwalk fit: a.csv must have 2 values in each line as in its header, got 1 in line 3."
    )
    asked = subprocess.run([*COMMAND, "fit", "a.csv", "--debug"], cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" in asked.stderr
    assert "examples:\n  fourierwalk fit houses.csv --target price" in run("fit", "--help").stdout


def test_a_checkpoint_goes_on_and_does_not_stand_in_the_model(tmp_path, capsys):
    houses(tmp_path / "houses.csv")
    point = tmp_path / "houses.checkpoint"
    words = ["fit", str(tmp_path / "houses.csv"), "--target", "price", "--quiet", "--refit", *QUICK]
    models = []
    for name in ("a.fw", "b.fw"):
        assert cli.main([*words, "--checkpoint", str(point), "--out", str(tmp_path / name)]) == 0
        models.append(fourierwalk.load(tmp_path / name))
    np.testing.assert_array_equal(models[0].frequencies_, models[1].frequencies_)
    assert models[0].checkpoint is None
    assert point.exists()
    assert (tmp_path / "houses.checkpoint.refit").exists()
    assert cli.main([*words, "--checkpoint", str(point), "--seed", "1", "--out", str(tmp_path / "c.fw")]) == 2
    assert "belongs to a fit with other data: give another name" in capsys.readouterr().err
