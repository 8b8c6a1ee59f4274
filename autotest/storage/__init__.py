"""Takes findings; stores them on disk, reads them again, and checks whether they still occur."""
