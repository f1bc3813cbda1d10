# SPDX-License-Identifier: Apache-2.0
"""The bridge changes nothing: the same run with and without it gives the same results and the same
allocations, even with unusual kinds of tensors. bridge_build_test.cc builds the bridge and starts this file
with the stub host preloaded.
"""

import gc
import unittest
from typing import List, Tuple

import torch
from torch import Tensor

from stub_recording import Bridge
from training_sample import Training

BRIDGE = Bridge(stacks="python")


class UndisturbedTest(unittest.TestCase):
    def assert_undisturbed(self, training: Training) -> None:
        gc.disable()  # a collection would free blocks of earlier tests in the middle
        try:
            with BRIDGE.recording(ops=False) as light:
                training.step()
            with BRIDGE.recording() as deep:
                training.step()
            with BRIDGE.recording(ops=False) as after:
                training.step()
        finally:
            gc.enable()
        self.assertGreater(len(light.memory), 100)
        self.assertEqual(light.memory, deep.memory)
        self.assertEqual(light.memory, after.memory)

    def test_a_deep_step_allocates_what_a_light_one_does(self) -> None:
        for keywords in ({}, {"amp": True}, {"recompute": True}, {"amp": True, "recompute": True}, {"foreach": True}, {"fused": True}):
            with self.subTest(**keywords):
                if keywords == {"fused": True} and torch.__version__.startswith("2.2"):
                    continue  # no fused optimizer on CPU there
                self.assert_undisturbed(Training(**keywords))

    def test_losses_are_the_same(self) -> None:
        plain, recorded = Training(), Training()
        torch.manual_seed(2)
        expected = [plain.step() for _ in range(3)]
        torch.manual_seed(2)
        with BRIDGE.recording():
            got = [recorded.step() for _ in range(3)]
        self.assertEqual(expected, got)

    def test_copy_on_write_tensors_stay_shared(self) -> None:
        if not hasattr(torch, "_lazy_clone"):
            self.skipTest("no copy-on-write tensors in this torch")
        base = torch.ones(1000)
        clone = torch._lazy_clone(base)
        with BRIDGE.recording() as recording:
            (clone + 1).sum()
        self.assertTrue(torch._C._is_cow_tensor(clone))
        self.assertEqual(1000, recording.op("aten::add").inputs[0].shape[0])

    def test_modes_stay_as_they_are(self) -> None:
        def modes() -> Tuple[bool, ...]:
            return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_cpu_enabled()

        with BRIDGE.recording():
            with torch.no_grad():
                torch.ones(2) + 1
                self.assertEqual((False, False, False), modes())
            with torch.inference_mode():
                torch.ones(2) + 1
                self.assertEqual((False, True, False), modes())
        self.assertEqual((True, False, False), modes())


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return gradient * 2


class Wrapped(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


def unusual_results() -> List[object]:
    """Tensors of all unusual kinds, through a few ops each; results as plain numbers."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    results: List[object] = []
    square = torch.arange(9.0).view(3, 3)
    results.append((square.to_sparse() @ square).sum().item())
    results.append(torch.sparse.mm(square.to_sparse_csr(), square).sum().item())
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.ones(4, 5))
        results.append(tuple((fake @ fake.t()).shape))
    results.append(tuple((torch.ones(2, 3, device="meta") * 2).shape))
    results.append(torch.func.vmap(lambda row: row.sum() * 2)(square).tolist())
    results.append(torch.func.grad(lambda x: (x**3).sum())(square).tolist())
    results.append(torch.func.jvp(torch.sin, (square,), (square,))[1].tolist())
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    results.append([t.sum().item() for t in (nested * 2).unbind()])
    results.append((square.as_subclass(Wrapped) + 1).sum().item())
    x = torch.ones(3, requires_grad=True)
    results.append(Doubled.apply(x).sum().item())
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    results.append(torch.autograd.grad(first.sum(), x)[0].tolist())
    results.append(torch.quantize_per_tensor(square, 0.5, 0, torch.quint8).dequantize().sum().item())
    results.append(torch.view_as_real(torch.complex(square, square).conj().resolve_conj()).sum().item())
    results.append(torch.empty(0, 3).sum().item())
    results.append(square.to_mkldnn().relu().to_dense().sum().item())
    return results


class UnusualTensorsTest(unittest.TestCase):
    def test_they_give_the_results_of_an_unrecorded_run(self) -> None:
        expected = unusual_results()
        with BRIDGE.recording() as recording:
            got = unusual_results()
        self.assertEqual(expected, got)
        self.assertTrue(all(op.ended for op in recording.ops))

    def test_what_has_no_storage_is_no_operand_and_what_has_no_memory_has_no_address(self) -> None:
        sparse, meta = torch.eye(3).to_sparse(), torch.ones(2, 3, device="meta")
        with BRIDGE.recording() as recording:
            sparse * 2
            meta.abs()
        self.assertEqual([1], [o.argument for o in recording.op("aten::mul").inputs])  # the number 2, as a tensor
        self.assertEqual([((2, 3), 0)], [(o.shape, o.storage) for o in recording.op("aten::abs").inputs])

    def test_symbolic_shapes_are_left_out(self) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        fake = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(torch.ones(4, 5), static_shapes=False)
        self.assertNotIsInstance(fake.shape[0], int)
        with BRIDGE.recording() as recording:
            fake.relu()
        self.assertEqual([None], [o.shape for o in recording.ops[0].inputs])


if __name__ == "__main__":
    unittest.main()
