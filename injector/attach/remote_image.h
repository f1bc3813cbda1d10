// SPDX-License-Identifier: Apache-2.0
// A loaded object of another process, read from its memory.
//
// Its file is not read: it may have been replaced, or lie in a container. Layout: ELF gABI chapter 5; GNU
// hash section as written by binutils.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {

class RemoteImage {
 public:
  // `base`: address of the object's ELF header. Nothing if there is no header or no GNU hash table.
  static std::optional<RemoteImage> Read(pid_t pid, uint64_t base);

  // The address of a function or variable that this object defines; 0 if there is none. `bytes`: set to the
  // size, if given. An IFUNC counts as not defined.
  [[nodiscard]] uint64_t Find(std::string_view symbol, uint64_t* bytes = nullptr) const;

 private:
  RemoteImage(pid_t pid, uint64_t base) : pid_(pid), base_(base) {}
  bool ReadHeaders();
  bool ReadDynamic(uint64_t address, uint64_t bytes);
  [[nodiscard]] uint64_t Absolute(uint64_t address) const {
    return address < bias_ ? bias_ + address : address;
  }
  template <typename T>
  bool Get(uint64_t address, T& value) const {
    return ReadMemory(pid_, address, &value, sizeof value);
  }
  [[nodiscard]] bool IsNamed(const Elf64_Sym& symbol, std::string_view name) const;

  pid_t pid_;
  uint64_t base_;
  uint64_t bias_ = 0;  // added to every address in the file
  uint64_t symbols_ = 0;
  uint64_t strings_ = 0;
  uint64_t hash_ = 0;
};

// Base addresses of mapped files whose names begin with one of `prefixes` ("libc.so", "libc-2."), one per
// file.
std::vector<uint64_t> BasesOf(const std::vector<Mapping>& mappings,
                              std::initializer_list<std::string_view> prefixes);

// The address of `symbol` in the first file, among those of BasesOf, that defines it; 0 if none.
uint64_t FindIn(pid_t pid, const std::vector<Mapping>& mappings,
                std::initializer_list<std::string_view> prefixes, std::string_view symbol,
                uint64_t* bytes = nullptr);

}  // namespace vramscope::attach
