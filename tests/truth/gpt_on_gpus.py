# SPDX-License-Identifier: Apache-2.0
"""The GPT sample in ways that only GPUs have, for oracle.py.

    gpt_on_gpus.py one_device [switches of samples/gpt.py]     as the sample does it, with whatever allocator the environment chooses
    gpt_on_gpus.py two_devices [switches of samples/gpt.py]    the layers lie on two GPUs, in halves
    gpt_on_gpus.py streams                                     batches are copied on one stream, trained on a second
    gpt_on_gpus.py graph                                       forward and backward are captured in step 4 and replayed from there on
    gpt_on_gpus.py graphed_layers                              each layer is a graph of its own (torch.cuda.make_graphed_callables)
"""
import argparse
from typing import Callable, Dict, Iterator, Sequence

import torch
from torch import Tensor

import gpt
import training

CAPTURED_STEP = 4  # PyTorch needs a few runs before a capture


class GptOnTwoDevices(gpt.Gpt):
    """The embedding and the head are on the first GPU, because they share a weight; the second half of the layers is on the second GPU."""

    def spread(self) -> "GptOnTwoDevices":
        self.to("cuda:0")
        self.blocks[len(self.blocks) // 2:].to("cuda:1")
        return self

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(self.position_ids[: tokens.shape[1]])
        for block in self.blocks:
            x = training.run_block(block, x.to(next(block.parameters()).device), self.recompute)
        return self.head(self.norm(x.to("cuda:0")))


def job(model: gpt.Gpt, options: argparse.Namespace, batches: Iterator[Sequence[Tensor]]) -> training.Job:
    def loss(tokens: Tensor, targets: Tensor) -> Tensor:
        return gpt.F.cross_entropy(model(tokens).view(-1, gpt.VOCABULARY), targets.view(-1))

    optimizer = training.make_optimizer(model, options)
    return training.Job(model, (optimizer,), batches, loss, training.Precision(options.device, options.amp))


def new_gpt(options: argparse.Namespace) -> gpt.Gpt:
    return gpt.Gpt(options.layers, options.dim, options.checkpoint).cuda()


def two_devices(options: argparse.Namespace) -> None:
    model = GptOnTwoDevices(options.layers, options.dim, options.checkpoint).spread()
    training.train(job(model, options, training.endless_batches(gpt.sentences(512), options)), options)


def streams(options: argparse.Namespace) -> None:
    copying, computing = torch.cuda.Stream(), torch.cuda.Stream()

    def copied() -> Iterator[Sequence[Tensor]]:
        batches = training.endless_batches(gpt.sentences(512), options)
        while True:
            with torch.cuda.stream(copying):
                batch = next(batches)
            computing.wait_stream(copying)
            for tensor in batch:
                tensor.record_stream(computing)
            yield batch
            del batch, tensor

    with torch.cuda.stream(computing):
        training.train(job(new_gpt(options), options, copied()), options)


def graph(options: argparse.Namespace) -> None:
    work = job(new_gpt(options), options, training.endless_batches(gpt.sentences(512), options))
    (optimizer,) = work.optimizers
    captured, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    still = next(work.batches)  # a graph reads its input at the address where it was captured

    def forward_and_backward() -> None:
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(work.loss(*still))

    for step in range(1, options.steps + 1):
        for tensor, new in zip(still, next(work.batches)):
            tensor.copy_(new)
        if step < CAPTURED_STEP:
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                forward_and_backward()
            torch.cuda.current_stream().wait_stream(side)
        else:
            if step == CAPTURED_STEP:
                with torch.cuda.graph(captured):
                    forward_and_backward()
            captured.replay()
        optimizer.step()


def graphed_layers(options: argparse.Namespace) -> None:
    work = job(new_gpt(options), options, training.endless_batches(gpt.sentences(512), options))
    example = torch.zeros(options.batch, gpt.CONTEXT, options.dim, device="cuda", requires_grad=True)
    for index, block in enumerate(work.model.blocks):
        work.model.blocks[index] = torch.cuda.make_graphed_callables(block, (example,))
    del example, block
    training.train(work, options)


def one_device(options: argparse.Namespace) -> None:
    training.train(gpt.build(options), options)


WAYS: Dict[str, Callable[[argparse.Namespace], None]] = {
    function.__name__: function for function in (one_device, two_devices, streams, graph, graphed_layers)}


def main(argv: Sequence[str]) -> None:
    arguments = gpt.arguments()
    arguments.add_argument("way", choices=WAYS)
    options = training.start(arguments, argv)
    WAYS[options.way](options)
