"""Takes nothing from other packages; provides errors, settings, run options, units, and temporary folders."""
