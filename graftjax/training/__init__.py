"""From an indexed lake to a trained value function: replay, training job, and the run folder."""
