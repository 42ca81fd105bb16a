"""What the array API standard leaves to us: library, memory, threads, cosines, products, factorisations, draws."""
