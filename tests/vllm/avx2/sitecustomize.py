"""On PYTHONPATH: makes vLLM take its build for AVX2 also where the CPU knows AVX-512.

That build has no int4 kernel and says so only at the first request.
"""

import sys

if "torch" not in sys.modules:
    import torch.cpu

    torch.cpu._is_avx512_supported = lambda: False  # type: ignore[attr-defined]
