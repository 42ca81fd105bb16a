"""What the array API standard leaves to us: whose array it is, memory, threads, cosines, products, factorisations, draws."""
