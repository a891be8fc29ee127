// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/templates.hpp"

#include "base/text.hpp"
#include "experiment/variables.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {
namespace {

// Every template of a variant, with its line, has to expand.
class template_check {
  public:
    template_check(const variant& of, complaint& problems)
        : values_(of.values), problems_(&problems) {
        for (const std::string& name : built_in_variables)
            values_[name] = {name};
        values_["device"] = {std::string(device)};
    }
    void text(const std::string& one, std::uint32_t line) { note(expand(one, values_), line); }
    void words(const command& one) {
        if (!one.words.empty()) note(expand(one.words, values_), one.line);
    }
    void words(const std::vector<std::string>& several, std::uint32_t line) {
        note(expand(several, values_), line);
    }
    void all(const std::vector<command>& several) {
        for (const command& one : several)
            words(one);
    }
    // What it formats is guarded only where it is ${device}.
    [[nodiscard]] bool names_device(const command& one) const {
        const auto all = expand(one.words, values_);
        return !all || base::join(*all, " ").find(device) != std::string::npos;
    }

  private:
    static constexpr std::string_view device = "\x01/device";  // no word of a file's

    template <class Result>
    void note(const Result& result, std::uint32_t line) {
        if (!result) problems_->add(line, result.error().message);
    }

    variables values_;
    complaint* problems_;
};

}  // namespace

void check_templates(const experiment& whole, complaint& problems) {
    for (const variant& each : whole.variants) {
        template_check check(each, problems);
        for (const std::string* one : {&each.on.device, &each.on.size, &each.on.directory,
                                       &each.on.type, &each.on.options, &each.on.mount})
            check.text(*one, each.on.line);
        check.words(each.on.make);
        check.words(each.of.version);
        for (const auto* list :
             {&each.setup, &each.teardown, &each.of.prepare, &each.of.start, &each.of.stop})
            check.all(*list);
        for (const auto* list : {&each.of.ready, &each.of.pid_files})
            check.words(*list, each.of.line);
        for (const load_program& one : whole.offered.programs)
            for (const command* each_of : {&one.launcher, &one.run})
                check.words(*each_of);
        for (const written_file& one : whole.files) {
            check.text(one.path, one.line);
            check.text(one.text, one.line);
        }
        check.words(whole.costs.devices, whole.costs.line);
        const audit& after = whole.audited;
        check.text(after.size, after.line);
        check.words(after.maildirs, after.line);
        for (const auto* list : {&after.recover, &after.read, &after.after_start})
            check.all(*list);
        for (const command* one : {&after.drain, &after.drained, &after.check})
            check.words(*one);
        check.words(whole.costs.remote);
        if (each.on.wanted && each.on.make.words.empty())
            problems.add(each.on.line,
                         "[storage] has no make: the command that makes the file system");
        else if (each.on.wanted && !check.names_device(each.on.make))
            problems.add(each.on.make.line,
                         "make does not name ${device}, the only device that is looked at before");
        if (each.on.wanted && each.on.type.empty())
            problems.add(each.on.line, "[storage] has no type, such as \"ext4\"");
    }
}

}  // namespace postal::experiment
