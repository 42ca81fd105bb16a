import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge, RidgeClassifier

import fourierwalk
from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor, distill

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (400, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
X_TEST = RNG.uniform(-2, 2, (300, 2))
Y_TEST = np.sin(2 * X_TEST[:, 0]) + X_TEST[:, 1]
FOREST = RandomForestRegressor(20, random_state=0).fit(X, Y)
SMALL = AdaptiveFourierRegressor(64, n_steps=10, random_state=0)


def test_a_student_is_close_to_its_teacher_at_rows_that_neither_has_seen():
    student = distill(FOREST, X, X_test=X_TEST, y_test=Y_TEST, random_state=0)
    report, values = student.distillation_, student.predict(X_TEST)
    answers = FOREST.predict(X_TEST)
    assert type(student) is AdaptiveFourierRegressor
    assert (report.n_rows, report.n_between, report.n_test) == (400, 400, 300)
    assert report.student_to_teacher == pytest.approx(np.sqrt(np.mean((values - answers) ** 2)))
    assert report.student_error == pytest.approx(np.sqrt(np.mean((values - Y_TEST) ** 2)))
    assert report.teacher_error == pytest.approx(np.sqrt(np.mean((answers - Y_TEST) ** 2)))
    assert report.student_to_teacher < 0.1 * np.std(answers)
    assert report.student_seconds > 0
    assert report.teacher_seconds > 0
    assert "400 rows and 400 rows between them." in str(report)
    assert f"Errors: student {report.student_error:.4g}, teacher {report.teacher_error:.4g}." in str(report)


def test_answers_are_all_that_a_teacher_needs_to_have():
    class Own:
        def predict(self, rows):
            assert type(rows) is np.ndarray
            return np.sin(rows[:, 0]).tolist()

    report = distill(Own(), X, student=SMALL, random_state=0).distillation_
    assert (report.n_rows, report.n_between, report.n_test) == (360, 360, 40)
    assert report.student_error is report.teacher_error is None
    assert "Errors" not in str(report)


def test_a_seed_fixes_the_student():
    first, again, other = (distill(FOREST, X, student=SMALL, random_state=seed).predict(X_TEST) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert np.any(first != other)


def test_settings_are_those_of_the_students_and_are_left_alone():
    given = AdaptiveFourierRegressor(8, sampler="fixed", random_state=3)
    student = distill(FOREST, X, student=given, between=0)
    assert student is not given
    assert not hasattr(given, "model_")
    assert student.get_params() == given.get_params()
    assert student.distillation_.n_between == 0


def test_the_teacher_is_asked_at_rows_between():
    asked = []

    class Own:
        def predict(self, rows):
            asked.append(len(rows))
            return rows[:, 0]

    distill(Own(), X, X_test=X_TEST, student=SMALL, between=2.5)
    assert asked == [400, 1000, 300]


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_classes_and_their_probabilities(names):
    labels, truth = (np.array(names)[(values > 0).astype(int)] for values in (Y, Y_TEST))
    teacher = RandomForestClassifier(30, random_state=0).fit(X, labels)
    student = distill(teacher, X, X_test=X_TEST, y_test=truth, random_state=0)
    assert type(student) is AdaptiveFourierClassifier
    assert_array_equal(student.classes_, names)
    report = student.distillation_
    assert report.student_to_teacher == np.mean(student.predict(X_TEST) != teacher.predict(X_TEST)) < 0.08
    assert report.student_error == np.mean(student.predict(X_TEST) != truth)
    apart = student.predict_proba(X_TEST)[:, 1] - teacher.predict_proba(X_TEST)[:, 1]
    assert np.sqrt(np.mean(apart**2)) < 0.15


def test_labels_alone():
    teacher = RidgeClassifier().fit(X, Y > 0)
    student = distill(teacher, X, student=AdaptiveFourierClassifier(32, random_state=0), random_state=0)
    assert student.distillation_.student_to_teacher < 0.1
    assert_array_equal(student.classes_, [False, True])


def test_frames_go_to_teacher_and_student_as_frames():
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))})
    teacher = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(frame, Y)
    student = distill(teacher, frame, student=SMALL, random_state=0)
    assert list(student.feature_names_in_) == ["a", "b"]
    assert student.distillation_.student_to_teacher < 0.3 * np.std(Y)


def test_several_outputs():
    teacher = Ridge().fit(X, np.stack((Y, -Y), axis=1))
    student = distill(teacher, X, student=SMALL, random_state=0)
    assert student.predict(X_TEST).shape == (300, 2)
    assert student.distillation_.student_to_teacher < 0.1


def test_sparse_rows_are_taken_as_they_are():
    rows = scipy.sparse.csr_array(X)
    student = distill(Ridge().fit(rows, Y), rows, student=SMALL, between=0, random_state=0)
    assert student.distillation_.student_to_teacher < 0.1
    with pytest.raises(ValueError, match="between=0 asks the teacher at X alone"):
        distill(Ridge().fit(rows, Y), rows)


class Broken:
    """A teacher that does not know."""

    def predict(self, rows):
        return np.full(len(rows), np.nan)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: distill(FOREST, X, between=-1), "between must be"),
        (lambda: distill(FOREST, X, y_test=Y), "X_test and y_test must be given together, got only y_test."),
        (lambda: distill(FOREST, X[:9]), "X must have at least 10 rows if there is no X_test, got 9."),
        (lambda: distill(Broken(), X), "teacher must answer with finite numbers, got NaN or infinity."),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        call()
    assert words in str(error.value)


def test_students_are_saved_and_loaded(tmp_path):
    student = distill(FOREST, X, student=SMALL, random_state=0)
    assert_array_equal(fourierwalk.load(student.save(tmp_path / "student.fw")).predict(X), student.predict(X))


class FirstColumn:
    def predict(self, X):
        return np.asarray(X)[:, 0].astype(float)


@pytest.mark.parametrize("kind", ["objects", "lists"])
def test_numbers_as_objects_are_numbers(kind):
    X = np.random.default_rng(0).normal(size=(200, 2))
    given = X.astype(object) if kind == "objects" else X.tolist()
    wanted, found = (fourierwalk.distill(FirstColumn(), rows, random_state=0) for rows in (X, given))
    np.testing.assert_array_equal(found.predict(X), wanted.predict(X))


def test_objects_that_are_neither_numbers_nor_words_are_a_sentence():
    X = np.full((50, 2), None, dtype=object)
    X[:] = [[{}, 1.0]]
    with pytest.raises(ValueError, match=r"^X must be rows of numbers and words, got an array of other objects\.$"):
        fourierwalk.distill(FirstColumn(), X)
