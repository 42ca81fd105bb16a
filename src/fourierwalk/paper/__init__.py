"""The paper's experiments. Only the comparison, the benchmarks and the commands import from here."""
