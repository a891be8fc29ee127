// SPDX-License-Identifier: GPL-3.0-or-later
// What a bundle says of itself, manifest.json, schema "postal-bundle/1": every file with its size
// and SHA-256, which of them is what, which program made it, and what was left out.
//
// One digest of the manifest is one of everything, so it is what is signed. parse_manifest()
// refuses what is no such manifest with one line that names the key.
#pragma once

#include "base/result.hpp"
#include "bundle/archive.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::bundle {

inline constexpr std::string_view manifest_schema = "postal-bundle/1";
inline constexpr std::string_view manifest_name = "manifest.json";
inline constexpr std::string_view signature_name = "manifest.json.sig";

struct listed_file {
    std::string name{};
    std::uint64_t size = 0;
    std::string sha256{};  // 64 hexadecimal digits
};

struct left_out_file {
    std::string what{};
    std::string why{};
};

struct manifest {
    std::string version{};               // of the program that made it
    std::vector<std::string> records{};  // names of files: those that stand side by side
    std::string results{};  // "results/", what an experiment's folder is called; or empty
    std::vector<std::string> ledgers{};  // read as one; empty where only their account is there
    bool account = false;                // of ledgers is there
    bool one_store = false;              // as postal-report has it
    std::vector<listed_file> files{};    // all but the manifest and its signature
    std::vector<left_out_file> left_out{};
    std::vector<std::string> remarks{};  // where a secret may lie
};

[[nodiscard]] std::string manifest_text(const manifest& of);
[[nodiscard]] base::expected<manifest> parse_manifest(std::string_view text);

[[nodiscard]] std::vector<listed_file> list_of(const files& all);

enum class file_fault : std::uint8_t { changed, missing, unlisted };
struct faulty_file {
    file_fault is = file_fault::changed;
    std::string line{};  // what is wrong, with the name
};
// Holds the files of a bundle against its manifest.
[[nodiscard]] std::vector<faulty_file> check_files(const manifest& of, const files& all);

}  // namespace postal::bundle
