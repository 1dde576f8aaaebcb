"""The `sqemu` command: one thin module per subcommand, over the Python API."""
