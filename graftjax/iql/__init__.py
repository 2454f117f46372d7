"""Implicit Q-learning of the synthesis MDP: graphs of states, networks, training, checkpoints (Sec. 4.1)."""
