// SPDX-License-Identifier: Apache-2.0
// Finds the names of functions that a library does not export. The names come from the library's symbol table
// and are read when the trace is opened.
//
//   recorded   /opt/app/libnet.so+0x1f20 [3b9ac9ff6dd8e2a1]      path, offset, first bytes of the build id
//   shown      net::Pool::Take() (libnet.so+0x1f20)              .symtab has a function at the offset
//              libnet.so+0x1f20                                  no such function, or another build
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::model {

// A native frame without a symbol, as it is recorded.
struct UnnamedFrame {
  std::string_view path;
  std::string_view library;  // file name of `path`
  std::string_view place;    // "+0x1f20"
  std::string_view build;    // first bytes of the build id, in hex
  uint64_t offset = 0;       // number in `place`: a return address
};
[[nodiscard]] std::optional<UnnamedFrame> ParseUnnamedFrame(std::string_view text);

class SymbolFile {
 public:
  // Reads the symbol table, at most 64 MiB of it. Returns nothing unless `path` is a regular ELF file with
  // this build id and a symbol table.
  [[nodiscard]] static std::optional<SymbolFile> Open(const std::string& path, std::string_view build);

  // Returns the mangled name of the function that contains this address, or "" if there is none.
  [[nodiscard]] std::string_view NameAt(uint64_t address) const;
  [[nodiscard]] size_t bytes() const { return functions_.size() * sizeof(Function) + names_.size(); }

 private:
  struct Function {
    uint64_t begin = 0;
    uint32_t size = 0;
    uint32_t name = 0;  // offset in names_
  };
  std::vector<Function> functions_;  // in order of `begin`
  std::string names_;
};

class SymbolFiles {
 public:
  // Returns the text to show for a frame. The text contains the function's name if the library file has one.
  // Not thread-safe.
  [[nodiscard]] std::string Shown(const UnnamedFrame& frame);

 private:
  const SymbolFile* Find(const UnnamedFrame& frame);

  std::map<std::string, std::optional<SymbolFile>, std::less<>> files_;
  size_t kept_bytes_ = 0;
};

}  // namespace vramscope::model
