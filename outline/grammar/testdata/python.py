#!/usr/bin/env python3
"""Everything that Python defines.

More about it.
"""

from __future__ import annotations

import os, sys as system
import collections.abc
from typing import (
    Any,
    Generic,
)
from . import sibling
from ..parent import thing as other

__all__ = ["public", "Service", "VERSION"]
__all__ += ["load"]

VERSION = "1.2.3"
_private = 1
debug: bool = False
typed: int
first, (second, *rest) = 1, (2, 3)
chained = another = 3
counter = 0
counter += 1
counter = 2
square = lambda x: x * x

type Pair[T] = tuple[T, T]


def public(a, /, b: int = 1, *args: Any, key: str = "def fake(): pass", **kwargs) -> dict[str, int]:
    """Does something.

    def not_a_function(): pass
    """
    local = 1
    double = lambda n: n * 2

    def inner(x):
        def deeper():
            pass

        return deeper

    class Local:
        attribute = 1

        def method(self):
            pass

    for i in range(3):

        def in_loop():
            return i

    with open(os.devnull) as handle:

        def in_with():
            return handle

    return {}  # the end
    # a comment that still belongs to the body


# Loads it.
# From the network.
@decorator
@decorator.with_arguments(
    lambda: 1,
    key="value",
)
async def load(url: str) -> bytes:
    'One line.'
    async with session() as s:
        return await s.get(url)


class Service(Base, Generic[T], metaclass=Meta):
    """A service.

    class Fake: pass
    """

    attribute = 1
    typed: int
    both: str = "x"
    left, right = 1, 2
    __slots__ = ("a", "b")
    handler = lambda self: None

    if sys.platform == "linux":
        platform = "linux"

        def platform_specific(self):
            pass

    else:
        platform = "other"

        def platform_specific(self):
            return 1

    def __init__(self, name):
        self.name = name
        self.callback = lambda: name

    @property
    def value(self) -> int:
        """The value."""
        return 1

    @value.setter
    def value(self, new):
        pass

    @staticmethod
    def make(): return Service("x")

    @classmethod
    async def fetch(
        cls,
        url,
        *,
        timeout=10,
    ):
        async def helper():
            pass

        await helper()

    def _internal(self): pass

    class Meta:
        ordering = ["name"]

        class Deep:
            def method(self):
                """Deep documentation."""


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)


class Color(Enum):
    RED = 1
    GREEN = 2

    def warm(self): return self is Color.RED


class Empty(Exception): ...


if debug:
    def conditional():
        pass
    MODE = "debug"
elif VERSION:
    def conditional(): pass
    MODE = "version"
else:
    MODE = None

try:
    import json
except ImportError:
    json = None

    def fallback():
        pass
else:
    def in_else(): pass
finally:
    def in_finally(): pass

with open(os.devnull) as handle:
    def in_with():
        pass

while False:
    def in_while(): pass

for index in range(3):
    noise = index

match VERSION:
    case "1":
        def in_match(): pass
    case _:
        pass

if __name__ == "__main__":
    result = public(1)
    print(result)
