// SPDX-License-Identifier: Apache-2.0
// An append-only array that is stored in chunks of equal size. Elements never move, and appending never
// copies them.
//
// A std::vector that grows needs memory for its old and its new array at the same time. Reading an element of
// a Chunked takes one load more than with a std::vector.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace vramscope::model {

template <typename T, unsigned kChunkBits = 14>
class Chunked {
 public:
  static constexpr size_t kChunk = size_t{1} << kChunkBits;

  Chunked() = default;
  Chunked(Chunked&&) noexcept = default;
  Chunked& operator=(Chunked&&) noexcept = default;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  T& operator[](size_t index) {
    assert(index < size_);
    return *At(index);
  }
  const T& operator[](size_t index) const {
    assert(index < size_);
    return *At(index);
  }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  T& push_back(const T& value) {
    if ((size_ & (kChunk - 1)) == 0)
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunk * sizeof(T)));
    return *new (At(size_++)) T(value);
  }

  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;
    Iterator() = default;
    Iterator(const Chunked* owner, size_t index) : owner_(owner), index_(index) {}
    const T& operator*() const { return (*owner_)[index_]; }
    const T* operator->() const { return &(*owner_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Chunked* owner_ = nullptr;
    size_t index_ = 0;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size_}; }

 private:
  // Elements are never destroyed. Therefore only types that need no destructor are allowed.
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  [[nodiscard]] T* At(size_t index) const {
    return reinterpret_cast<T*>(chunks_[index >> kChunkBits].get()) + (index & (kChunk - 1));
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  size_t size_ = 0;
};

}  // namespace vramscope::model
