"""Packages that few functions need, and that the default installation lacks."""

from importlib import import_module
from types import ModuleType


class MissingPackageError(ModuleNotFoundError):
    """A package that is not installed; the message has the command that installs it."""


def required(name: str, what: str, to_install: str) -> ModuleType:
    """The package of this name, which `what` needs.

    Raises `MissingPackageError` if it is not installed; pip knows it as `to_install`.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{what}: {name} is not installed; install it with: pip install {to_install}"
        raise MissingPackageError(message, name=name) from None
