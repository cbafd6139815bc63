"""What the command line does, for Python: compare, run, check, probe, load, history.

`import evalkit` offers the most used of these, and loads them when they are first asked for.
"""

from evalkit.api.asking import Listener, check, run
from evalkit.api.comparing import compare
from evalkit.api.comparison import Comparison, load
from evalkit.api.measuring import probe
from evalkit.stages.history import read_history as history

__all__ = ["Comparison", "Listener", "check", "compare", "history", "load", "probe", "run"]
