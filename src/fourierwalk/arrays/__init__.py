"""What the array API standard leaves to us: libraries, memory, threads, cosines, products, factorisations, draws."""
