# SPDX-License-Identifier: Apache-2.0
# For the rooms' find_package: viewer/platform/web/CMakeLists.txt has made the targets.
set(ZLIB_FOUND TRUE)
