"""Built-in plugins: everything a chip or an operator adds to the machine."""
