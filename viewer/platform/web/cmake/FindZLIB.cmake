# SPDX-License-Identifier: Apache-2.0
# For find_package() in the rooms: viewer/platform/web/CMakeLists.txt creates the targets.
set(ZLIB_FOUND TRUE)
