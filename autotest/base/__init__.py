"""Takes nothing from other packages; provides errors, test settings, run options, and units of time and size."""
