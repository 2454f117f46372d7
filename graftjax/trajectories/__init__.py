"""Self-made training data: subgraphs of a lake, the intents that they realise, and their rewording."""
