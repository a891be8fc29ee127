// SPDX-License-Identifier: GPL-3.0-or-later
// See message_factory.hpp. The order of work in make(): the fields up to Message-ID are written,
// and at the same time their canonical form; then everything that the identity field says but its
// digest is known, and with it how long the headers are; so the body can be cut to the wanted size,
// digested, and the rest of the headers written. One pass, no text formatted twice.
#include "mail/message_factory.hpp"

#include "base/text.hpp"
#include "mail/canonical.hpp"
#include "mail/text_writer.hpp"

#include <algorithm>
#include <utility>

namespace postal::mail {
namespace {

constexpr std::size_t fold_at = 76;  // RFC 5322 2.1.1: lines should have at most 78 characters
constexpr std::uint64_t body_salt = 0x626f64696573;  // each use of the seed has its own numbers
constexpr std::uint64_t empty_body_in = 16;          // one crlf-edge body in so many
// What the headers need at most, addresses, host and version aside.
constexpr std::size_t most_other_octets = 1024;

// Fit to stand in a header as one word.
bool is_word(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 255 && std::all_of(text.begin(), text.end(), [](char c) {
        return c > ' ' && c < 127 && c != '<' && c != '>' && c != '@';
    });
}

message_plan::constants prepare(const message_options& options) {
    message_plan::constants made;
    made.message_id_start += '<';
    append_run(options.run, made.message_id_start);
    made.message_id_start += '.';
    made.message_id_end = "@" + options.host + ">";
    made.postal_field = "X-Postal: postal/" + options.version + "\r\n";
    made.postal_field += identity_field;
    made.postal_field += ": ";
    made.given_fields = joined_fields(options.fields);
    if (options.subject_text.empty()) return made;
    made.subject_field = options.subject == subject_blanks::leading ? "Subject:    " : "Subject: ";
    made.subject_field += options.subject_text + "\r\n";
    append_canonical(scan_headers(made.subject_field), all_covered, made.canonical_subject);
    made.canonical_subject.resize(made.canonical_subject.size() - 2);  // the end of all fields
    return made;
}

// Writes the same text into the headers and into their canonical form.
struct both_writer {
    text_writer headers;
    text_writer canonical;
    template <class Value>
    void put(Value value) noexcept {
        headers.put(value);
        canonical.put(value);
    }
    void decimal(std::uint64_t value) noexcept {
        char digits[text_writer::most_digits];
        text_writer writer(digits);
        writer.decimal(value);
        put(std::string_view(digits, static_cast<std::size_t>(writer.end() - digits)));
    }
    void name(std::string_view shown, std::string_view lower) noexcept {
        headers.put(shown);
        canonical.put(lower);
    }
};

void put_to(std::span<const std::string_view> recipients, both_writer& out) noexcept {
    out.name("To: ", "to:");
    if (recipients.empty()) out.put("undisclosed-recipients:;");
    std::size_t column = 4;
    for (std::size_t i = 0; i < recipients.size(); ++i) {
        const std::size_t width = recipients[i].size() + 4;
        if (i > 0) {
            const bool fold = column + width > fold_at;
            out.headers.put(fold ? ",\r\n " : ", ");
            out.canonical.put(", ");
            if (fold) column = 1;
        }
        out.put('<');
        out.put(recipients[i]);
        out.put('>');
        column += width;
    }
    out.put("\r\n");
}

// A fold before an encoded word (RFC 2047 2) that would make its line too long; other words are
// short, and stay on theirs.
void put_subject(const subject_words::chosen& subject, subject_blanks blanks,
                 both_writer& out) noexcept {
    const std::string_view name = blanks == subject_blanks::leading ? "Subject:    " : "Subject: ";
    out.name(name, "subject:");
    std::size_t column = name.size();
    for (std::size_t i = 0; i < subject.count; ++i) {
        const std::string_view word = subject.words[i];
        if (i > 0) {
            const bool fold = subject_words::is_encoded(word) && column + 1 + word.size() > fold_at;
            out.headers.put(fold ? "\r\n " : " ");
            out.canonical.put(' ');
            column = fold ? 1 : column + 1;
        }
        out.put(word);
        column += word.size();
    }
    out.put("\r\n");
}

// Settles id.size and id.head, which stand in the headers themselves: fixed is what the headers
// have without these two numbers. Gives the blanks that must be added to the headers, because a
// body of one octet cannot end in CRLF (it is left without in the one case where the blank makes
// head= a digit longer).
std::size_t settle_sizes(std::size_t fixed, std::uint64_t wanted, identity& id) noexcept {
    const auto head_for = [](std::size_t others, std::uint64_t size) {
        const std::uint64_t head = others + decimal_digits(size);
        return head + decimal_digits(head + decimal_digits(head));
    };
    id.size = wanted;
    id.head = head_for(fixed, wanted);
    if (id.size == id.head + 1 && head_for(fixed + 1, wanted) == wanted) {
        id.head = wanted;
        return 1;
    }
    while (id.size < id.head) {
        id.size = id.head;
        id.head = head_for(fixed, id.size);
    }
    return 0;
}

}  // namespace

std::string joined_fields(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& one : lines)
        text.append(one).append("\r\n");
    return text;
}

base::expected<std::shared_ptr<const message_plan>> message_plan::create(message_options options) {
    if (!is_word(options.host)) {
        return base::fail(
            "\"{}\" cannot be the host in Message-ID: want a name of printable ASCII "
            "without blanks, @, < and >",
            base::printable(options.host, 80));
    }
    if (!is_word(options.version)) {
        return base::fail("\"{}\" cannot be the version in X-Postal",
                          base::printable(options.version, 80));
    }
    if (!is_available(options.digest)) {
        return base::fail("OpenSSL here does not offer {}; want xxh3, or a policy that allows it",
                          name_of(options.digest));
    }
    return std::shared_ptr<const message_plan>(new message_plan(std::move(options)));
}

message_plan::message_plan(message_options options)
    : options_(std::move(options)), constants_(prepare(options_)), subjects_(options_.seed) {
    for (std::size_t i = 0; i < generated_kinds; ++i) {
        const auto kind = static_cast<body_kind>(i);
        if (options_.bodies.has(kind)) sources_[i] = make_body_source(options_.seed, kind);
    }
}

const body_source& message_plan::source_of(body_kind kind) const noexcept {
    return *sources_[static_cast<std::size_t>(kind)];
}

base::random_source body_random(const identity& id) noexcept {
    return base::random_source(base::mix(id.seed ^ body_salt, id.session, id.sequence));
}

std::string_view date_text::at(std::chrono::system_clock::time_point now) {
    using namespace std::chrono;
    constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
    constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto second = floor<seconds>(now);
    if (second != second_) {
        second_ = second;
        const auto day = floor<days>(second);
        const year_month_day date(day);
        const hh_mm_ss time(second - day);
        text_writer writer(text_.data());
        writer.put(day_names.substr(weekday(day).c_encoding() * 3, 3));
        writer.put(", ");
        writer.padded(static_cast<unsigned>(date.day()), 2);
        writer.put(' ');
        writer.put(month_names.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
        writer.put(' ');
        writer.padded(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
        writer.put(' ');
        writer.padded(static_cast<std::uint64_t>(time.hours().count()), 2);
        writer.put(':');
        writer.padded(static_cast<std::uint64_t>(time.minutes().count()), 2);
        writer.put(':');
        writer.padded(static_cast<std::uint64_t>(time.seconds().count()), 2);
        writer.put(" +0000");
    }
    return {text_.data(), 31};
}

message_factory::message_factory(std::shared_ptr<const message_plan> plan)
    : plan_(std::move(plan)) {}

void message_factory::make(const message_request& request, message& into) {
    const message_options& options = plan_->options();
    base::random_source random(base::mix(options.seed, request.session, request.sequence));
    into.clear();

    identity& id = into.id_;
    id.run = options.run;
    id.session = request.session;
    id.sequence = request.sequence;
    id.seed = options.seed;
    id.kind = options.bodies.pick(random);
    id.time_us = static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::microseconds>(request.now.time_since_epoch()).count());
    id.covers = all_covered;
    id.given_subject = !options.subject_text.empty() || !request.subject.empty();
    id.digest.kind = options.digest;
    id.size = 0;
    id.head = 0;
    std::uint64_t wanted = options.sizes.sample(random);
    if (id.kind == body_kind::crlf_edge && random.below(empty_body_in) == 0) wanted = 0;

    const std::size_t begun = begin_headers(request, random, into);
    const message_plan::constants& prepared = plan_->prepared();
    const std::size_t fixed = begun + prepared.postal_field.size() + identity_octets(id) - 2 + 2 +
                              prepared.given_fields.size() + request.fields.size() +
                              plan_->source_of(id.kind).fields_octets() + 2;
    const std::size_t padding = settle_sizes(fixed, wanted, id);
    add_body(id, into);
    end_headers(request, begun, padding, into);
}

// From to Message-ID, into the headers and in canonical form; gives how far the headers reach.
std::size_t message_factory::begin_headers(const message_request& request,
                                           base::random_source& random, message& into) {
    const message_plan::constants& constants = plan_->prepared();
    std::size_t most = most_other_octets + request.from.size() + constants.message_id_end.size() +
                       constants.postal_field.size() + constants.subject_field.size() +
                       constants.given_fields.size() + request.subject.size() +
                       request.fields.size();
    bool ascii = is_ascii(request.from);
    for (const std::string_view recipient : request.recipients) {
        most += recipient.size() + 6;
        ascii = ascii && is_ascii(recipient);
    }
    into.needs_smtputf8_ = !ascii;
    into.needs_8bit_ = !ascii || into.id_.kind == body_kind::eight_bit;
    into.headers_.resize(most);
    if (canonical_.size() < most) canonical_.resize(most);

    both_writer out{text_writer(into.headers_.data()), text_writer(canonical_.data())};
    out.name("From: <", "from:<");
    out.put(request.from);
    out.put(">\r\n");
    put_to(request.recipients, out);
    const std::uint64_t drawn = random.next();
    if (!request.subject.empty()) {
        out.name("Subject: ", "subject:");
        out.put(request.subject);
        out.put("\r\n");
    } else if (constants.subject_field.empty()) {
        put_subject(plan_->subjects().choose(drawn, into.id_.kind), plan_->options().subject, out);
    } else {
        out.name(constants.subject_field, constants.canonical_subject);
    }
    out.name("Date: ", "date:");
    out.put(date_.at(request.now));
    out.name("\r\nMessage-ID: ", "\r\nmessage-id:");
    out.put(std::string_view(constants.message_id_start));
    out.decimal(request.session);
    out.put('.');
    out.decimal(request.sequence);
    out.put(std::string_view(constants.message_id_end));
    out.put("\r\n");
    const auto begun = static_cast<std::size_t>(out.headers.end() - into.headers_.data());
    out.canonical.put("\r\n");
    canonical_octets_ = static_cast<std::size_t>(out.canonical.end() - canonical_.data());
    return begun;
}

// The parts and the digest. The place of the headers among the parts is kept for end_headers().
void message_factory::add_body(identity& id, message& into) {
    into.body_.raw.emplace_back();
    into.body_.stuffed.emplace_back();
    base::random_source random = body_random(id);
    plan_->source_of(id.kind).cut(random, id.size - id.head, into.body_);
    digester_.begin(id.digest.kind, std::string_view(canonical_).substr(0, canonical_octets_));
    for (std::size_t i = 1; i < into.body_.raw.size(); ++i)
        digester_.feed(into.body_.raw[i]);
    id.digest = digester_.finish();
}

void message_factory::end_headers(const message_request& request, std::size_t begun,
                                  std::size_t padding, message& into) {
    text_writer out(into.headers_.data() + begun);
    out.put(plan_->prepared().postal_field);
    for (std::size_t i = 0; i < padding; ++i)
        out.put(' ');
    write_identity(into.id_, out);
    out.put("\r\n");
    out.put(std::string_view(plan_->prepared().given_fields));
    out.put(request.fields);
    out.put(into.body_.fields);
    out.put("\r\n");
    into.headers_.resize(static_cast<std::size_t>(out.end() - into.headers_.data()));
    into.body_.raw.front() = into.headers_;
    into.body_.stuffed.front() = into.headers_;
    into.count_octets();
}

}  // namespace postal::mail
