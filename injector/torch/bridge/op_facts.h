// SPDX-License-Identifier: Apache-2.0
// Records one call of an operator: its name, operands, and the scalar arguments that affect shapes, dims or
// dtypes.
//
// Only the operator's schema distinguishes a dtype, a layout and a memory format, because all three arrive as
// int. PyTorch copies the schema at every read. Therefore each thread caches the schema by the address of the
// operator's name. The name of an entry without a schema (torch.compile, RECORD_FUNCTION) is a temporary
// string; OpTable detects when another name reuses the address. Sources: ATen/record_function.h,
// ATen/core/ivalue.h, ATen/core/function_schema.h of torch 2.2.2, 2.6.0 and 2.15.0.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "injector/torch/bridge/host.h"
#include "injector/torch/bridge/tensor_facts.h"
#include "injector/torch/bridge/text_cache.h"

namespace vramscope::bridge {

// Kinds of arguments, from the type in the schema. kSwitch is a bool that is false or None by default (copy,
// pin_memory, keepdim).
enum class ArgumentKind : uint8_t { kPlain, kSwitch, kDtype, kMemoryFormat, kLayout, kScalar, kTensor };

// Facts about an operator, cached per thread.
struct OpFacts {
  std::string name;
  uint32_t name_id = 0;
  std::vector<ArgumentKind> arguments;  // kind of each argument; empty if there is no schema
  bool converts = false;                // aten::to
};

class OpTable {
 public:
  // Returns the facts about the operator. The result is valid until the next call of Find().
  const OpFacts& Find(const at::RecordFunction& function) {
    const char* name = function.name();
    if (by_name_.size() >= kMaxOps) by_name_.clear();  // some programs create new names without end
    OpFacts& facts = by_name_[name];
    if (facts.name_id == 0 || facts.name != name) facts = Learn(function, name);
    return facts;
  }

 private:
  static constexpr size_t kMaxOps = 8192;

  static OpFacts Learn(const at::RecordFunction& function, const char* name) {
    OpFacts facts{name, g_host->intern(name, std::strlen(name)), {}, std::strcmp(name, "aten::to") == 0};
    if (const auto schema = function.operator_schema()) {
      for (const c10::Argument& argument : schema->arguments()) facts.arguments.push_back(KindOf(argument));
    }
    return facts;
  }

  static ArgumentKind KindOf(const c10::Argument& argument) {
    const std::string type =
        argument.real_type()->str();  // as the schema writes it: "ScalarType?", "Scalar[]", "Tensor?[]"
    const auto starts_with = [&type](const char* word) { return type.rfind(word, 0) == 0; };
    if (starts_with("ScalarType")) return ArgumentKind::kDtype;
    if (starts_with("Scalar")) return ArgumentKind::kScalar;
    if (starts_with("MemoryFormat")) return ArgumentKind::kMemoryFormat;
    if (starts_with("Layout")) return ArgumentKind::kLayout;
    if (starts_with("Tensor")) return ArgumentKind::kTensor;
    const auto& preset = argument.default_value();
    if (starts_with("bool") && preset && (preset->isNone() || (preset->isBool() && !preset->toBool())))
      return ArgumentKind::kSwitch;
    return ArgumentKind::kPlain;
  }

  std::unordered_map<const char*, OpFacts> by_name_;
};

// Writes the arguments of one call.
class ArgumentWriter {
 public:
  ArgumentWriter(const OpFacts& facts, TextCache& texts) : facts_(facts), texts_(texts) {}

  void Write(c10::ArrayRef<const c10::IValue> arguments) {
    bool has_tensor = false;
    for (size_t i = 0; i < arguments.size(); ++i) has_tensor |= WriteTensors(arguments[i], i, 0);
    for (size_t i = 0; i < arguments.size(); ++i) WriteScalar(arguments[i], i, has_tensor);
  }

  // Emits the tensors in `value`. Returns true if there is at least one tensor.
  bool WriteTensors(const c10::IValue& value, size_t position, uint64_t flags) {
    if (value.isTensor()) {
      EmitTensor(value.unsafeToTensorImpl(), flags, trace::OperandPosition(position, 0), texts_);
      return true;
    }
    if (!value.isList()) return false;
    bool any = false;
    const c10::ArrayRef<c10::IValue> elements = value.toListRef();
    for (size_t k = 0; k < elements.size(); ++k) {
      if (!elements[k].isTensor()) continue;
      EmitTensor(elements[k].unsafeToTensorImpl(), flags, trace::OperandPosition(position, k + 1), texts_);
      any = true;
    }
    return any;
  }

 private:
  static constexpr size_t kMaxStringBytes = 64;  // "bij,bjk->bik", "same"; longer ones are not recorded

  // Writes one scalar argument. An argument of type Scalar determines a shape only in factory functions such
  // as arange, which take no tensor. In other operators, a Scalar is not recorded: it may differ in every
  // step and would fill the table of strings.
  void WriteScalar(const c10::IValue& value, size_t i, bool has_tensor) {
    const ArgumentKind kind = i < facts_.arguments.size() ? facts_.arguments[i] : ArgumentKind::kPlain;
    if (kind == ArgumentKind::kTensor || (kind == ArgumentKind::kScalar && has_tensor)) return;
    const uint32_t text = value.isList() ? ListText(value.toListRef()) : ScalarText(value, kind);
    if (text != 0) Emit<trace::EventType::kOpScalar>(i, text);
  }

  // Returns the text id of a scalar, or 0 if the scalar does not affect shapes or types. Values without
  // effect are None, generators, doubles outside factory functions, devices, the strided layout, and switches
  // that are false. Omitting them saves 44 % of a training step's scalars. For aten::to, the layout is always
  // recorded, because x.to(device) passes a layout and x.to(dtype) does not.
  uint32_t ScalarText(const c10::IValue& value, ArgumentKind kind) {
    if (value.isInt()) {
      const bool strided = kind == ArgumentKind::kLayout && value.toInt() == 0 && !facts_.converts;
      return strided ? 0 : texts_.Id(IntKind(kind), value.toInt());
    }
    if (value.isBool()) {
      const bool off = kind == ArgumentKind::kSwitch && !value.toBool();
      return off ? 0 : texts_.Id(TextKind::kBool, value.toBool() ? 1 : 0);
    }
    if (value.isDouble() && kind == ArgumentKind::kScalar)
      return texts_.Id(TextKind::kDouble, Bits(value.toDouble()));
    if (value.isString() && value.toStringRef().size() <= kMaxStringBytes) {
      return g_host->intern(value.toStringRef().data(), value.toStringRef().size());
    }
    return 0;
  }

  static TextKind IntKind(ArgumentKind kind) {
    switch (kind) {
      case ArgumentKind::kDtype:
        return TextKind::kDtype;
      case ArgumentKind::kMemoryFormat:
        return TextKind::kMemoryFormat;
      case ArgumentKind::kLayout:
        return TextKind::kLayout;
      default:
        return TextKind::kInt;
    }
  }

  // Returns the text id of a list of ints, bools or doubles, or 0 for other lists.
  uint32_t ListText(c10::ArrayRef<c10::IValue> elements) {
    TextKind kind = TextKind::kIntList;
    numbers_.clear();
    for (const c10::IValue& element : elements) {
      const TextKind element_kind = ElementKind(element);
      if (element_kind == TextKind::kUnused || (!numbers_.empty() && kind != element_kind)) return 0;
      kind = element_kind;
      numbers_.push_back(Number(element));
    }
    return texts_.Id(kind, numbers_.data(), numbers_.size());
  }

  static TextKind ElementKind(const c10::IValue& element) {
    if (element.isInt()) return TextKind::kIntList;
    if (element.isBool()) return TextKind::kBoolList;
    if (element.isDouble()) return TextKind::kDoubleList;
    return TextKind::kUnused;
  }

  static int64_t Number(const c10::IValue& element) {
    if (element.isInt()) return element.toInt();
    return element.isBool() ? element.toBool() : Bits(element.toDouble());
  }

  static int64_t Bits(double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }

  const OpFacts& facts_;
  TextCache& texts_;
  c10::SmallVector<int64_t, 8> numbers_;
};

}  // namespace vramscope::bridge
