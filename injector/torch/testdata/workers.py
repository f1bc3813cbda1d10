# SPDX-License-Identifier: Apache-2.0
"""A data loader with two forked workers."""

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((100,), float(index))


if __name__ == "__main__":
    torch.set_num_threads(1)
    loader = DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context="fork")
    print(sum(float(batch.sum()) for batch in loader))
