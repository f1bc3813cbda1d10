# SPDX-License-Identifier: Apache-2.0
"""Tests for pytest, some of which break their limits; pytest_test.py runs them and knows which."""
import pytest
import torch

kept = []
held = torch.zeros(1 << 20)  # before all tests: 4 MiB that no test has to answer for


@pytest.mark.limit_gpu_memory("3 MiB")
def test_within() -> None:
    torch.zeros(1 << 19).sum()


@pytest.mark.limit_gpu_memory("1 MiB")
def test_too_large() -> None:
    torch.zeros(1 << 19).sum()


@pytest.mark.limit_gpu_leaks("1 KiB")
def test_leaks() -> None:
    kept.append(torch.zeros(1 << 10))


@pytest.mark.limit_gpu_leaks("0 B")
@pytest.mark.limit_gpu_memory("1 GiB")
def test_leaves_nothing() -> None:
    torch.zeros(1 << 19).sum()


@pytest.mark.limit_gpu_memory("1 KiB")
def test_fails_by_itself() -> None:
    torch.zeros(1 << 19)
    raise KeyError("its own")


@pytest.mark.limit_gpu_memory("lots")
def test_with_a_wrong_mark() -> None:
    pass


def test_without_a_limit() -> None:
    torch.zeros(1 << 22)
