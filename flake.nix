# SPDX-License-Identifier: GPL-3.0-or-later
# nix build, nix run . -- --help, nix develop; docs/install.md says what of it was tried.
{
  description = "Measures mail servers and accounts for every message";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "aarch64-linux"
        "x86_64-linux"
      ];
      package = system: nixpkgs.legacyPackages.${system}.callPackage ./packaging/nix/package.nix { };
    in
    {
      # Of which "nix develop" takes what building needs.
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package system;
      });
    };
}
