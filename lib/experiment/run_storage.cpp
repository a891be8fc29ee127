// SPDX-License-Identifier: GPL-3.0-or-later
// The storage of a run: a device with a file system, mounted.
#include "experiment/one_run.hpp"
#include "experiment/variables.hpp"

#include "testbed/loop_device.hpp"
#include "testbed/mounting.hpp"

#include <unistd.h>

namespace postal::experiment {

namespace fs = std::filesystem;

done one_run::make_storage() {
    after_setup_ = os::descendants_of(::getpid());
    const storage& on = variant_.on;
    if (!on.wanted) return {};
    const done device = make_device(on);
    if (!device) return base::at(at(on.line), device.error());
    // The disk's daemon serves until the disk is gone.
    after_setup_ = os::descendants_of(::getpid());
    if (const done made = make_file_system(on); !made) return made;
    const done mounted = mount(on);
    if (!mounted) return base::at(at(on.line), mounted.error());
    return {};
}

done one_run::attach_loop(const std::string& image, testbed::loop_io io) {
    if (const done kept = announce({.kind = undo_kind::loop, .path = image}); !kept) return kept;
    const auto attached = testbed::attach_loop(image, io);
    if (!attached) return attached.error();
    if (!attached->note.empty()) result_.notes.push_back(attached->note);
    values_["device"] = {attached->path};
    return {};
}

// Those that are missing, the outermost first: they go again.
done one_run::make_folders(const fs::path& folder) {
    std::vector<fs::path> missing;
    std::error_code problem;
    for (fs::path each = folder; !fs::exists(each, problem); each = each.parent_path())
        missing.push_back(each);
    for (std::size_t i = missing.size(); i-- > 0;) {
        const std::string path = missing[i].string();
        if (const done kept = announce({.kind = undo_kind::file, .path = path}); !kept) return kept;
        fs::create_directory(path, problem);
        if (problem)
            return base::fail("{}: cannot be made: {}", base::printable(path, 300),
                              problem.message());
    }
    return {};
}

done one_run::mount(const storage& on) {
    mark_before_mount_ = mark();
    const std::string folder = values_["mount"].front();
    if (const done there = make_folders(folder); !there) return there;
    const auto all = testbed::read_mounts();
    if (!all) return all.error();
    // Else undoing would not know which mount is ours.
    if (const auto other = testbed::mount_at(*all, folder))
        return base::fail("{} is mounted on {} already", base::printable(other->source, 300),
                          base::printable(folder, 300));
    const auto type = expand(on.type, values_);
    if (!type) return type.error();
    const auto options = expand(on.options, values_);
    if (!options) return options.error();
    if (const done kept = announce(
            {.kind = undo_kind::mount, .path = folder, .device = values_["device"].front()});
        !kept)
        return kept;
    const auto mounted =
        testbed::mount_device({values_["device"].front(), folder, *type, *options});
    if (!mounted) return mounted.error();
    result_.mount = mounted->line();
    return {};
}

}  // namespace postal::experiment
