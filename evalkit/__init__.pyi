from evalkit.api import Comparison as Comparison
from evalkit.api import compare as compare
from evalkit.api import load as load

__version__: str
__all__ = ["Comparison", "__version__", "compare", "load"]
