// The storage of a run: a loop device on an image of its own, or a disk of the user's, with a new file
// system, mounted.
#include "experiment/one_run.hpp"
#include "experiment/variables.hpp"

#include "base/units.hpp"
#include "testbed/device_content.hpp"
#include "testbed/image_file.hpp"
#include "testbed/loop_device.hpp"
#include "testbed/mounting.hpp"

#include <unistd.h>

namespace postal::experiment {

namespace fs = std::filesystem;

done one_run::make_storage() {
    after_setup_ = os::descendants_of(::getpid());
    const storage& on = variant_.on;
    if (!on.wanted) return {};
    own_device_ = !values_["device"].front().empty();
    const done device = make_device(on);
    if (!device) return base::at(at(on.line), device.error());
    // The disk's daemon serves until the disk is gone.
    after_setup_ = os::descendants_of(::getpid());
    if (plan_.purpose != run_purpose::recover)
        if (const done made = make_file_system(on); !made) return made;
    if (!own_device_ && plan_.purpose == run_purpose::measure) {
        // Commands that make a file system discard what was there: the image has holes by now.
        const done whole = testbed::write_out_image(image_, [this] { return may_go_on(); });
        if (!whole) return whole;
    }
    const done mounted = mount(on);
    if (!mounted) return base::at(at(on.line), mounted.error());
    return {};
}

done one_run::make_device(const storage& on) {
    switch (plan_.purpose) {
        case run_purpose::record:
            return make_recording_disk();
        case run_purpose::recover:
            return attach(plan_.recovered.image);
        case run_purpose::measure:
            break;
    }
    return own_device_ ? claim_device() : make_image(on);
}

done one_run::make_image(const storage& on) {
    const auto folder = expand(on.directory, values_);
    if (!folder) return folder.error();
    const auto size_text = expand(on.size, values_);
    if (!size_text) return size_text.error();
    const auto size = base::parse_size(*size_text);
    if (!size) return size.error();
    const std::string name =
        fmt::format("postal-{}-{}-{}.image", plan_.block, plan_.position, ::getpid());
    image_ = (fs::absolute(*folder) / name).lexically_normal().string();
    if (const done kept = announce({.kind = undo_kind::file, .path = image_}); !kept) return kept;
    if (const done made = testbed::create_image(image_, *size, testbed::image_space::allocated);
        !made)
        return made;
    auto lock = testbed::device_lock::take(image_);
    if (!lock) return lock.error();
    lock_.emplace(std::move(*lock));
    if (const done kept = announce({.kind = undo_kind::loop, .path = image_}); !kept) return kept;
    const auto attached = testbed::attach_loop(image_, testbed::loop_io::direct);
    if (!attached) return attached.error();
    if (!attached->note.empty()) result_.notes.push_back(attached->note);
    values_["device"] = {attached->path};
    return {};
}

done one_run::claim_device() {
    const std::string device = values_["device"].front();
    auto lock = testbed::device_lock::take(device);
    if (!lock) return lock.error();
    lock_.emplace(std::move(*lock));
    return testbed::may_format(
        device, book_.made_on(device),
        book_.is_making(device) ? testbed::existing_data::overwrite : plan_.existing);
}

// What is on a device of the user's afterwards is the experiment's, also when it was made in part.
done one_run::make_file_system(const storage& on) {
    if (!own_device_) return run_commands({on.make});
    const std::string device = values_["device"].front();
    if (const done noted = book_.note_making(device); !noted) return noted;
    const done made = run_commands({on.make});
    const auto content = testbed::probe_device(device);
    if (!content) return made ? content.error() : made;
    // Nothing else would know the experiment's own again.
    if (content->uuid.empty() && content->kind != testbed::content_kind::nothing) return made;
    const done noted = book_.note_made(device, content->uuid);
    return made ? noted : made;
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

done one_run::time_flushes() {
    if (!variant_.on.wanted) return {};
    const auto timed = testbed::time_flushes(values_["mount"].front());
    if (!timed) return timed.error();
    result_.flush = *timed;
    return {};
}

done one_run::drop_caches() {
    if (variant_.on.wanted && variant_.on.drop_caches) result_.caches = testbed::drop_caches();
    return {};
}

}  // namespace postal::experiment
