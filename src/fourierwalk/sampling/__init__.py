"""How frequencies move: the walk of Algorithms 1 and 2, proposals, resampling, descent; no rows, no solves."""
