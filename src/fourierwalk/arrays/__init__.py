"""What the array API standard lacks: devices, memory, threads, cosines, products, factorisations, random numbers."""
