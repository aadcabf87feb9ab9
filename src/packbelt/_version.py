"""The version, read by the build and by `packbelt --version`."""

__version__ = "0.1.0"
