"""Parts of `sqemu check`: reading the program, and showing limits and findings."""
