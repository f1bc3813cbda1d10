#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roles of the arguments of a traced JAX program. The programs are made by hand from those parts of a jaxpr that our code reads: no JAX is needed."""

import sys
import unittest
from pathlib import Path
from types import SimpleNamespace as Thing
from typing import Any, List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from vramscope_core.native import Role  # noqa: E402
from vramscope_shim_jax.roles import NOTHING, Label, Roles  # noqa: E402

FORWARD, BACKWARD, PLAIN = "jvp(loss)", "transpose(jvp(loss))", ""


class Variable:
    def __init__(self, *shape: int) -> None:
        self.aval = Thing(shape=shape, dtype="float32")


def equation(stack: str, inputs: Sequence[Variable], outputs: Sequence[Variable], **params: Any) -> Any:
    return Thing(source_info=Thing(name_stack=stack), invars=list(inputs), outvars=list(outputs), params=params)


def program(equations: List[Any], inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Any:
    return Thing(eqns=equations, invars=list(inputs), outvars=list(outputs))


class Step:
    """w' = w - m', m' = m + g, n' = n + 1, where g is the gradient of a loss of w and x."""

    def __init__(self) -> None:
        self.w, self.m, self.x = Variable(4, 2), Variable(4, 2), Variable(8, 4)
        self.n, self.loss, self.residual, self.g = Variable(), Variable(), Variable(8), Variable(4, 2)
        self.next_w, self.next_m, self.next_n = Variable(4, 2), Variable(4, 2), Variable()
        self.training = [equation(FORWARD, [self.w, self.x], [self.loss, self.residual]), equation(BACKWARD, [self.residual, self.x], [self.g])]
        self.update = [equation(PLAIN, [self.m, self.g], [self.next_m]), equation(PLAIN, [self.w, self.next_m], [self.next_w]),
                       equation(PLAIN, [self.n], [self.next_n])]

    def whole(self, equations: List[Any]) -> Any:
        return program(equations, [self.w, self.n, self.m, self.x], [self.next_w, self.next_n, self.next_m, self.loss])


NAMES = ["params['w']", "state.count", "state.m['w']", "x"]
RESULTS = ["result[0]['w']", "result[1].count", "result[1].m['w']", "result[2]"]
EXPECTED = [(Role.PARAMETER, "params.w"), (Role.OPTIMIZER_STATE, "state.count"), (Role.OPTIMIZER_STATE, "state.m of params.w"), (Role.INPUT, "x")]


class RolesTest(unittest.TestCase):
    def test_a_step_that_updates(self) -> None:
        step = Step()
        roles = Roles(step.whole(step.training + step.update), NAMES, RESULTS)
        self.assertTrue(roles.trains)
        self.assertEqual([tuple(label) for label in roles.arguments], EXPECTED)
        self.assertEqual([tuple(label) for label in roles.results], [*EXPECTED[:3], (0, "")])

    def test_an_update_in_a_program_of_its_own_within_the_step(self) -> None:
        step, inner = Step(), Step()
        update = program(inner.update, [inner.w, inner.n, inner.m, inner.g], [inner.next_w, inner.next_n, inner.next_m])
        call = equation(PLAIN, [step.w, step.n, step.m, step.g], [step.next_w, step.next_n, step.next_m], jaxpr=Thing(jaxpr=update))
        roles = Roles(step.whole([*step.training, call]), NAMES, RESULTS)
        self.assertEqual([tuple(label) for label in roles.arguments], EXPECTED)

    def test_a_program_that_returns_gradients(self) -> None:
        step = Step()
        roles = Roles(program(step.training, [step.w, step.x], [step.loss, step.g]), ["params['w']", "x"], ["result[0]", "result[1]['w']"])
        self.assertEqual([tuple(label) for label in roles.arguments], [(Role.PARAMETER, "params.w"), (Role.INPUT, "x")])
        self.assertEqual([tuple(label) for label in roles.results], [(0, ""), (Role.GRADIENT, "params.w")])

    def test_names_decide_nothing(self) -> None:
        step = Step()
        names = ["opt['w']", "weights.count", "weights.m['w']", "params"]
        roles = Roles(step.whole(step.training + step.update), names, RESULTS)
        self.assertEqual([label.role for label in roles.arguments], [role for role, _ in EXPECTED])

    def test_an_update_in_a_function_of_its_own(self) -> None:
        step = Step()
        update = program(step.update, [step.g, step.n, step.m, step.w], [step.next_w, step.next_n, step.next_m])
        names = ["grads['w']", "state.count", "state.m['w']", "p['w']"]
        known = [Label(Role.GRADIENT, "params.w"), NOTHING, NOTHING, Label(Role.PARAMETER, "params.w")]
        roles = Roles(update, names, RESULTS[:3], known)
        self.assertEqual((roles.trains, roles.updates), (False, True))
        self.assertEqual([tuple(label) for label in roles.arguments], [(Role.GRADIENT, "params.w"), *EXPECTED[1:3], EXPECTED[0]])
        self.assertEqual([tuple(label) for label in roles.results], EXPECTED[:3])

    def test_a_sum_of_gradients_is_no_update(self) -> None:
        total, g, next_total = Variable(4, 2), Variable(4, 2), Variable(4, 2)
        add = program([equation(PLAIN, [total, g], [next_total])], [total, g], [next_total])
        roles = Roles(add, ["total['w']", "grads['w']"], ["result['w']"], [NOTHING, Label(Role.GRADIENT, "params.w")])
        self.assertFalse(roles.updates)
        self.assertEqual([tuple(label) for label in roles.arguments + roles.results], [(Role.GRADIENT, "params.w")] * 3)

    def test_a_program_that_does_not_train_has_no_roles(self) -> None:
        step = Step()
        roles = Roles(program(step.update, [step.w, step.n, step.m, step.g], [step.next_w, step.next_n, step.next_m]), NAMES, RESULTS[:3])
        self.assertFalse(roles.trains)
        self.assertEqual({label.role for label in roles.arguments + roles.results}, {0})


if __name__ == "__main__":
    unittest.main()
