// SPDX-License-Identifier: Apache-2.0
// One shared library or program that is loaded in this process (a "loaded object"), read from its mapped ELF
// structures. Finds symbols, and the slots through which the object calls other objects.
//
// Why not dlsym: dlsym takes the loader's lock, which another thread may hold while this thread holds an
// allocator's mutex. dl_iterate_phdr takes only the lock on the list of objects. In addition, RTLD_NEXT does
// not find symbols of torch, because Python loads torch with RTLD_LOCAL.
//
// Layout: ELF gABI chapter 5 (dynamic section, relocations), GNU hash section as written by binutils.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace vramscope::injector {

class ElfImage {
 public:
  // Reads the structures of a loaded object. False if the object has no dynamic symbols (for example the
  // vdso).
  bool Read(const dl_phdr_info& info);

  const char* name() const { return name_; }
  uintptr_t base() const { return base_; }
  bool Contains(const void* address) const;
  // Returns the address of a symbol that this object defines, or nullptr. Stores the symbol's size in
  // `*bytes` unless `bytes` is nullptr.
  void* Find(const char* symbol, size_t* bytes = nullptr) const;
  // Returns the name of the exported function at this address, or nullptr. Takes time proportional to the
  // number of symbols.
  const char* FunctionAt(const void* address) const;
  // Copies the first bytes of the build id, at most `most`. Returns the number of copied bytes; 0 if the
  // object has no build id.
  size_t BuildId(unsigned char* bytes, size_t most) const;
  // True if the object is linked to a library whose name (DT_NEEDED) begins with `prefix`.
  bool Needs(const char* prefix) const;
  // True if the loader made this address read-only.
  bool IsReadOnlyAfterRelocation(const void* address) const;

  // Calls visit(slot, symbol name) for every slot that the loader fills with the address of a symbol. The
  // slots have relocations JUMP_SLOT, GLOB_DAT, or an absolute 64-bit relocation without addend (in vtables).
  template <typename Visit>
  void ForEachSlot(Visit visit) const {
    VisitTable(plt_relocations_, plt_relocation_count_, visit);
    VisitTable(relocations_, relocation_count_, visit);
  }

 private:
  template <typename Visit>
  void VisitTable(const ElfW(Rela) * table, size_t count, Visit& visit) const {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t symbol = ELF64_R_SYM(table[i].r_info);
      if (symbol == 0 || !FillsSlot(static_cast<uint32_t>(ELF64_R_TYPE(table[i].r_info))) ||
          table[i].r_addend != 0)
        continue;
      visit(reinterpret_cast<void**>(base_ + table[i].r_offset), strings_ + symbols_[symbol].st_name);
    }
  }
  static bool FillsSlot(uint32_t relocation_type);
  uintptr_t Absolute(uintptr_t address) const { return address < base_ ? base_ + address : address; }
  void ReadDynamic(const ElfW(Dyn) * dynamic);
  const ElfW(Sym) * Lookup(const char* symbol) const;
  size_t SymbolCount() const;

  const char* name_ = "";
  uintptr_t base_ = 0;
  const ElfW(Phdr) * headers_ = nullptr;
  size_t header_count_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const ElfW(Rela) * relocations_ = nullptr;
  size_t relocation_count_ = 0;
  const ElfW(Rela) * plt_relocations_ = nullptr;
  size_t plt_relocation_count_ = 0;
  uintptr_t relro_begin_ = 0;
  uintptr_t relro_end_ = 0;
};

// Calls visit(image) for every loaded object except this library, in load order, until visit returns false.
// No object is unloaded during the walk. `visit` must not load objects.
using VisitImage = bool (*)(const ElfImage& image, void* argument);
void ForEachImage(VisitImage visit, void* argument);

// True for addresses in this library's own code.
bool IsOwnCode(const void* address);

// Returns the first definition of a symbol outside this library, or nullptr. Stores its size in `*bytes`
// unless `bytes` is nullptr.
void* FindSymbol(const char* symbol, size_t* bytes = nullptr);

}  // namespace vramscope::injector
