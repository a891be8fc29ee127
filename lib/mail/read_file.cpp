// See read_file.hpp. POSIX calls instead of streams, because streams do not say why they fail and
// open directories without a word.
#include "mail/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace postal::mail {
namespace {

struct descriptor {
    int number = -1;
    explicit descriptor(int opened) noexcept : number(opened) {}
    ~descriptor() {
        if (number >= 0) ::close(number);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
};

}  // namespace

base::expected<std::string> read_file(const std::string& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number < 0) return base::fail("{}: {}", path, base::system_message(errno));
    struct stat about {};
    if (::fstat(file.number, &about) != 0) {
        return base::fail("{}: {}", path, base::system_message(errno));
    }
    if (S_ISDIR(about.st_mode)) return base::fail("{}: is a directory, not a file", path);

    std::string text;
    if (about.st_size > 0) text.reserve(static_cast<std::size_t>(about.st_size) + 1);
    std::array<char, 65536> chunk{};
    while (true) {
        const ssize_t got = ::read(file.number, chunk.data(), chunk.size());
        if (got == 0) return {boost::system::in_place_value, std::move(text)};
        if (got > 0) {
            text.append(chunk.data(), static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            return base::fail("{}: {}", path, base::system_message(errno));
        }
    }
}

}  // namespace postal::mail
