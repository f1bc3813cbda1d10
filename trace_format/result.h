// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or one sentence for the user that says what is wrong and what to do about it.
//
// Why our own sixty lines: everything that reads foreign bytes returns it, the injector's build must not need
// a library for it, and std::expected is C++23. There is no error code on purpose: callers check ok(), people
// read the sentence.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "trace_format/check.h"

namespace vramscope {

// What went wrong, as one finished sentence: "run.vms: cut off after 41 of 44 MiB. Record again for the
// rest."
struct Error {
  std::string sentence;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value. Only if ok(); reading the value of a failed result is a bug of ours.
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
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Only if !ok().
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
  [[nodiscard]] const Error& error() const {
    VRAMSCOPE_CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace vramscope
