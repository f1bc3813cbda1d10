// SPDX-License-Identifier: Apache-2.0
// NVRTC. Compiling always succeeds, and the resulting PTX and cubin are empty. nvrtcGetLoweredName returns
// its input unchanged.
#include <cstring>
#include <map>
#include <string>

#include "injector/simulated_cuda/abi.h"

namespace {

struct Program {
  std::map<std::string, std::string> names;  // keeps the texts that were handed out
};

int WriteEmpty(char* text) {
  if (text != nullptr) *text = '\0';
  return 0;
}

int SizeOfEmpty(size_t* bytes) {
  *bytes = 1;
  return 0;
}

}  // namespace

SIMULATED_EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
SIMULATED_EXPORT int nvrtcCreateProgram(Program** program) {
  *program = new Program;
  return 0;
}
SIMULATED_EXPORT int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
SIMULATED_EXPORT int nvrtcGetLoweredName(Program* program, const char* name, const char** lowered) {
  *lowered = program->names.emplace(name, name).first->second.c_str();
  return 0;
}
SIMULATED_EXPORT int nvrtcGetPTXSize(void*, size_t* bytes) { return SizeOfEmpty(bytes); }
SIMULATED_EXPORT int nvrtcGetPTX(void*, char* text) { return WriteEmpty(text); }
SIMULATED_EXPORT int nvrtcGetCUBINSize(void*, size_t* bytes) { return SizeOfEmpty(bytes); }
SIMULATED_EXPORT int nvrtcGetCUBIN(void*, char* text) { return WriteEmpty(text); }
SIMULATED_EXPORT int nvrtcGetProgramLogSize(void*, size_t* bytes) { return SizeOfEmpty(bytes); }
SIMULATED_EXPORT int nvrtcGetProgramLog(void*, char* text) { return WriteEmpty(text); }
