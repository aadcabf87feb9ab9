"""Importers of public data sets: requests with the right tool, as a workspace with a suite."""
