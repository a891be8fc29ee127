# SPDX-License-Identifier: GPL-3.0-or-later
# For nixpkgs' callPackage; flake.nix calls it. docs/install.md says what of it was tried.
{
  lib,
  stdenv,
  boost,
  catch2_3,
  cmake,
  fmt,
  gnutls,
  gsasl,
  libarchive,
  ncurses,
  ninja,
  nlohmann_json,
  openmpi,
  openssl,
  pandoc,
  pkg-config,
  prometheus-cpp,
  protozero,
  spdlog,
  sqlite,
  systemd,
  tomlplusplus,
  util-linux,
  xxhash,
  zlib,
}:

stdenv.mkDerivation {
  pname = "postal";
  # As project() in CMakeLists.txt has it.
  version = builtins.head (
    builtins.match ".*\nproject\\(postal VERSION ([0-9.]+) .*" (builtins.readFile ../../CMakeLists.txt)
  );
  src = lib.cleanSource ../..;

  strictDeps = true;
  nativeBuildInputs = [
    cmake
    ninja
    pandoc
    pkg-config
  ];
  buildInputs = [
    boost
    fmt
    gnutls
    gsasl
    libarchive
    ncurses
    nlohmann_json
    openmpi
    openssl
    prometheus-cpp
    protozero
    spdlog
    sqlite
    systemd
    tomlplusplus
    util-linux
    xxhash
    zlib
  ];
  checkInputs = [ catch2_3 ];
  doCheck = true;

  # Compiler flags are nixpkgs' alone.
  cmakeFlags = [
    (lib.cmakeBool "POSTAL_HARDENED" false)
    (lib.cmakeBool "POSTAL_TESTS" true)
    (lib.cmakeBool "POSTAL_UNITY" true)
  ];

  postInstall = ''
    mv $out/share/zsh/vendor-completions $out/share/zsh/site-functions
  '';

  meta = {
    description = "Measures mail servers and accounts for every message";
    license = lib.licenses.gpl3Plus;
    platforms = lib.platforms.linux;
    mainProgram = "postal";
  };
}
