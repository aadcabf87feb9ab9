"""packbelt."""
