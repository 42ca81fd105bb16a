"""Fitted models for other programs: ONNX, torch and C. All three are written from one description."""
