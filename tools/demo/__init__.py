"""The built-in example: its graph, its data, and how its story is told."""
