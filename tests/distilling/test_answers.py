import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from fourierwalk import AdaptiveFourierClassifier
from fourierwalk.distilling.answers import Labels, Numbers, Probabilities, answers_of

X, Y = make_classification(200, 3, n_informative=3, n_redundant=0, random_state=0)


class Own:
    """Not of scikit-learn."""

    def predict(self, X):
        return [row[0] for row in X.tolist()]


@pytest.mark.parametrize(
    ("teacher", "kind"),
    [
        (Ridge().fit(X, Y), Numbers),
        (Own(), Numbers),
        (RidgeClassifier().fit(X, Y), Labels),
        (LogisticRegression().fit(X, Y), Probabilities),
    ],
)
def test_what_is_asked(teacher, kind):
    ask = answers_of(teacher)
    assert type(ask) is kind
    assert len(ask.of(teacher, X)) == len(ask.predicted(teacher, X)) == 200


def test_probabilities_take_the_place_of_one_hot_targets():
    teacher = LogisticRegression().fit(X, np.array(["no", "yes"])[Y])
    ask = answers_of(teacher)
    shares = ask.of(teacher, X)
    student = ask.taught(AdaptiveFourierClassifier(32, random_state=0), X, shares)
    assert list(student.classes_) == ["no", "yes"]
    values = student.decision_function(X)
    assert np.sqrt(np.mean((values - (shares[:, 1] - shares[:, 0])) ** 2)) < 0.02  # labels alone would be further off
    assert ask.difference(student.predict(X), teacher.predict(X)) < 0.02


def test_differences():
    assert Numbers().difference(np.array([1.0, 2.0]), [1, 4]) == pytest.approx(np.sqrt(2))
    assert Numbers().difference(np.ones((2, 1)), [1, 1]) == 0
    assert Labels().difference(np.array(["a", "b"]), ["a", "a"]) == 0.5


@pytest.mark.parametrize("teacher", [None, object(), "forest", np.mean])
def test_no_teacher(teacher):
    words = f"teacher must be a fitted model with predict or predict_proba, got {type(teacher).__name__}."
    with pytest.raises(TypeError) as error:
        answers_of(teacher)
    assert str(error.value) == words


def test_words_are_no_numbers():
    class Words:
        def predict(self, X):
            return ["yes"] * len(X)

    with pytest.raises(ValueError, match="teacher must predict numbers, or be a classifier with classes_, got <U3"):
        answers_of(Words()).of(Words(), X)


def test_several_targets_of_classes_are_refused():
    teacher = KNeighborsClassifier().fit(X, np.stack((Y, 1 - Y), axis=1))
    with pytest.raises(ValueError, match="teacher must predict one target, got 2 lists of classes"):
        answers_of(teacher)
