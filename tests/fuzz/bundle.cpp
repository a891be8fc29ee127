// SPDX-License-Identifier: GPL-3.0-or-later
// bundle/archive.hpp, manifest.hpp and secrets.hpp: an archive may be anything, and so may what is
// in it. Inputs are what gzip holds; they are compressed here.
#include "bundle/archive.hpp"
#include "bundle/manifest.hpp"
#include "bundle/secrets.hpp"

#include "../unit/bundle/hostile_tar.hpp"
#include "support.hpp"

namespace {

constexpr postal::bundle::archive_bounds few{
    .archive = 1U << 20U, .file = 1U << 16U, .all = 1U << 18U, .files = 50};

void try_archive(const std::string& octets) {
    using namespace postal;
    const auto read = bundle::read_archive(octets, few);
    if (!read) {
        fuzz::require(!read.error().message.empty());
        return;
    }
    std::uint64_t all = 0;
    for (const auto& [name, content] : *read) {
        fuzz::require(bundle::is_plain_name(name) && content.size() <= few.file);
        all += content.size();
    }
    fuzz::require(all <= few.all && read->size() <= few.files);
    fuzz::require(*bundle::read_archive(*bundle::write_archive(*read)) == *read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const std::string text(fuzz::text_of(data, size));
    try_archive(text);
    try_archive(test::gzip(text));
    if (const auto parsed = bundle::parse_manifest(text)) {
        const std::string written = bundle::manifest_text(*parsed);
        const auto again = bundle::parse_manifest(written);
        fuzz::require(again && bundle::manifest_text(*again) == written);
    }
    const auto cleaned = bundle::without_secrets(text);
    fuzz::require(bundle::without_secrets(cleaned.text).removed == 0);
    static_cast<void>(bundle::json_without_secrets(text));
    return 0;
}
