"""Speeds as ratios measured in one run, beside their targets."""
