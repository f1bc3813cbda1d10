# SPDX-License-Identifier: Apache-2.0
"""A transformer layer trained for three steps; prints what PyTorch itself knows about its tensors."""

import recorder
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(
    torch.nn.Embedding(50, 32),
    torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True),
    torch.nn.Linear(32, 50),
)
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.randint(0, 50, (4, 16))

for step in range(1, 4):
    recorder.mark(step * 10)
    loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    recorder.mark(step * 10 + 1)
    for tensor in recorder.saved_tensors(loss):
        recorder.fact(f"saved{step}", *recorder.storage(tensor))
    recorder.mark(step * 10 + 2)
    loss.backward()
    recorder.mark(step * 10 + 3)
    for parameter in model.parameters():
        recorder.fact(f"gradient{step}", *recorder.storage(parameter.grad))
    optimizer.step()
    optimizer.zero_grad()
    del loss
for parameter in model.parameters():
    recorder.fact("parameter", *recorder.storage(parameter))
