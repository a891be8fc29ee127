# SPDX-License-Identifier: GPL-3.0-or-later
# For 64-bit ARM, on another Debian: with dpkg --add-architecture arm64, crossbuild-essential-arm64 and the libraries of
# scripts/packages.txt for arm64. Tests run by qemu-user. docs/install.md has the commands.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(PKG_CONFIG_EXECUTABLE aarch64-linux-gnu-pkg-config)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
