# SPDX-License-Identifier: Apache-2.0
"""Loads torch so that its calls bypass every preloaded library, then lets the injector repair that."""

import os
import sys

sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_DEEPBIND)

import recorder  # noqa: E402
import torch  # noqa: E402

torch.ones(4)
recorder.mark(1)
recorder.fact("reached", recorder.torch_ready())
x = torch.ones(16, requires_grad=True)
(x * x).sum().backward()
recorder.fact("parameter", *recorder.storage(x))
recorder.mark(2)
