"""Speeds, as ratios measured within one run, beside their targets."""
