"""Names that stand for things, with suggestions for those that do not."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from evalkit.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to things, filled by the modules that define them.

    `modules` maps each built-in name to the module that registers it, so that a name
    can be listed without importing what stands behind it.
    """

    def __init__(self, kind: str, modules: Mapping[str, str] | None = None) -> None:
        self.kind = kind
        self._modules = dict(modules or {})
        self._things: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers what it decorates.

        Raises:
            ValueError: When the name is taken by something else.
        """

        def decorate(thing: T) -> T:
            if name in self._things:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._things[name] = thing
            return thing

        return decorate

    def get(self, name: str) -> T:
        """Return what a name stands for, importing its module when it must.

        Raises:
            UnknownNameError: With the nearest known names.
        """
        if name not in self._things and name in self._modules:
            importlib.import_module(self._modules[name])
        if name not in self._things:
            raise UnknownNameError(self.kind, name, self)
        return self._things[name]

    def __contains__(self, name: str) -> bool:
        return name in self._things or name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._things, *self._modules}))
