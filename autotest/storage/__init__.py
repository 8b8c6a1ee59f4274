"""Takes findings; leaves them on disk, reads them again, and says whether they still happen."""
