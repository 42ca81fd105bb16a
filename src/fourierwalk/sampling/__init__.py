"""How frequencies move: the walk of Algorithms 1 and 2, proposals, resampling, descent. Sees neither rows nor solves."""
