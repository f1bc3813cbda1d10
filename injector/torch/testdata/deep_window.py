# SPDX-License-Identifier: Apache-2.0
"""Reports six steps of training to the injector."""

import recorder
import torch

recorder.torch_ready()
x = torch.ones(4, 4, requires_grad=True)
for step in range(1, 7):
    (x @ x).sum().backward()
    recorder.fact("deep", step + 1, recorder.step_done(step))
