// SPDX-License-Identifier: GPL-3.0-or-later
// The only file that includes libarchive.
#include "bundle/archive.hpp"

#include "base/units.hpp"
#include "bundle/gzip.hpp"
#include "bundle/manifest.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cerrno>
#include <memory>

namespace postal::bundle {
namespace {

constexpr int gzip_and_none = 2;  // the library counts what is below the last filter as one

struct end_reading {
    void operator()(archive* one) const noexcept { archive_read_free(one); }
};
struct end_writing {
    void operator()(archive* one) const noexcept { archive_write_free(one); }
};
struct end_entry {
    void operator()(archive_entry* one) const noexcept { archive_entry_free(one); }
};
using reading = std::unique_ptr<archive, end_reading>;
using writing = std::unique_ptr<archive, end_writing>;
using entry = std::unique_ptr<archive_entry, end_entry>;

base::failure no_memory() {
    return base::failure{base::system_message(ENOMEM)};
}

base::failure damaged(archive* from) {
    const char* const why = archive_error_string(from);
    return base::fail("cannot be read: {}", why != nullptr ? why : "it is damaged");
}

// ---- writing ----

la_ssize_t append(archive*, void* to, const void* octets, std::size_t size) {
    try {
        static_cast<std::string*>(to)->append(static_cast<const char*>(octets), size);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    return static_cast<la_ssize_t>(size);
}

bool write_one(archive* to, const std::string& name, const std::string& content) {
    const entry made(archive_entry_new());
    if (made == nullptr) return false;
    archive_entry_set_pathname(made.get(), name.c_str());
    archive_entry_set_size(made.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(made.get(), AE_IFREG);
    archive_entry_set_perm(made.get(), 0644);
    archive_entry_set_mtime(made.get(), 0, 0);
    archive_entry_set_uid(made.get(), 0);
    archive_entry_set_gid(made.get(), 0);
    if (archive_write_header(to, made.get()) != ARCHIVE_OK) return false;
    return content.empty() || archive_write_data(to, content.data(), content.size()) ==
                                  static_cast<la_ssize_t>(content.size());
}

// What read_archive() would refuse.
base::expected<void> check_bounds(const files& all, const archive_bounds& bounds) {
    if (all.size() > bounds.files)
        return base::fail("would have {} files, and {} are read", all.size(), bounds.files);
    std::uint64_t size = 0;
    for (const auto& [name, content] : all) {
        if (!is_plain_name(name))
            return base::fail("\"{}\" is no name that a file of a bundle may have", name);
        if (content.size() > bounds.file)
            return base::fail("{}: is larger than {}, which nobody reads", name,
                              base::format_size(bounds.file));
        size += content.size();
    }
    if (size > bounds.all)
        return base::fail("would have files of {}, and {} are read", base::format_size(size),
                          base::format_size(bounds.all));
    return {};
}

// ---- reading ----

base::expected<reading> open(std::string_view octets) {
    reading made(archive_read_new());
    if (made == nullptr) return no_memory();
    archive* const from = made.get();
    if (archive_read_support_format_tar(from) != ARCHIVE_OK ||
        archive_read_support_filter_gzip(from) != ARCHIVE_OK)
        return base::fail("cannot be read: libarchive has no gzip of its own here");
    if (archive_read_open_memory(from, octets.data(), octets.size()) != ARCHIVE_OK)
        return damaged(from);
    return made;
}

// What an archive of ours has around its files.
base::expected<void> check_kind(archive* from) {
    if (archive_filter_count(from) != gzip_and_none ||
        archive_filter_code(from, 0) != ARCHIVE_FILTER_GZIP)
        return base::fail("is not a tar archive within one gzip");
    return {};
}

base::expected<std::string> name_of(archive_entry* one, const files& before) {
    const char* const path = archive_entry_pathname(one);
    const std::string_view name = path != nullptr ? path : "";
    if (!is_plain_name(name))
        return base::fail("has a name that no file of a bundle has: \"{}\"", name.substr(0, 300));
    if (archive_entry_filetype(one) != AE_IFREG || archive_entry_hardlink(one) != nullptr ||
        archive_entry_symlink(one) != nullptr || archive_entry_sparse_count(one) != 0)
        return base::fail("{}: is no plain file", name);
    if (before.find(name) != before.end()) return base::fail("{}: is there twice", name);
    return {boost::system::in_place_value, name};
}

base::expected<std::string> content_of(archive* from, std::uint64_t most) {
    std::string content;
    std::array<char, 65536> some{};
    while (true) {
        const la_ssize_t read = archive_read_data(from, some.data(), some.size());
        if (read < 0) return damaged(from);
        if (read == 0) return {boost::system::in_place_value, std::move(content)};
        content.append(some.data(), static_cast<std::size_t>(read));
        if (content.size() > most) return base::fail("is larger than {}", base::format_size(most));
    }
}

}  // namespace

base::expected<std::string> write_archive(const files& all, const archive_bounds& bounds) {
    if (const auto fits = check_bounds(all, bounds); !fits) return fits.error();
    const writing made(archive_write_new());
    if (made == nullptr) return no_memory();
    archive* const to = made.get();
    std::string octets;
    // Nothing is padded for tapes.
    bool well =
        archive_write_set_bytes_in_last_block(to, 1) == ARCHIVE_OK &&
        archive_write_set_format_pax_restricted(to) == ARCHIVE_OK &&
        archive_write_add_filter_gzip(to) == ARCHIVE_OK &&
        archive_write_set_filter_option(to, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
        archive_write_set_filter_option(to, "gzip", "compression-level", "9") == ARCHIVE_OK &&
        archive_write_open2(to, &octets, nullptr, append, nullptr, nullptr) == ARCHIVE_OK;
    const auto first = all.find(manifest_name);
    if (well && first != all.end()) well = write_one(to, first->first, first->second);
    for (auto one = all.begin(); well && one != all.end(); ++one)
        well = one == first || write_one(to, one->first, one->second);
    if (!well || archive_write_close(to) != ARCHIVE_OK) {
        const char* const why = archive_error_string(to);
        return base::fail("cannot be made: {}", why != nullptr ? why : "it has no memory");
    }
    if (octets.size() > bounds.archive)
        return base::fail("would be larger than {}, which nobody reads",
                          base::format_size(bounds.archive));
    return {boost::system::in_place_value, std::move(octets)};
}

base::expected<files> read_archive(std::string_view octets, const archive_bounds& bounds) {
    if (octets.size() > bounds.archive)
        return base::fail("is larger than {}", base::format_size(bounds.archive));
    if (!looks_like_archive(octets)) return base::fail("is not a tar archive within one gzip");
    const auto opened = open(octets);
    if (!opened) return opened.error();
    archive* const from = opened->get();
    files all;
    std::uint64_t left = bounds.all;
    archive_entry* one = nullptr;
    while (true) {
        const int next = archive_read_next_header(from, &one);
        if (next != ARCHIVE_OK && next != ARCHIVE_EOF) return damaged(from);
        const auto kind = check_kind(from);
        if (!kind) return kind.error();
        // Headers and what lies between files count, too.
        if (archive_filter_bytes(from, 0) > static_cast<la_int64_t>(2 * bounds.all))
            return base::fail("is larger than {}", base::format_size(2 * bounds.all));
        if (next == ARCHIVE_EOF) break;
        if (all.size() >= bounds.files) return base::fail("has more than {} files", bounds.files);
        const auto name = name_of(one, all);
        if (!name) return name.error();
        auto content = content_of(from, std::min(left, bounds.file));
        if (!content) return base::at(*name, content.error());
        left -= content->size();
        all.emplace(*name, std::move(*content));
    }
    if (const auto alone = check_one_gzip(octets, 2 * bounds.all); !alone) return alone.error();
    return {boost::system::in_place_value, std::move(all)};
}

}  // namespace postal::bundle
