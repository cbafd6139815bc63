"""evalkit: may we ship the cheaper quantization, or must we ship the dearer one?

From Python: `evalkit.compare(...)` and `evalkit.load(DIR)` return a `Comparison`. They are
loaded when they are first asked for, so that `import evalkit` costs nothing.
"""

__version__ = "0.1.0"

__all__ = ["Comparison", "__version__", "compare", "load"]


def __getattr__(name: str) -> object:
    # By name, since the ground imports nothing; `__init__.pyi` tells type checkers.
    if name not in __all__:
        raise AttributeError(f"module 'evalkit' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module("evalkit.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
