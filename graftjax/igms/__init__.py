"""Information-theoretic graph matching score: evidence units, support, covariance, U and its increments."""
