// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/comparisons.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "injector/simulated_cuda/runtime/call.h"
#include "injector/simulated_cuda/runtime/registry.h"

namespace vramscope::simulated {
namespace {

enum class Kind {
  kOther,
  kEqualsNumber,  // also "is not equal to"
  kEqualsTensor,
  kEqualsBoolean,  // two booleans
  kOrder,          // >=, >, <=, < a number
  kFillBoolean,
};

struct Comparison {
  Kind kind = Kind::kOther;
  char type = 0;     // of the elements, as in a mangled name; 'H' for 16-bit floats
  size_t width = 0;  // of an element
};

const char* After(const char* text, const char* part) {
  const char* const found = std::strstr(text, part);
  return found != nullptr ? found + std::strlen(part) : nullptr;
}

Comparison Of(Kind kind, const char* type) {
  if (std::strncmp(type, "N3c104HalfE", 11) == 0 || std::strncmp(type, "N3c108BFloat16E", 15) == 0)
    return {kind, 'H', 2};
  for (const auto& [letters, width] :
       {std::pair("bah", 1), std::pair("st", 2), std::pair("ijf", 4), std::pair("lmd", 8)}) {
    if (*type != 0 && std::strchr(letters, *type) != nullptr)
      return {kind, *type, static_cast<size_t>(width)};
  }
  return {};  // not compared byte by byte
}

// Of elements as they are stored. The second is for values that do not lie at a multiple of 16 bytes, such as
// the last one of a row.
bool IsElementwise(const char* kernel) {
  return std::strstr(kernel, "29vectorized_elementwise_kernel") != nullptr ||
         (std::strstr(kernel, "27unrolled_elementwise_kernel") != nullptr &&
          std::strstr(kernel, "15LoadWithoutCast") != nullptr);
}

Comparison ComparisonOf(const char* kernel) {
  if (!IsElementwise(kernel)) return {};
  if (After(kernel, "11FillFunctorIbE") != nullptr) return {Kind::kFillBoolean, 'b', 1};
  if (const char* const type = After(kernel, "21compare_scalar_kernelI")) return Of(Kind::kOrder, type);
  if (std::strstr(kernel, "16CompareEqFunctorI") == nullptr) return {};
  if (const char* const type = After(kernel, "13AUnaryFunctorI")) return Of(Kind::kEqualsNumber, type);
  const char* const type = After(kernel, "13BinaryFunctorI");
  return type != nullptr ? Of(*type == 'b' ? Kind::kEqualsBoolean : Kind::kEqualsTensor, type) : Comparison{};
}

// Asked at every launch, so the answers are kept: looking up a name takes as long as half a launch.
Comparison KnownComparison(const void* kernel) {
  struct Known {
    const void* kernel;
    Comparison comparison;
  };
  constexpr size_t kKnown = 256;
  thread_local Known known[kKnown] = {};
  Known& entry = known[reinterpret_cast<uintptr_t>(kernel) / 16 % kKnown];
  if (entry.kernel != kernel) entry = {kernel, ComparisonOf(KernelName(kernel))};
  return entry.comparison;
}

template <typename Number>
double Read(const void* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return static_cast<double>(number);
}

double ValueOf(char type, const void* bytes) {
  switch (type) {
    case 'b':
    case 'h':
      return Read<uint8_t>(bytes);
    case 'a':
      return Read<int8_t>(bytes);
    case 's':
      return Read<int16_t>(bytes);
    case 't':
      return Read<uint16_t>(bytes);
    case 'i':
      return Read<int32_t>(bytes);
    case 'j':
      return Read<uint32_t>(bytes);
    case 'l':
      return Read<int64_t>(bytes);
    case 'm':
      return Read<uint64_t>(bytes);
    case 'f':
      return Read<float>(bytes);
    default:
      return Read<double>(bytes);
  }
}

// What is known of one byte that the last kernel of the thread left.
struct Answer {
  const void* at = nullptr;  // in device memory; nullptr = nothing is known
  bool written = false;      // what is there
  bool of_all = false;       // what all() makes of it
  bool of_one = false;       // with 1 for what a kernel would have computed
};
thread_local Answer last;
thread_local bool filled_true = false;

bool IsZero(const void* bytes, size_t width) {
  constexpr unsigned char kZeros[8] = {};
  return std::memcmp(bytes, kZeros, width) == 0;
}

bool InOrder(int operation, double a, double b) {
  enum { kGreaterOrEqual, kGreater, kLessOrEqual, kLess };
  switch (operation) {
    case kGreaterOrEqual:
      return a >= b;
    case kGreater:
      return a > b;
    case kLessOrEqual:
      return a <= b;
    default:
      return a < b;
  }
}

// The arguments are the count; the operator (0: ==, 1: !=; or as InOrder has it) with the number behind it,
// if it is one; the addresses of the result, x and y. The operator has 4 bytes and the number is aligned to
// its width.
struct Operands {
  int operation = 0;
  const void* number = nullptr;
  void* const* addresses = nullptr;

  Operands(void* const* arguments, size_t width) {
    const auto* const functor = static_cast<const char*>(arguments[1]);
    std::memcpy(&operation, functor, sizeof(operation));
    number = functor + (width > sizeof(operation) ? width : sizeof(operation));
    addresses = static_cast<void* const*>(arguments[2]);
  }
};

void Write(void* result, bool value) {
  TheDriver()->vramscope_simulated_write(result, &value, sizeof(value));
}

Answer EqualsNumber(const Operands& of, const Comparison& comparison) {
  const bool unequal = of.operation != 0, computed = IsZero(of.addresses[1], comparison.width);
  const bool is = (std::memcmp(of.addresses[1], of.number, comparison.width) == 0) != unequal;
  Write(of.addresses[0], is);
  const bool one = comparison.type == 'H' ? unequal : (ValueOf(comparison.type, of.number) == 1) != unequal;
  return {of.addresses[0], is, computed || is, computed ? one : is};
}

Answer EqualsTensor(const Operands& of, const Comparison& comparison) {
  const bool is =
      (std::memcmp(of.addresses[1], of.addresses[2], comparison.width) == 0) != (of.operation != 0);
  Write(of.addresses[0], is);
  return {of.addresses[0], is, is, is};
}

// What it compares is left as it is read: false.
Answer InOrderOfNumber(const Operands& of, const Comparison& comparison) {
  if (comparison.type == 'H') return {};
  const double number = ValueOf(comparison.type, of.number), x = ValueOf(comparison.type, of.addresses[1]);
  const bool is = InOrder(of.operation, x == 0 ? 1 : x, number);
  return {of.addresses[0], false, false, is};
}

Answer AnswerOf(const Comparison& comparison, void* const* arguments) {
  const Answer before = last;
  const Operands of(arguments, comparison.width);
  switch (comparison.kind) {
    case Kind::kEqualsNumber:
      return EqualsNumber(of, comparison);
    case Kind::kEqualsTensor:
      return EqualsTensor(of, comparison);
    case Kind::kOrder:
      return InOrderOfNumber(of, comparison);
    default:  // is it true?
      if (before.at == nullptr || before.at != of.addresses[1]) return {};
      return {of.addresses[0], false, before.of_one, before.of_one};
  }
}

}  // namespace

void NoteComparison(const void* kernel, void* const* arguments) {
  const Comparison comparison = arguments != nullptr ? KnownComparison(kernel) : Comparison{};
  const bool single = comparison.kind != Kind::kOther && *static_cast<const int*>(arguments[0]) == 1;
  filled_true = false;
  if (comparison.kind == Kind::kFillBoolean && single) {
    // Of the ones that "is it true?" compares with, or of an answer about nothing. Not written: what a kernel
    // makes of the byte later would not be seen.
    filled_true = *static_cast<const bool*>(arguments[1]);
    return;
  }
  last = single && TheDriver() != nullptr ? AnswerOf(comparison, arguments) : Answer{};
}

bool LastLaunchComparedTrue() { return last.at != nullptr && last.written; }
bool LastLaunchFilledTrue() { return filled_true; }

void NoteDeviceCopy(void* to, const void* from, size_t bytes) {
  if (bytes == 1 && last.at != nullptr && from == last.at) Write(to, last.of_all);
}

}  // namespace vramscope::simulated
