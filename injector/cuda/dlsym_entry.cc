// SPDX-License-Identifier: Apache-2.0
// dlsym, dlvsym and dlopen as the program sees them, and the library's constructor and destructor.
//
// Why assembly: the real functions read their return address (RTLD_NEXT, RTLD_DEFAULT). We jump to them with
// the stack and the arguments unchanged, so they see the program and not us. Only a name that begins with
// "cu" and a capital letter costs more than a few compares.
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_coverage.h"

// VRAMSCOPE_LOOKUP_ENTRY(name, the real function's variable, the function that finds it, `version` or none)
#if defined(__x86_64__)
#define VRAMSCOPE_LOOKUP_ENTRY(name, real, find, no_version)                       \
  __asm__(".text\n.globl " name "\n.type " name ", @function\n.p2align 4\n" name   \
          ":\n"                                                                    \
          "  .cfi_startproc\n"                                                     \
          "  endbr64\n"                                                            \
          "  testq %rsi, %rsi\n  jz 1f\n"                                          \
          "  cmpb $'c', (%rsi)\n  jne 1f\n"                                        \
          "  cmpb $'u', 1(%rsi)\n  jne 1f\n"                                       \
          "  movzbl 2(%rsi), %eax\n  subl $'A', %eax\n  cmpl $25, %eax\n  ja 1f\n" \
          "  movq (%rsp), %rcx\n"                                                  \
          "  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n"                             \
          "  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n"                             \
          "  pushq %rdx\n  .cfi_adjust_cfa_offset 8\n" no_version                  \
          "  call vramscope_driver_function_for\n"                                 \
          "  movq %rdx, %rcx\n"                                                    \
          "  popq %rdx\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  popq %rsi\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  testq %rcx, %rcx\n  jz 1f\n  ret\n"                                   \
          "1:  movq " real                                                         \
          "(%rip), %rax\n"                                                         \
          "  testq %rax, %rax\n  jz 2f\n  jmp *%rax\n"                             \
          "2:  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n"                           \
          "  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n"                             \
          "  pushq %rdx\n  .cfi_adjust_cfa_offset 8\n"                             \
          "  call " find                                                           \
          "\n"                                                                     \
          "  popq %rdx\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  popq %rsi\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n"                             \
          "  testq %rax, %rax\n  jz 3f\n  jmp *%rax\n"                             \
          "3:  ret\n"                                                              \
          "  .cfi_endproc\n.size " name ", .-" name "\n")
#define VRAMSCOPE_NO_VERSION "  xorl %edx, %edx\n"
#elif defined(__aarch64__)
#define VRAMSCOPE_LOOKUP_ENTRY(name, real, find, no_version)                                                 \
  __asm__(".text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name                             \
          ":\n"                                                                                              \
          "  .cfi_startproc\n"                                                                               \
          "  hint #34\n"                                                                                     \
          "  cbz x1, 1f\n"                                                                                   \
          "  ldrb w9, [x1]\n  cmp w9, #'c'\n  b.ne 1f\n"                                                     \
          "  ldrb w9, [x1, #1]\n  cmp w9, #'u'\n  b.ne 1f\n"                                                 \
          "  ldrb w9, [x1, #2]\n  sub w9, w9, #'A'\n  cmp w9, #25\n  b.hi 1f\n"                              \
          "  stp x29, x30, [sp, #-48]!\n  .cfi_def_cfa_offset 48\n  .cfi_offset 29, -48\n  .cfi_offset 30, " \
          "-40\n"                                                                                            \
          "  stp x0, x1, [sp, #16]\n  str x2, [sp, #32]\n"                                                   \
          "  mov x3, x30\n" no_version                                                                       \
          "  bl vramscope_driver_function_for\n"                                                             \
          "  mov x9, x0\n  mov x10, x1\n"                                                                    \
          "  ldp x0, x1, [sp, #16]\n  ldr x2, [sp, #32]\n"                                                   \
          "  ldp x29, x30, [sp], #48\n  .cfi_def_cfa_offset 0\n  .cfi_restore 29\n  .cfi_restore 30\n"       \
          "  cbz x10, 1f\n  mov x0, x9\n  ret\n"                                                             \
          "1:  adrp x16, " real "\n  ldr x16, [x16, #:lo12:" real                                            \
          "]\n"                                                                                              \
          "  cbz x16, 2f\n  br x16\n"                                                                        \
          "2:  stp x29, x30, [sp, #-48]!\n  .cfi_def_cfa_offset 48\n  .cfi_offset 29, -48\n  .cfi_offset "   \
          "30, -40\n"                                                                                        \
          "  stp x0, x1, [sp, #16]\n  str x2, [sp, #32]\n"                                                   \
          "  bl " find                                                                                       \
          "\n  mov x16, x0\n"                                                                                \
          "  ldp x0, x1, [sp, #16]\n  ldr x2, [sp, #32]\n"                                                   \
          "  ldp x29, x30, [sp], #48\n  .cfi_def_cfa_offset 0\n  .cfi_restore 29\n  .cfi_restore 30\n"       \
          "  cbz x16, 3f\n  br x16\n"                                                                        \
          "3:  mov x0, xzr\n  ret\n"                                                                         \
          "  .cfi_endproc\n.size " name ", .-" name "\n")
#define VRAMSCOPE_NO_VERSION "  mov x2, xzr\n"
#endif

// dlopen: only RTLD_DEEPBIND (8) is handled (deep_binding.cc).
#if defined(__x86_64__)
__asm__(
    ".text\n.globl dlopen\n.type dlopen, @function\n.p2align 4\ndlopen:\n"
    "  .cfi_startproc\n"
    "  endbr64\n"
    "  testb $8, %sil\n  jz 1f\n"
    "  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n"
    "  subq $8, %rsp\n  .cfi_adjust_cfa_offset 8\n"
    "  call vramscope_open_deep\n"
    "  addq $8, %rsp\n  .cfi_adjust_cfa_offset -8\n"
    "  popq %rsi\n  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n"
    "  testq %rdx, %rdx\n  jz 1f\n  ret\n"
    "1:  movq vramscope_real_dlopen(%rip), %rax\n"
    "  testq %rax, %rax\n  jz 2f\n  jmp *%rax\n"
    "2:  pushq %rdi\n  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rsi\n  .cfi_adjust_cfa_offset 8\n"
    "  subq $8, %rsp\n  .cfi_adjust_cfa_offset 8\n"
    "  call vramscope_find_dlopen\n"
    "  addq $8, %rsp\n  .cfi_adjust_cfa_offset -8\n"
    "  popq %rsi\n  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n  .cfi_adjust_cfa_offset -8\n"
    "  testq %rax, %rax\n  jz 3f\n  jmp *%rax\n"
    "3:  ret\n"
    "  .cfi_endproc\n.size dlopen, .-dlopen\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl dlopen\n.type dlopen, %function\n.p2align 4\ndlopen:\n"
    "  .cfi_startproc\n"
    "  hint #34\n"
    "  tbz w1, #3, 1f\n"
    "  stp x29, x30, [sp, #-32]!\n  .cfi_def_cfa_offset 32\n  .cfi_offset 29, -32\n  .cfi_offset 30, -24\n"
    "  stp x0, x1, [sp, #16]\n"
    "  bl vramscope_open_deep\n"
    "  mov x9, x0\n  mov x10, x1\n"
    "  ldp x0, x1, [sp, #16]\n"
    "  ldp x29, x30, [sp], #32\n  .cfi_def_cfa_offset 0\n  .cfi_restore 29\n  .cfi_restore 30\n"
    "  cbz x10, 1f\n  mov x0, x9\n  ret\n"
    "1:  adrp x16, vramscope_real_dlopen\n  ldr x16, [x16, #:lo12:vramscope_real_dlopen]\n"
    "  cbz x16, 2f\n  br x16\n"
    "2:  stp x29, x30, [sp, #-32]!\n  .cfi_def_cfa_offset 32\n  .cfi_offset 29, -32\n  .cfi_offset 30, -24\n"
    "  stp x0, x1, [sp, #16]\n"
    "  bl vramscope_find_dlopen\n  mov x16, x0\n"
    "  ldp x0, x1, [sp, #16]\n"
    "  ldp x29, x30, [sp], #32\n  .cfi_def_cfa_offset 0\n  .cfi_restore 29\n  .cfi_restore 30\n"
    "  cbz x16, 3f\n  br x16\n"
    "3:  mov x0, xzr\n  ret\n"
    "  .cfi_endproc\n.size dlopen, .-dlopen\n");
#endif

#ifdef VRAMSCOPE_LOOKUP_ENTRY
VRAMSCOPE_LOOKUP_ENTRY("dlsym", "vramscope_real_dlsym", "vramscope_find_dlsym", VRAMSCOPE_NO_VERSION);
VRAMSCOPE_LOOKUP_ENTRY("dlvsym", "vramscope_real_dlvsym", "vramscope_find_dlvsym", "");
#endif

__attribute__((constructor)) static void OnLoad() { vramscope::injector::DecideDriverHooks(); }
__attribute__((destructor)) static void OnExit() { vramscope::injector::RecordDriverLookups(); }
