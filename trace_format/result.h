// SPDX-License-Identifier: Apache-2.0
// Result<T>: either a value, or an error. An error has one sentence for the user, which tells what is wrong
// and what to do, and a kind, which decides the exit code of the command.
//
// Callers check ok() or use VRAMSCOPE_TRY. (std::expected needs C++23.)
//
//   Result<Report> Read(const std::string& path) {
//     const Bytes bytes = VRAMSCOPE_TRY(Open(path));                      // returns Open's error, if any
//     VRAMSCOPE_TRY(CheckHeader(bytes));                                  // a Status has no value
//     if (bytes.empty()) return Error{path + ": empty. Record again."};   // kind: input, exit code 2
//     if (!HasSteps(bytes)) return CannotJudge(path + ": has no step.");  // exit code 3
//     return PrefixError(path, Parse(bytes));                             // "run.vms: cut off after 41 MiB."
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "trace_format/check.h"

namespace vramscope {

// The kind of an error. cli/frame/verb.h maps each kind to an exit code.
enum class ErrorKind : uint8_t {
  kInput,        // a file or program is invalid or unusable (exit code 2)
  kUsage,        // the command line is invalid (exit code 2)
  kCannotJudge,  // the input is valid, but lacks data for an answer (exit code 3)
};

// The problem as one sentence: "run.vms: cut off after 41 of 44 MiB. Record again for the rest."
struct Error {
  std::string sentence;
  ErrorKind kind = ErrorKind::kInput;
};

inline Error UsageError(std::string sentence) { return {std::move(sentence), ErrorKind::kUsage}; }
inline Error CannotJudge(std::string sentence) { return {std::move(sentence), ErrorKind::kCannotJudge}; }

// Returns an error of the same kind with the sentence "WHERE: SENTENCE".
inline Error PrefixError(const std::string& where, const Error& error) {
  return {where + ": " + error.sentence, error.kind};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The functions that return the value may be called only if ok().
  T& value() & {
    VRAMSCOPE_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    VRAMSCOPE_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    VRAMSCOPE_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  // Moves the value out.
  T Take() { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // May be called only if !ok().
  [[nodiscard]] const Error& error() const {
    VRAMSCOPE_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void Take() const { VRAMSCOPE_CHECK(ok()); }
  [[nodiscard]] const Error& error() const {
    VRAMSCOPE_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

// If `result` is an error, PrefixError adds the prefix to its sentence, and CannotJudge changes its kind to
// kCannotJudge. Otherwise both return `result` unchanged.
template <typename T>
Result<T> PrefixError(const std::string& where, Result<T> result) {
  if (!result.ok()) return PrefixError(where, result.error());
  return result;
}
template <typename T>
Result<T> CannotJudge(Result<T> result) {
  if (!result.ok()) return CannotJudge(result.error().sentence);
  return result;
}

}  // namespace vramscope

// If the Result is an error, returns the error from the calling function. Otherwise the value of the macro is
// the value of the Result. Use the macro as a statement, or as the entire right side of an initialization or
// assignment. The macro needs statement expressions (gcc and clang).
#define VRAMSCOPE_TRY(...)                  \
  __extension__({                           \
    auto vramscope_tried = (__VA_ARGS__);   \
    if (!vramscope_tried.ok()) [[unlikely]] \
      return vramscope_tried.error();       \
    vramscope_tried.Take();                 \
  })
