# SPDX-License-Identifier: Apache-2.0
# For find_package() in the rooms: viewer/platform/web/CMakeLists.txt creates the targets.
set(PkgConfig_FOUND TRUE)
macro(pkg_check_modules)
endmacro()
