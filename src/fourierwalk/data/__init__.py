"""The rows and what is made of them: blocks, streams, scaling (Algorithm 3), features, the span of wide rows."""
