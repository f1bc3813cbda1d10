// SPDX-License-Identifier: Apache-2.0
// Under autocast, what type the tensor has whose type a program asks for in x.to(y.dtype). The recording
// tells whether y is an argument of the module or a parameter, and which, or whether it is among what x was
// computed from:
//
//   def forward(self, y):           x.to(y.dtype), x.to(self.proj.weight.dtype): that of the block which was
//                                   told
//
//   query @ keys ─ softmax ─► x     x.to(query.dtype): that of the product's first factor
//
//   x ─ dropout ─ x @ values        x.to(values.dtype): that of what x is used with next
//
//   one_hot ─ x.type(y.dtype) @ y   of integers: that of the factor which they are multiplied with
//
//   r = rand(dtype=x.dtype)         the same of what is made from nothing: r.floor() stands for r, and of
//                                   x / 2 in r.floor() * (x / 2) it is known what it will be
//
//   x.float() ─ keys ─ keys @ state of state = zeros(dtype=keys.dtype): that of keys, of which the source
//                                   says that they are float32
#pragma once

#include <functional>
#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// c10::ScalarType of the first factor of the product that the block was computed from, or of what was there
// before `since`, when the call of the module began; 0 where nothing shows. `known_first`: Op::first.
[[nodiscard]] uint8_t TypeOfOrigin(const Step& step, const Versions& versions, uint32_t block, Position since,
                                   bool known_first = false);

// Of what the tensor that `op` converts is first used with, in the same call of a module; 0 where nothing
// shows. `calls`: by operator.
[[nodiscard]] uint8_t TypeMet(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                              uint32_t op, uint8_t low = 0);

// Whether what `op` makes from nothing or from integers is first used with something that is, or will be, of
// this low type, or the integers are multiplied with what was of it,
// and that no operator between, of which `widens` says that it makes its operand float, made something else.
[[nodiscard]] bool MeetsType(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                             uint8_t type, uint32_t op, uint32_t made,
                             const std::function<bool(uint32_t)>& widens);

// Whether `op` converts comparisons to the type of what they compare, which is this one: (x > 0).to(x.dtype).
[[nodiscard]] bool IsOfCompared(const Step& step, const Versions& versions,
                                const std::vector<uint32_t>& calls, uint8_t type, uint32_t op);

// The type that `op` is computed in, of what it is given (Versions::TypeAround). keys = cat([nothing, keys]);
// values = cat([nothing, values]): a cache made both nothings in the type of the keys.
[[nodiscard]] uint8_t PromotedBy(const Step& step, const Versions& versions, uint32_t op);

// Whether it is first used in a product of matrices, with nothing but floats that the program's source made
// float32: another type would be refused there.
[[nodiscard]] bool MultipliesFloat(const Step& step, const Versions& versions,
                                   const std::vector<uint32_t>& calls, uint32_t op, uint32_t made);

// Whether it is first filled with what the program itself made float32: zeros(sizes, dtype=images[0].dtype),
// which images are copied into that are padded to one size.
[[nodiscard]] bool TakesCopiesOfFloat(const Step& step, const Versions& versions,
                                      const std::vector<uint32_t>& calls, uint32_t op, uint32_t made);

// Whether it has the type of a module's argument, which was told and has become `type`, while what is
// converted is in float32.
[[nodiscard]] bool IsAskedInto(const Step& step, const Versions& versions, uint8_t type, uint32_t op);

// Whether it has the type of a parameter, which was told: nothing that the program converts.
[[nodiscard]] bool AsksForParameter(const Step& step, const Op& op);

// Of the tensor whose type `op` asks for; 0 where none was told, or nothing is known of it. Autocast's copy
// of a parameter is nothing that the program sees.
[[nodiscard]] uint8_t TypeOfTold(const Step& step, const Versions& versions, uint32_t op);

// Whether the conversion is that of torch.tensor(0.0, device=...), which moves numbers of the host's and
// returns them through lift_fresh() (internal_new_from_data and tensor_ctor in
// torch/csrc/utils/tensor_new.cpp).
[[nodiscard]] bool MakesTensor(const Step& step, uint32_t op);

// Whether what `op` converts goes into a loss as it is, but for its shape, and nothing is told of the call:
// logits.float() in a library's function. Nobody makes logits narrower for a loss.
[[nodiscard]] bool IsForLoss(const Step& step, uint32_t op);

// places(x.shape, x.device, x.dtype).to(x.dtype), of what a module makes from nothing: nothing shows x but
// that the function around it made it just before, mostly. Of what was made so; 0 where there is nothing.
[[nodiscard]] uint8_t TypeMadeLast(const Step& step, const Versions& versions,
                                   const std::vector<uint32_t>& calls, uint32_t op);

// Whichever of these the source says that `op` asks for; 0 where it says neither.
// `whole`: the model is in 16 bits, not under autocast: what is in float32 there the program itself made
// wide, wherever it comes. `low`: the type that products will make, of what is met and not made yet; 0: of
// that nothing is known.
[[nodiscard]] uint8_t TypeAskedFor(const Step& step, const Versions& versions,
                                   const std::vector<uint32_t>& calls, uint32_t op, bool whole = false,
                                   uint8_t low = 0);

}  // namespace vramscope::whatif
