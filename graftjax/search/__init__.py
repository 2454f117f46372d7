"""Online search: anchors, admissible actions, beam, rerank (Algorithm 3)."""
