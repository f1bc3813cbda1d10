// SPDX-License-Identifier: Apache-2.0
// Finds the address of each TensorFlow variable's memory, without calling Python.
//
// TensorFlow gives a variable a new buffer if it is assigned while the old buffer is being read. So in a
// traced step most parameters get new addresses. Reading an address through Python takes 16 us per variable.
// Reading it here takes about 10 ns, so all variables can be checked after every step.
//
//   EagerTensor (Python) ─► tensorflow::TensorHandle ─► tensorflow::Tensor
//     ─► TensorBuffer with a tensorflow::ResourceHandle ─► tensorflow::Var
//     ─► tensorflow::TensorBuffer, which has the address of the data at offset 16
//
// Each arrow is a pointer. The offsets of the pointers differ between releases, so they are searched for. A
// variable is followed only if the chain of pointers ends at the address that DLPack returns when the
// variable is added. Until that check, each word is read by a system call, so that a wrong offset cannot
// crash the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector::tensorflow {

struct VariableName {
  uint32_t role;    // trace::Role
  uint32_t source;  // trace::LabelSource
  uint32_t name;    // interned name
  uint64_t tensor;  // identifies the variable in the trace
};

// Follows a variable from now on. `handle` is its Python EagerTensor, and `address` is the address of its
// data. Returns the variable's 1-based number, or 0 if the variable cannot be followed. Records nothing. All
// functions except NoteFreed need the GIL.
uint32_t FollowVariable(const void* handle, uint64_t address, uint64_t bytes, const VariableName& name);

// Stops following the variable. Call this before its handle is released.
void ForgetVariable(uint32_t number);

// A variable that moved twice may have its old address again, although its block is new. To notice this, the
// addresses of freed blocks are remembered in a hash table with one byte per entry. A hash collision only
// causes a label to be recorded again.
inline constexpr uint64_t kFreedPlaces = 4096;
extern std::atomic<uint8_t> freed_since_look[kFreedPlaces];
inline std::atomic<uint8_t>& FreedPlace(uint64_t address) {
  return freed_since_look[(address >> 6) * 0x9e3779b97f4a7c15 >> 52];
}
// Call this for every freed block, from any thread.
inline void NoteFreed(const void* block) {
  FreedPlace(reinterpret_cast<uint64_t>(block)).store(1, std::memory_order_relaxed);
}

// Tells whether another thread may assign to a variable during LookAtVariables. With kMayAssign, a buffer may
// be deleted during the call. So buffers are read by a system call, which takes about 1 us per variable.
enum class Others : uint8_t { kNone, kMayAssign };

// Records a label for each variable that has a new block since the last call. If a variable gets a new block
// during the call, the next call labels it.
void LookAtVariables(Others others);

}  // namespace vramscope::injector::tensorflow
