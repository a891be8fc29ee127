// SPDX-License-Identifier: GPL-3.0-or-later
// Notes: of an mbox each message is written to a file without a name first, and copied behind the
// others when it is accepted; a copy that fails is cut off again, so that the file stays whole.
#include "bhm/mail_store.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/interrupted.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"

namespace postal::bhm {
namespace {

namespace files = std::filesystem;
using base::expected;

constexpr std::size_t buffer_size = std::size_t{16} * 1024;
constexpr std::uint64_t sampling = 0x73616d706c696e67;  // keeps its numbers apart from others'
constexpr std::array<const char*, 3> maildir_parts{"tmp", "new", "cur"};

base::failure cannot(const std::string& path, std::string_view what, int error) {
    return base::fail("{}: {}: {}", base::printable(path, 300), what, base::system_message(error));
}

// What a run that kept nothing has left behind.
bool is_empty_of_ours(const files::directory_entry& one) {
    std::error_code unknown;
    const std::string name = one.path().filename().string();
    if (one.is_directory(unknown)) {
        for (const char* part : maildir_parts)
            if (name == part) return files::is_empty(one.path(), unknown) && !unknown;
        return false;
    }
    return name == "mbox" && one.is_regular_file(unknown) && one.file_size(unknown) == 0;
}

expected<void> check_empty(const std::string& folder) {
    std::error_code error;
    files::directory_iterator entries(folder, error);
    for (; !error && entries != files::directory_iterator(); entries.increment(error)) {
        if (is_empty_of_ours(*entries)) continue;
        return base::fail("{}: holds \"{}\"; give a folder that is new or empty",
                          base::printable(folder, 300),
                          base::printable(entries->path().filename().string(), 80));
    }
    if (error) return cannot(folder, "cannot be read", error.value());
    return {};
}

expected<void> make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        return cannot(path, "cannot be made", errno);
    }
    if (::access(path.c_str(), W_OK | X_OK) != 0) return cannot(path, "cannot be written", errno);
    return {};
}

// What was made in it outlives a power cut.
expected<void> sync_folder(const std::string& path) {
    const base::file_descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open() || ::fsync(folder.get()) != 0)
        return cannot(path, "cannot be synced", errno);
    return {};
}

// maildir(5): neither a folder's separator nor that of flags.
std::string without_separators(std::string_view host) {
    std::string text;
    for (const char c : host) {
        if (c == '/') {
            text += "\\057";
        } else if (c == ':') {
            text += "\\072";
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace

mail_store::mail_store(const store_options& chosen, const std::string& host)
    : chosen_(chosen), host_(without_separators(host.empty() ? "localhost" : host)) {}

expected<std::unique_ptr<mail_store>> mail_store::open(const store_options& chosen,
                                                       const std::string& host) {
    std::unique_ptr<mail_store> made(new mail_store(chosen, host));
    auto prepared = made->prepare();
    if (!prepared) return prepared.error();
    return made;
}

expected<void> mail_store::prepare() {
    const std::string& folder = chosen_.folder;
    auto there = make_folder(folder);
    if (there) there = check_empty(folder);
    if (!there) return there;
    if (chosen_.format == store_format::maildir) {
        for (const char* part : maildir_parts) {
            there = make_folder(fmt::format("{}/{}", folder, part));
            if (!there) return there;
        }
        const std::string parts = folder + "/new";
        new_ = base::file_descriptor(::open(parts.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!new_.is_open()) return cannot(parts, "cannot be opened", errno);
        return sync_made();
    }
    const std::string path = folder + "/mbox";
    mbox_ = base::file_descriptor(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!mbox_.is_open()) return cannot(path, "cannot be written", errno);
    if (::flock(mbox_.get(), LOCK_EX | LOCK_NB) != 0) {
        return cannot(path, "another process has it", errno);
    }
    there = check_empty(folder);  // who had it may have filled it meanwhile
    return there ? sync_made() : there;
}

expected<void> mail_store::sync_made() const {
    if (!chosen_.sync) return {};
    const auto synced = sync_folder(chosen_.folder);
    return synced ? sync_folder(chosen_.folder + "/..") : synced;
}

bool mail_store::wants(std::uint64_t session, std::uint64_t message) const noexcept {
    if (chosen_.sample >= 100) return true;
    base::random_source random(base::mix(sampling, session, message));
    return random.below(100) < chosen_.sample;
}

std::string mail_store::fresh_name() {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    const auto whole = duration_cast<seconds>(now);
    const auto rest = duration_cast<microseconds>(now - whole);
    return fmt::format("{}.M{}P{}Q{}.{}", whole.count(), rest.count(), ::getpid(), ++names_, host_);
}

std::string mail_store::temporary_path(const std::string& name) const {
    const bool maildir = chosen_.format == store_format::maildir;
    return fmt::format("{}/{}{}", chosen_.folder, maildir ? "tmp/" : "tmp-", name);
}

int mail_store::rename_to_new(const std::string& name) const {
    const std::string to = fmt::format("{}/new/{}", chosen_.folder, name);
    return std::rename(temporary_path(name).c_str(), to.c_str()) == 0 ? 0 : errno;
}

int mail_store::sync_new() const {
    return chosen_.sync && ::fsync(new_.get()) != 0 ? errno : 0;
}

int mail_store::append_to_mbox(int from) {
    const std::scoped_lock lock(mutex_);
    std::array<char, buffer_size> piece;
    int error = 0;
    std::uint64_t copied = 0;
    for (;;) {
        const ssize_t got = base::uninterrupted(
            [&] { return ::pread(from, piece.data(), piece.size(), static_cast<off_t>(copied)); });
        if (got < 0) error = errno;
        if (got <= 0) break;
        const std::string_view octets(piece.data(), static_cast<std::size_t>(got));
        error = base::write_all(mbox_.get(), octets, mbox_end_ + copied);
        if (error != 0) break;
        copied += octets.size();
    }
    if (error == 0 && chosen_.sync && ::fdatasync(mbox_.get()) != 0) error = errno;
    if (error == 0) {
        mbox_end_ += copied;
    } else if (::ftruncate(mbox_.get(), static_cast<off_t>(mbox_end_)) != 0) {
        mbox_end_ += copied;  // better a message cut short than one written over
    }
    return error;
}

bool mail_store::reserve(std::uint64_t octets) noexcept {
    if (octets_.fetch_add(octets) + octets <= chosen_.most_octets) return true;
    give_back(octets);
    return false;
}

bool mail_store::take_place() noexcept {
    if (messages_.fetch_add(1) < chosen_.most_messages) return true;
    --messages_;
    return false;
}

stored_message::stored_message(mail_store& in, std::string_view reverse_path) : store_(in) {
    if (store_.full()) {
        outcome_ = store_outcome::full;
        return;
    }
    const bool mbox = store_.chosen_.format == store_format::mbox;
    name_ = store_.fresh_name();
    path_ = store_.temporary_path(name_);
    const int mode = mbox ? O_RDWR : O_WRONLY;
    file_ = base::file_descriptor(
        ::open(path_.c_str(), mode | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_.is_open()) {
        path_.clear();
        failed(errno);
        return;
    }
    if (!mbox) return;
    ::unlink(path_.c_str());
    path_.clear();
    quoter_.emplace();
    buffer_ = mbox_separator(reverse_path, std::chrono::system_clock::now());
}

stored_message::~stored_message() {
    discard();
}

void stored_message::append(std::string_view octets) {
    if (outcome_ != store_outcome::kept) return;
    lines_.feed(octets, [this](std::string_view piece) { add(piece); });
}

void stored_message::add(std::string_view octets) {
    if (quoter_) {
        quoter_->feed(octets, buffer_);
    } else {
        buffer_ += octets;
    }
    if (buffer_.size() >= buffer_size) flush();
}

void stored_message::flush() {
    if (outcome_ == store_outcome::kept && !store_.reserve(buffer_.size())) {
        outcome_ = store_outcome::full;
        discard();
    }
    if (outcome_ == store_outcome::kept) {
        reserved_ += buffer_.size();
        const int error = base::write_all(file_.get(), buffer_);
        if (error != 0) failed(error);
    }
    buffer_.clear();
}

void stored_message::finish() {
    lines_.finish([this](std::string_view piece) { add(piece); });
    if (quoter_) quoter_->finish(buffer_);
    flush();
}

store_outcome stored_message::keep() {
    if (outcome_ == store_outcome::kept) finish();
    if (outcome_ == store_outcome::kept && !store_.take_place()) outcome_ = store_outcome::full;
    if (outcome_ == store_outcome::kept) {
        const bool mbox = store_.chosen_.format == store_format::mbox;
        int error = mbox ? store_.append_to_mbox(file_.get()) : close_file();
        if (error == 0 && !mbox) error = store_.rename_to_new(name_);
        if (error == 0 && !mbox) error = store_.sync_new();
        if (error != 0) {
            --store_.messages_;
            failed(error);
        }
    }
    if (outcome_ == store_outcome::full) store_.full_ = true;
    if (outcome_ == store_outcome::kept) {
        path_.clear();
        reserved_ = 0;
    }
    discard();
    return outcome_;
}

int stored_message::close_file() {
    if (store_.chosen_.sync && ::fsync(file_.get()) != 0) return errno;
    return file_.close();
}

void stored_message::failed(int error) noexcept {
    error_ = error;
    outcome_ = store_outcome::failed;
    discard();
}

// The file, and its share of the store.
void stored_message::discard() noexcept {
    file_.close();
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
    store_.give_back(std::exchange(reserved_, 0));
}

}  // namespace postal::bhm
