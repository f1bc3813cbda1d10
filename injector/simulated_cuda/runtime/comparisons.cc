// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/comparisons.h"

#include <cmath>
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
  kOrderOfTensors,
  kFillBoolean,
};

constexpr char kHalf = 'H', kBFloat16 = 'B';

struct Comparison {
  Kind kind = Kind::kOther;
  char type = 0;       // of the elements, as in a mangled name; kHalf and kBFloat16
  size_t width = 0;    // of an element
  bool casts = false;  // elements are stored in other types
};

const char* After(const char* text, const char* part) {
  const char* const found = std::strstr(text, part);
  return found != nullptr ? found + std::strlen(part) : nullptr;
}

Comparison Of(Kind kind, const char* type) {
  if (std::strncmp(type, "N3c104HalfE", 11) == 0) return {kind, kHalf, 2};
  if (std::strncmp(type, "N3c108BFloat16E", 15) == 0) return {kind, kBFloat16, 2};
  for (const auto& [letters, width] :
       {std::pair("bah", 1), std::pair("st", 2), std::pair("ijf", 4), std::pair("lmd", 8)}) {
    if (*type != 0 && std::strchr(letters, *type) != nullptr)
      return {kind, *type, static_cast<size_t>(width)};
  }
  return {};  // not compared byte by byte
}

// How a kernel reads elements: as they are stored, or converted from the types in its sixth argument. The
// unrolled one also handles values that are not at a multiple of 16 bytes.
enum class Loads { kNone, kAsStored, kWithCast };

Loads LoadsOf(const char* kernel) {
  if (std::strstr(kernel, "29vectorized_elementwise_kernel") != nullptr) return Loads::kAsStored;
  if (std::strstr(kernel, "27unrolled_elementwise_kernel") == nullptr) return Loads::kNone;
  if (std::strstr(kernel, "15LoadWithoutCast") != nullptr) return Loads::kAsStored;
  return std::strstr(kernel, "12LoadWithCast") != nullptr ? Loads::kWithCast : Loads::kNone;
}

Comparison KindOf(const char* kernel) {
  if (After(kernel, "11FillFunctorIbE") != nullptr) return {Kind::kFillBoolean, 'b', 1};
  if (const char* const type = After(kernel, "21compare_scalar_kernelI")) return Of(Kind::kOrder, type);
  if (const char* const type = After(kernel, "14CompareFunctorI")) return Of(Kind::kOrderOfTensors, type);
  if (std::strstr(kernel, "16CompareEqFunctorI") == nullptr) return {};
  if (const char* const type = After(kernel, "13AUnaryFunctorI")) return Of(Kind::kEqualsNumber, type);
  const char* const type = After(kernel, "13BinaryFunctorI");
  return type != nullptr ? Of(*type == 'b' ? Kind::kEqualsBoolean : Kind::kEqualsTensor, type) : Comparison{};
}

Comparison ComparisonOf(const char* kernel) {
  const Loads loads = LoadsOf(kernel);
  if (loads == Loads::kNone) return {};
  Comparison comparison = KindOf(kernel);
  comparison.casts = loads == Loads::kWithCast;
  if (comparison.casts && (comparison.kind == Kind::kEqualsBoolean || comparison.kind == Kind::kFillBoolean))
    return {};
  return comparison;
}

// Called at every launch, so the answers are cached: looking up a name takes as long as half a launch.
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

// The 16 bits are the upper ones of a float.
double BFloat16Value(uint16_t bits) {
  const uint32_t whole = uint32_t{bits} << 16;
  return Read<float>(&whole);
}

// IEEE 754, binary16: sign, 5 bits of exponent, 10 of mantissa.
double HalfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  const double size = exponent == 0      ? std::ldexp(mantissa, -24)
                      : exponent != 0x1f ? std::ldexp(mantissa + 0x400, exponent - 25)
                      : mantissa != 0    ? std::nan("")
                                         : HUGE_VAL;
  return (bits & 0x8000) != 0 ? -size : size;
}

double ValueOf(char type, const void* bytes) {
  uint16_t sixteen = 0;
  switch (type) {
    case kHalf:
    case kBFloat16:
      std::memcpy(&sixteen, bytes, sizeof(sixteen));
      return type == kHalf ? HalfValue(sixteen) : BFloat16Value(sixteen);
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

// What is known about one byte that the last kernel of the thread left.
struct Answer {
  const void* at = nullptr;  // in device memory; nullptr = nothing is known
  bool written = false;      // the byte's value
  bool of_all = false;       // the result of all() over it
  bool of_one = false;       // the value with 1 for what a kernel would have computed
};
thread_local Answer last;
thread_local bool filled_true = false;

// A value that is compared, in its own type.
struct Operand {
  const void* at;
  char type;

  [[nodiscard]] double value() const { return ValueOf(type, at); }
};

bool IsInteger(char type) { return std::strchr("bahstijlm", type) != nullptr; }

bool AreEqual(const Operand& a, const Operand& b, size_t width) {
  // A double cannot hold all digits of 64 bits.
  if (a.type == b.type && IsInteger(a.type)) return std::memcmp(a.at, b.at, width) == 0;
  return a.value() == b.value();
}

// c10::ScalarType; 0 = none that is compared.
char TypeOf(int8_t scalar_type) {
  constexpr char kFirst[] = {'h', 'a', 's', 'i', 'l', kHalf, 'f', 'd'};
  constexpr int8_t kBool = 11, kBFloat16Code = 15, kUnsigned16 = 27;
  if (scalar_type >= 0 && scalar_type < static_cast<int8_t>(sizeof(kFirst))) return kFirst[scalar_type];
  if (scalar_type == kBool) return 'b';
  if (scalar_type == kBFloat16Code) return kBFloat16;
  return scalar_type >= kUnsigned16 && scalar_type < kUnsigned16 + 3 ? "tjm"[scalar_type - kUnsigned16]
                                                                     : '\0';
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

// Arguments: the count; the operator (0: ==, 1: !=; or in InOrder's encoding), followed by the number, if
// any; the addresses of the result, x and y. If elements are converted, the sixth has the stored types of x
// and y, one byte each. The operator has 4 bytes and the number is aligned to its width.
struct Operands {
  int operation = 0;
  void* result = nullptr;
  Operand x = {}, y = {};

  Operands(void* const* arguments, const Comparison& comparison) {
    constexpr int kAddresses = 2, kStoredTypes = 5;
    const auto* const functor = static_cast<const char*>(arguments[1]);
    const auto* const addresses = static_cast<void* const*>(arguments[kAddresses]);
    std::memcpy(&operation, functor, sizeof(operation));
    result = addresses[0];
    x = {addresses[1], comparison.type};
    const bool number = comparison.kind == Kind::kEqualsNumber || comparison.kind == Kind::kOrder;
    const size_t width = comparison.width;
    y = {number ? functor + (width > sizeof(operation) ? width : sizeof(operation)) : addresses[2],
         comparison.type};
    if (!comparison.casts) return;
    const auto* const types = static_cast<const int8_t*>(arguments[kStoredTypes]);
    x.type = TypeOf(types[0]);
    if (!number) y.type = TypeOf(types[1]);
  }
};

void Write(void* result, bool value) {
  TheDriver()->vramscope_simulated_write(result, &value, sizeof(value));
}

// `is`: the actual result; `of_one`: the result with 1 instead of x.
Answer AnswerWith(const Operands& of, bool is, bool of_one) {
  const bool computed = of.x.value() == 0;
  Write(of.result, is);
  return {of.result, is, computed || is, computed ? of_one : is};
}

Answer EqualsNumber(const Operands& of, const Comparison& comparison) {
  const bool unequal = of.operation != 0;
  return AnswerWith(of, AreEqual(of.x, of.y, comparison.width) != unequal, (of.y.value() == 1) != unequal);
}

Answer EqualsTensor(const Operands& of, const Comparison& comparison) {
  const bool is = AreEqual(of.x, of.y, comparison.width) != (of.operation != 0);
  Write(of.result, is);
  return {of.result, is, is, is};
}

Answer InOrderOf(const Operands& of) {
  const double y = of.y.value();
  return AnswerWith(of, InOrder(of.operation, of.x.value(), y), InOrder(of.operation, 1, y));
}

Answer AnswerOf(const Comparison& comparison, void* const* arguments) {
  const Answer before = last;
  const Operands of(arguments, comparison);
  if (of.x.type == 0 || of.y.type == 0) return {};
  switch (comparison.kind) {
    case Kind::kEqualsNumber:
      return EqualsNumber(of, comparison);
    case Kind::kEqualsTensor:
      return EqualsTensor(of, comparison);
    case Kind::kOrder:
    case Kind::kOrderOfTensors:
      return InOrderOf(of);
    default:  // is it true?
      if (before.at == nullptr || before.at != of.x.at) return {};
      return {of.result, false, before.of_one, before.of_one};
  }
}

}  // namespace

void NoteComparison(const void* kernel, void* const* arguments) {
  const Comparison comparison = arguments != nullptr ? KnownComparison(kernel) : Comparison{};
  const bool single = comparison.kind != Kind::kOther && *static_cast<const int*>(arguments[0]) == 1;
  filled_true = false;
  if (comparison.kind == Kind::kFillBoolean && single) {
    // The ones that "is it true?" compares with, or an answer about nothing. Not written: later changes of
    // the byte by a kernel would not be seen.
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
