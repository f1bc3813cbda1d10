# SPDX-License-Identifier: Apache-2.0
# Toolchain file: Debian's cross compiler for aarch64, with the static libraries that scripts/aarch64.sh puts into VRAMSCOPE_SYSROOT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VRAMSCOPE_SYSROOT)

# Headers and libraries come from there alone; the compiler has its own C and C++ libraries.
set(CMAKE_FIND_ROOT_PATH ${VRAMSCOPE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${VRAMSCOPE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${VRAMSCOPE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${VRAMSCOPE_SYSROOT})

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu max,sve=off -L /usr/aarch64-linux-gnu -p 65536)
