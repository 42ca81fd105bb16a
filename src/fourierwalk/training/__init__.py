"""A fit from settings and data to a model: policy, folds, first frequencies, search, selection, history."""
