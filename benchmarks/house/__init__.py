"""`make house`: the shape of the product's code, in figures that any checkout gives."""
