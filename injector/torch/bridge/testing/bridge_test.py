# SPDX-License-Identifier: Apache-2.0
"""What the bridge records inside a real torch. Oracles: torch.profiler's own list of ops, the tensors themselves, and the graph walked
from Python. bridge_build_test.cc builds the bridge and starts this file with the stub host preloaded."""

import threading
import traceback
import unittest
from typing import Callable, Dict, List, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor

from stub_recording import IS_LEAF, IS_VIEW, NO_SEQUENCE, REQUIRES_GRAD, Bridge, Recording, torch_bytes
from training_sample import Training

BRIDGE = Bridge(stacks="python")


def profiled_ops(run: Callable[[], object]) -> Tuple[List[Tuple[str, int, List[List[int]]]], Recording]:
    """(name, depth, shapes of the tensor arguments) as torch.profiler sees them, and the bridge's record of the same run."""
    with torch.profiler.profile(record_shapes=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        with BRIDGE.recording() as recording:
            run()
    found: List[Tuple[str, int, List[List[int]]]] = []

    def visit(event: object, depth: int) -> None:
        name = event.name  # type: ignore[attr-defined]
        is_op = type(event.extra_fields).__name__ == "_ExtraFields_TorchOp" and not name.startswith(("autograd::engine", "Optimizer."))  # type: ignore[attr-defined]
        if is_op:
            inputs = event.extra_fields.inputs  # type: ignore[attr-defined]
            found.append((name, depth, [list(i.sizes) for i in inputs if hasattr(i, "sizes")]))
        for child in event.children:  # type: ignore[attr-defined]
            visit(child, depth + is_op)

    for root in profile.profiler.kineto_results.experimental_event_tree():
        visit(root, 0)
    return found, recording


class OpsTest(unittest.TestCase):
    def test_ops_of_a_step_are_those_of_torch_profiler_in_order_nesting_and_shapes(self) -> None:
        training = Training(amp=True)
        expected, recording = profiled_ops(training.step)
        got = [(op.name, op.depth, [list(o.shape) for o in op.inputs if o.element is None]) for op in recording.ops]
        self.assertEqual(expected, got)
        self.assertGreater(len(got), 200)

    def test_nesting_gives_the_composite_op_and_every_op_ends(self) -> None:
        x, weight, bias = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
        with BRIDGE.recording() as recording:
            F.linear(x, weight, bias)
        self.assertEqual(["aten::linear"], [op.name for op in recording.ops if op.depth == 0])
        self.assertIn("aten::addmm", recording.op("aten::linear").children)
        self.assertTrue(all(op.ended for op in recording.ops))

    def test_operands_are_the_tensors_themselves(self) -> None:
        base = torch.zeros(6, 4, requires_grad=True)
        view = base[2:, 1:]
        plain = torch.ones(4, 3)
        with BRIDGE.recording() as recording:
            result = view * plain
        first, second = recording.op("aten::mul").inputs
        self.assertEqual((view._cdata, base.untyped_storage().data_ptr(), view.storage_offset()), (first.tensor, first.storage, first.offset))
        self.assertEqual(((4, 3), (4, 1), 6), (first.shape, first.strides, first.dtype))
        self.assertEqual((REQUIRES_GRAD | IS_VIEW, IS_LEAF), (first.flags, second.flags))
        (output,) = recording.op("aten::mul").outputs
        self.assertEqual((result._cdata, result.untyped_storage().data_ptr(), 0), (output.tensor, output.storage, output.offset))
        self.assertEqual([0, 1], [first.argument, second.argument])

    def test_elements_of_tensor_lists_are_operands(self) -> None:
        tensors = [torch.ones(2), torch.ones(3)]
        with BRIDGE.recording() as recording:
            torch._foreach_add(tensors, 1.0)
            torch.cat([torch.ones(1, 5), torch.ones(2, 5)])
        op = recording.op("aten::_foreach_add")
        self.assertEqual([(0, 0, (2,)), (0, 1, (3,))], [(o.argument, o.element, o.shape) for o in op.inputs])
        self.assertEqual([(0, 0, (2,)), (0, 1, (3,))], [(o.argument, o.element, o.shape) for o in op.outputs])
        self.assertEqual([(1, 5), (2, 5)], [o.shape for o in recording.op("aten::cat").inputs])

    def test_scalars_that_decide_shapes_and_types_are_text(self) -> None:
        x = torch.ones(2, 6)
        with BRIDGE.recording() as recording:
            x.view(3, -1)
            x.to(torch.bfloat16, copy=True)
            x.sum([0, 1], keepdim=True)
            torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)
            torch.einsum("ij,ij->i", x, x)
            torch.arange(0, 5, 2)
            x.add_(1.5, alpha=2)
        self.assertEqual("[3,-1]", recording.op("aten::view").scalars[1])
        self.assertEqual({1: "torch.bfloat16", 3: "True"}, recording.op("aten::to").scalars)  # non_blocking=False is the default
        self.assertEqual({1: "[0,1]", 2: "True"}, recording.op("aten::sum").scalars)
        empty = [op for op in recording.ops if op.name == "aten::empty" and op.scalars.get(0) == "[2,3,4,5]"][0]
        self.assertEqual("torch.channels_last", empty.scalars[5])
        self.assertEqual("ij,ij->i", recording.op("aten::einsum").scalars[0])
        self.assertEqual(("0", "5", "2"), tuple(recording.op("aten::arange").scalars[i] for i in range(3)))
        self.assertEqual({}, recording.op("aten::add_").scalars)  # factors differ from step to step and decide no shape

    def test_a_call_that_only_moves_names_a_layout(self) -> None:
        x = torch.ones(2)
        calls: Dict[str, Callable[[], object]] = {"moves": lambda: x.to("cpu"), "converts": lambda: x.to(torch.float32),
                                                  "both": lambda: x.to("cpu", torch.float32), "as": lambda: x.to(torch.ones(1))}
        layouts: Dict[str, bool] = {}
        for name, call in calls.items():
            with BRIDGE.recording() as recording:
                call()
            layouts[name] = "torch.strided" in recording.op("aten::to").scalars.values()
        self.assertEqual({"moves": True, "converts": False, "both": False, "as": False}, layouts)

    def test_dtypes_are_named_as_python_names_them(self) -> None:
        dtypes = [getattr(torch, name) for name in ("uint8", "int64", "float16", "bfloat16", "float64", "complex64", "bool", "float8_e4m3fn", "float8_e5m2")]
        x = torch.ones(2)
        with BRIDGE.recording() as recording:
            for dtype in dtypes:
                x.to(dtype)
        self.assertEqual([str(dtype) for dtype in dtypes], [op.scalars[1] for op in recording.ops if op.name == "aten::to" and op.depth == 0])

    def test_conversions_without_effect_appear(self) -> None:
        x = torch.ones(2, 2)
        with BRIDGE.recording() as recording:
            self.assertIs(x.float(), x)
            F.dropout(x, 0.1, training=False)
        self.assertEqual((["aten::to", "aten::dropout"], []), (recording.names(), recording.op("aten::to").children))

    def test_an_op_that_fails_ends_too(self) -> None:
        with BRIDGE.recording() as recording:
            with self.assertRaises(RuntimeError):
                torch.ones(2, 3) @ torch.ones(4, 5)
        self.assertTrue(all(op.ended for op in recording.ops))
        self.assertEqual([], recording.op("aten::mm").outputs)

    def test_threads_do_not_mix(self) -> None:
        def work() -> None:
            for _ in range(200):
                (torch.ones(3, requires_grad=True) * 2).sum().backward()

        threads = [threading.Thread(target=work) for _ in range(4)]
        with BRIDGE.recording() as recording:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        by_thread: Dict[int, List[str]] = {}
        for op in recording.ops:
            self.assertTrue(op.ended)
            if op.depth == 0 and op.scope == 0:
                by_thread.setdefault(op.thread, []).append(op.name)
        workers = [names for names in by_thread.values() if "aten::mul" in names]
        self.assertEqual(4, len(workers))
        self.assertTrue(all(names.count("aten::mul") == 200 for names in workers))

    def test_nothing_is_recorded_when_off(self) -> None:
        with BRIDGE.recording(ops=False) as recording:
            torch.ones(3) * 2
        self.assertEqual([], recording.ops)


class GraphTest(unittest.TestCase):
    def test_nodes_and_edges_are_those_of_the_graph(self) -> None:
        training = Training()
        loss = training.loss()
        expected: Dict[str, int] = {}
        edges = 0
        seen, todo = set(), [loss.grad_fn]
        leaves = set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            expected[node.name()] = expected.get(node.name(), 0) + 1
            for following, _ in node.next_functions:
                if following is not None:
                    edges += 1
                    todo.append(following)
                    if hasattr(following, "variable"):
                        leaves.add(following.variable._cdata)
        with BRIDGE.recording() as recording:
            loss.backward()
        got: Dict[str, int] = {}
        for node in recording.nodes:
            got[node.name] = got.get(node.name, 0) + 1
            self.assertTrue(node.ended)
        self.assertEqual(expected, got)
        recorded_edges = [edge for node in recording.nodes for edge in node.edges if edge[0] != 0]
        self.assertEqual(edges, len(recorded_edges))
        self.assertEqual(leaves, {edge[2] for edge in recorded_edges} - {0})
        self.assertEqual(leaves, {p._cdata for p in training.model.parameters()})
        addresses = {node.address for node in recording.nodes}
        self.assertTrue(all(edge[0] in addresses for edge in recorded_edges))

    def test_edges_stand_in_the_order_of_the_operands(self) -> None:
        weight = torch.ones(3, 2, requires_grad=True)
        loss = torch.addmm(torch.ones(2), torch.ones(4, 3), weight).sum()
        with BRIDGE.recording() as recording:
            loss.backward()
        (addmm,) = [node for node in recording.nodes if node.name == "AddmmBackward0"]
        self.assertEqual([0, 0, weight._cdata], [edge[2] for edge in addmm.edges])
        self.assertEqual([0, 0], [edge[0] for edge in addmm.edges[:2]])

    def test_a_backward_op_has_the_sequence_number_of_its_forward_op(self) -> None:
        x = torch.ones(3, requires_grad=True)
        with BRIDGE.recording() as recording:
            torch.sigmoid(x).sum().backward()
        forward, backward = recording.op("aten::sigmoid"), recording.op("SigmoidBackward0")
        self.assertEqual((forward.sequence, 1), (backward.sequence, backward.scope))
        self.assertNotEqual(0, backward.forward_thread)
        self.assertEqual([(3,)], [o.shape for o in backward.inputs])
        self.assertEqual(NO_SEQUENCE, recording.op("torch::autograd::AccumulateGrad").sequence)


class PythonStackTest(unittest.TestCase):
    def relu(self) -> Tensor:
        return torch.ones(3).relu()

    def test_outermost_ops_know_where_they_were_called(self) -> None:
        with BRIDGE.recording() as recording:
            self.relu()
        stack = recording.op("aten::relu").stack
        line = self.relu.__code__.co_firstlineno + 1
        self.assertRegex(stack[-1], rf"relu \(.*bridge_test\.py:{line}\)$")
        self.assertRegex(stack[0], r"^<module> \(.*bridge_test\.py:\d+\)$")
        self.assertEqual(len(traceback.extract_stack()) + 1, len(stack))
        self.assertEqual([], recording.op("aten::clamp_min").stack)

    def test_an_exception_on_its_way_stays(self) -> None:
        class Runs:
            def __del__(self) -> None:
                torch.ones(2).relu()

        with BRIDGE.recording() as recording:
            with self.assertRaisesRegex(ValueError, "mine"):
                keep = Runs()
                try:
                    raise ValueError("mine")
                finally:
                    del keep
        self.assertNotEqual([], recording.op("aten::relu").stack)


class ItsTorch(unittest.TestCase):
    def test_another_torch_than_the_recorder_found_is_refused(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "does not fit"):
            Bridge(expected_bytes=torch_bytes() + 1)


if __name__ == "__main__":
    unittest.main()
