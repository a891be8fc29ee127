#include "os/image_file.hpp"

#include "base/file_descriptor.hpp"
#include "base/units.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace postal::os {

base::expected<void> create_image(const std::string& path, std::uint64_t octets,
                                  image_space space) {
    const base::file_descriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open())
        return base::fail("cannot create {}: {}", path, base::system_message(errno));
    const auto size = static_cast<off_t>(octets);
    const bool made = space == image_space::sparse ? ::ftruncate(file.get(), size) == 0
                                                   : ::fallocate(file.get(), 0, 0, size) == 0;
    if (made) return {};
    const int reason = errno;
    ::unlink(path.c_str());
    return base::fail("cannot {} {} of {} for an image: {}",
                      space == image_space::sparse ? "make" : "allocate", base::format_size(octets),
                      path, base::system_message(reason));
}

}  // namespace postal::os
