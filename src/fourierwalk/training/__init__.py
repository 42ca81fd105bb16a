"""How a fit is put together: policy, folds, starts, search, selection, history."""
