"""The version of the package, which records note."""

__version__ = "0.1.0"
