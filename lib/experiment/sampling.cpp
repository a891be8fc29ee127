// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/sampling.hpp"

#include <array>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds remote_limit = 10s;

}  // namespace

base::expected<std::unique_ptr<sampling>> sampling::create(const std::vector<std::string>& devices,
                                                           std::vector<std::string> remote,
                                                           supervisor& by) {
    std::unique_ptr<sampling> made(new sampling(by));
    made->devices_ = devices;
    if (remote.empty()) {
        auto sampler = testbed::system_sampler::create(devices);
        if (!sampler) return sampler.error();
        made->here_.emplace(std::move(*sampler));
        return made;
    }
    const auto program = find_program(remote.front());
    if (!program) return program.error();
    remote.front() = *program;
    made->elsewhere_.emplace(by.children(), testbed::remote_plan{.command = std::move(remote),
                                                                 .devices = devices,
                                                                 .time_limit = remote_limit});
    return made;
}

void sampling::watch(pid_t root) {
    if (!here_) return;
    const auto watched = here_->watch(root);
    if (!watched) notes_.push_back(watched.error().message);
}

void sampling::begin() {
    log_ = cost_log(devices_, std::chrono::steady_clock::now(), std::chrono::system_clock::now());
    take_and_wait();
}

void sampling::take() {
    if (here_) log_.add(here_->take());
    if (!elsewhere_) return;
    if (const auto sample = elsewhere_->take()) log_.add(*sample);
}

void sampling::take_all() {
    if (here_) here_->be_thorough();
    take();
}

void sampling::finish() {
    take_and_wait();
}

void sampling::take_and_wait() {
    take();
    if (!elsewhere_ || elsewhere_->descriptor() < 0) return;
    const std::array running{elsewhere_->descriptor()};
    by_->wait(running, std::chrono::steady_clock::now() + remote_limit,
              patience::until_interrupted);
    if (const auto sample = elsewhere_->collect()) log_.add(*sample);
}

std::vector<std::string> sampling::notes() const {
    auto all = notes_;
    if (here_ && here_->problem()) all.push_back(*here_->problem());
    if (elsewhere_ && elsewhere_->problem()) all.push_back(*elsewhere_->problem());
    return all;
}

}  // namespace postal::experiment
