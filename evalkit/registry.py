"""Names that stand for things, with suggestions for those that do not."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from evalkit.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to things, filled by the modules that define them.

    `modules` maps each built-in name to the module that registers it, so that a name
    can be listed without importing what stands behind it. `group` is the group of entry
    points in which installed packages name further ones; a built-in name wins.
    """

    def __init__(
        self, kind: str, modules: Mapping[str, str] | None = None, *, group: str | None = None
    ) -> None:
        self.kind = kind
        self._modules = dict(modules or {})
        self._group = group
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
            UsageError: When the package that brings it cannot be loaded.
        """
        if name not in self._things and name in self._modules:
            importlib.import_module(self._modules[name])
        if name not in self._things and name in (offered := self._offered()):
            self._things[name] = self._loaded(offered[name])
        if name not in self._things:
            raise UnknownNameError(self.kind, name, self)
        return self._things[name]

    def __contains__(self, name: str) -> bool:
        return name in self._things or name in self._modules or name in self._offered()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._things, *self._modules, *self._offered()}))

    def _offered(self) -> dict[str, EntryPoint]:
        """Return what installed packages bring; they are looked for once."""
        return {} if self._group is None else _entry_points(self._group)

    def _loaded(self, point: EntryPoint) -> T:
        try:
            thing: T = point.load()
        except (ImportError, AttributeError) as error:
            package = point.dist.name if point.dist is not None else point.value
            raise UsageError(
                f"The {self.kind} '{point.name}' of the package {package} cannot be loaded: "
                f"{error}.",
                hint="Repair that package, or take it out.",
            ) from error
        return thing


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow, and mostly nobody asks

    return {point.name: point for point in entry_points(group=group)}
