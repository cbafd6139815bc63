"""evalkit: may we ship the cheaper quantization, or must we ship the dearer one?"""

__version__ = "0.1.0"

__all__ = ["__version__"]
