// SPDX-License-Identifier: GPL-3.0-or-later
// mail/size_spec.hpp: --size, and a histogram's file: the sizes that are drawn stay in bounds, and
// what was read and is written is read again as the same.
#include "mail/size_spec.hpp"

#include "support.hpp"

namespace {

using namespace postal;

void check_sizes(const base::expected<mail::size_spec>& read) {
    if (!read) return fuzz::require_harmless(read.error().message);
    base::random_source first(1), second(1);
    const auto again = mail::size_spec::parse(read->text());
    fuzz::require(again && again->largest() == read->largest());
    for (int i = 0; i < 8; ++i) {
        const std::uint64_t size = read->sample(first);
        fuzz::require(size <= read->largest() && size == again->sample(second));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static fuzz::memory_file file;
    const std::string_view input = fuzz::text_of(data, size);
    if (!input.starts_with("histogram:")) check_sizes(mail::size_spec::parse(input));
    file.hold(input);
    check_sizes(mail::size_spec::parse("histogram:" + file.path()));
    return 0;
}
