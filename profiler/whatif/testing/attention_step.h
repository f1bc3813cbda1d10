// SPDX-License-Identifier: Apache-2.0
// Attention of 2 samples, 4 heads, 64 rows of 32 floats, written down by hand: as products, and as a call of
// the memory-efficient kernel.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {

inline constexpr uint64_t kQuery = 2 * 4 * 64 * 32 * 4;   // bytes of queries, of keys, of values
inline constexpr uint64_t kScores = 2 * 4 * 64 * 64 * 4;  // of each row with each
inline constexpr Position kNodesEnd = 139;

struct Network {
  enum class Kind { kProducts, kMasked, kTrainedMask, kEfficient, kDropout, kShared };

  explicit Network(Kind kind) : kind_(kind), into_(Bare(), {}) {
    into_.SetElements(6);
    const uint64_t keys = kind == Kind::kShared ? kQuery / 2 : kQuery;
    query = Block(kQuery, 2, 40), key = Block(keys, 3, 40), value = Block(keys, 4, 40);
    kind >= Kind::kEfficient ? Function() : Products();
    gradient_of_value = Block(keys, 112, 190);
    gradient_of_key = Block(keys, 132, 191), gradient_of_query = Block(kQuery, 133, 192);
    step = std::move(into_).Finish();
  }

  static Step Bare() {
    Step bare;
    bare.length = 300;
    bare.shapes.push_back({});
    bare.backward.push_back({100, 200});
    bare.optimizer.push_back({200, 300});
    return bare;
  }

  uint32_t Block(uint64_t bytes, Position begin, Position end) {
    StepBlock made;
    made.id = static_cast<model::BlockId>(into_.step().blocks.size());
    made.requested = bytes;
    made.begin = begin;
    made.end = end;
    made.category = classify::Category::kTemporaryForward;
    return into_.AddBlock(made);
  }

  Operand Heads(uint32_t block, int64_t rows, int64_t width, int64_t heads = 4) {
    Operand operand = into_.Matrix(block, rows, width);
    operand.shape = into_.ShapeOf({2, heads, rows, width});
    operand.strides = into_.ShapeOf({heads * rows * width, rows * width, width, 1});
    operand.flags = 0;
    return operand;
  }

  uint32_t Call(const char* name, Position at, Position end, std::vector<Operand> from, const Operand& to,
                uint32_t parent = model::kNone) {
    const uint32_t op = into_.Begin(name, parent, model::kNone, at, std::move(from));
    into_.End(op, end, {to});
    return op;
  }

  void Differentiate(uint32_t op, Position made, Position begin, const std::vector<uint32_t>& saved) {
    const uint32_t node = into_.AddNode(op, made);
    into_.step().nodes[node].begin = begin;
    into_.step().nodes[node].end = begin + 9;
    for (const uint32_t block : saved) {
      into_.Save(block, node, made);
      into_.step().saved.back().released = begin + 8;
      into_.step().blocks[block].end = begin + 8.5;
    }
    const uint32_t run = into_.Begin("Backward", model::kNone, node, begin + 1, {});
    into_.End(run, begin + 7, {});
  }

  void Products() {
    uint32_t scores = Block(kScores, 12, 21);
    Call("aten::matmul", 10, 15, {Heads(query, 64, 32), Heads(key, 32, 64)}, Heads(scores, 64, 64));
    if (kind_ != Kind::kProducts) {
      const uint32_t mask = Block(64 * 64 * 4, 5, 45), masked = Block(kScores, 17, 21);
      Operand added = into_.Matrix(mask, 64, 64);
      added.flags = kind_ == Kind::kTrainedMask ? static_cast<uint8_t>(trace::kTensorRequiresGrad) : 0;
      Call("aten::add", 16, 19, {Heads(scores, 64, 64), added}, Heads(masked, 64, 64));
      scores = masked;
    }
    const uint32_t weights = Block(kScores, 22, 40);
    Call("aten::softmax", 20, 29, {Heads(scores, 64, 64)}, Heads(weights, 64, 64));
    output = Block(kQuery, 32, 50);
    Call("aten::matmul", 30, 39, {Heads(weights, 64, 64), Heads(value, 64, 32)}, Heads(output, 64, 32));
    Differentiate(0, 11, 130, {query, key});
    Differentiate(1, 25, 120, {weights});
    Differentiate(2, 31, 110, {weights, value});
  }

  void Function() {
    const uint32_t seed = Block(8, 31, 45);
    output = Block(kQuery, 32, 50);
    const uint32_t sums = Block(2 * 4 * 64 * 4, 33, 45);
    const int64_t heads = kind_ == Kind::kShared ? 2 : 4;
    const std::vector<Operand> given = {Heads(query, 64, 32), Heads(key, 64, 32, heads),
                                        Heads(value, 64, 32, heads)};
    const uint32_t call = Call("aten::scaled_dot_product_attention", 10, 39, given, Heads(output, 64, 32));
    const uint32_t kernel = into_.Begin("aten::_efficient_attention_forward", call, model::kNone, 12, given);
    into_.End(kernel, 38,
              {Heads(output, 64, 32), into_.Matrix(sums, 8, 64),
               into_.Matrix(kind_ == Kind::kDropout ? model::kNone : seed, 1, 1)});
    Differentiate(call, 11, 130, {query, key, value, sums, output});
    Position& begin = into_.step().nodes.back().begin;
    begin = 110;
  }

  [[nodiscard]] Result<Step> With(const char* kernel) const {
    return *AttentionLever().Rewrite(step, kernel);
  }

  uint32_t query, key, value, output, gradient_of_value, gradient_of_key, gradient_of_query;
  Step step;

 private:
  const Kind kind_;
  Inserter into_;
};

}  // namespace vramscope::whatif
