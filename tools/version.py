"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("sqemu")
except PackageNotFoundError:  # a checkout that was not installed
    VERSION = "0+unknown"
