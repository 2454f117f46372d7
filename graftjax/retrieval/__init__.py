"""The learned retrieval space: self-made pairs of atoms and nodes, and the projection fitted to them."""
