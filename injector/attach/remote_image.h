// SPDX-License-Identifier: Apache-2.0
// An ELF object (program or shared library) that another process has loaded. Finds the addresses of its
// symbols.
//
// The object is read from the process's memory. The object's file is not read: the file may have been
// replaced, or lie in a container. Sources of the layout: ELF gABI chapter 5, and binutils for the GNU hash
// section.
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
  // `base`: address of the object's ELF header. Returns std::nullopt if there is no ELF header at `base`, or
  // if the object has no GNU hash table.
  static std::optional<RemoteImage> Read(pid_t pid, uint64_t base);

  // Returns the address of the function or variable `symbol`; 0 if this object does not define `symbol`, or
  // defines it as an IFUNC. If `bytes` is not nullptr, sets `*bytes` to the symbol's size.
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

// Returns the base address of each mapped file whose name begins with one of `prefixes` ("libc.so",
// "libc-2.").
std::vector<uint64_t> BasesOf(const std::vector<Mapping>& mappings,
                              std::initializer_list<std::string_view> prefixes);

// Searches the files that BasesOf() returns. Returns the address of `symbol` in the first file that defines
// `symbol`; 0 if no file defines it.
uint64_t FindIn(pid_t pid, const std::vector<Mapping>& mappings,
                std::initializer_list<std::string_view> prefixes, std::string_view symbol,
                uint64_t* bytes = nullptr);

}  // namespace vramscope::attach
