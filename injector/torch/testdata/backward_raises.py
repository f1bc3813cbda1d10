# SPDX-License-Identifier: Apache-2.0
"""Backward passes that end by an exception, of the engine's own (a freed graph) and of the program."""

import torch


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        raise ValueError("from the program")


x = torch.ones(4, requires_grad=True)
for _ in range(3):
    y = (x * x).sum()
    y.backward()
    for attempt in (y.backward, Fails.apply(x).sum().backward):
        try:
            attempt()
        except (RuntimeError, ValueError) as error:
            print(type(error).__name__)
