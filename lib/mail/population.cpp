// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/population.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace postal::mail {
namespace {

constexpr std::uint64_t plan_salt = 0x706f70756c617465;  // each use of the seed has its own numbers
constexpr std::size_t most_references = 10;

// Klimt and Yang: of 200,399 messages 123,501 are in threads of two or more. Sizes from 11 to 20
// are one row there, and so are larger ones, whose mean follows from what the other rows leave:
// 44.7.
struct thread_size {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    std::uint32_t threads = 0;
};
constexpr std::array thread_sizes{thread_size{1, 1, 200'399 - 123'501},
                                  thread_size{2, 2, 16'736},
                                  thread_size{3, 3, 4'782},
                                  thread_size{4, 4, 3'049},
                                  thread_size{5, 5, 1'282},
                                  thread_size{6, 6, 879},
                                  thread_size{7, 7, 903},
                                  thread_size{8, 8, 378},
                                  thread_size{9, 9, 214},
                                  thread_size{10, 10, 178},
                                  thread_size{11, 20, 1'260},
                                  thread_size{21, 68, 430}};

std::uint64_t draw_thread_size(base::random_source& random) {
    constexpr std::uint64_t all = [] {
        std::uint64_t sum = 0;
        for (const thread_size& one : thread_sizes)
            sum += one.threads;
        return sum;
    }();
    std::uint64_t at = random.below(all);
    for (const thread_size& one : thread_sizes) {
        if (at < one.threads) return one.least + random.below(one.most - one.least + 1);
        at -= one.threads;
    }
    return 1;
}

// FNV-1a, then mixed: it is kept in messages, and so must never change.
std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return base::scramble(hash);
}

std::vector<double> zipf_shares(std::size_t folders, double exponent) {
    std::vector<double> cumulative(folders);
    double sum = 0;
    for (std::size_t i = 0; i < folders; ++i)
        cumulative[i] = sum += std::pow(static_cast<double>(i + 1), -exponent);
    return cumulative;
}

class planner {
  public:
    planner(const population_plan& of, std::string_view address)
        : of_(of),
          random_(base::mix(of.seed ^ plan_salt, hash_of(address), 0)),
          shares_(zipf_shares(of.folders.size(), of.zipf)) {}

    mailbox_plan plan(std::uint64_t messages) {
        made_.messages.reserve(messages);
        while (made_.messages.size() < messages) {
            const std::uint64_t left = messages - made_.messages.size();
            add_thread(std::min(left, of_.threads ? draw_thread_size(random_) : 1));
        }
        sort();
        draw_flags();
        return std::move(made_);
    }

  private:
    void add_thread(std::uint64_t size) {
        const auto first = static_cast<std::uint32_t>(made_.messages.size());
        const std::int64_t last_s = of_.until.time_since_epoch().count();
        planned_message one;
        one.folder = draw_folder();
        one.root = first;
        one.date_s = last_s - static_cast<std::int64_t>(
                                  random_.below(static_cast<std::uint64_t>(of_.span.count()) + 1));
        made_.messages.push_back(one);
        for (std::uint64_t i = 1; i < size; ++i) {
            // Half of them answer the latest.
            const std::uint64_t back = random_.below(2) == 0 ? 0 : random_.below(i);
            const auto parent = static_cast<std::uint32_t>(first + i - 1 - back);
            const std::int64_t asked = made_.messages[parent].date_s;
            const double gap = of_.median_reply_s * std::exp(2 * random_.normal());
            const auto left = static_cast<double>(last_s - asked);
            one.parent = parent;
            one.date_s = asked + static_cast<std::int64_t>(std::min(gap, left));
            made_.messages.push_back(one);
        }
    }

    std::uint16_t draw_folder() {
        const double at = random_.uniform() * shares_.back();
        const auto found = std::upper_bound(shares_.begin(), shares_.end() - 1, at);
        return static_cast<std::uint16_t>(found - shares_.begin());
    }

    // By date; what is of one second stays in its order, so that no answer comes before its
    // question.
    void sort() {
        std::vector<planned_message>& all = made_.messages;
        std::vector<std::uint32_t> order(all.size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(all[a].date_s, a) < std::pair(all[b].date_s, b);
        });
        std::vector<std::uint32_t> place(all.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            place[order[i]] = i;
        std::vector<planned_message> sorted;
        sorted.reserve(all.size());
        for (const std::uint32_t from : order) {
            planned_message one = all[from];
            one.root = place[one.root];
            if (one.parent != no_parent) one.parent = place[one.parent];
            sorted.push_back(one);
        }
        all.swap(sorted);
    }

    void draw_flags() {
        std::vector<bool> answered(made_.messages.size());
        for (const planned_message& one : made_.messages)
            if (one.parent != no_parent) answered[one.parent] = true;
        for (std::size_t n = 0; n < made_.messages.size(); ++n) {
            for (std::size_t i = 0; i < of_.flags.size(); ++i) {
                const bool drawn = random_.uniform() < of_.flags[i].share;
                const bool may = of_.flags[i].flag != "\\Answered" || answered[n];
                if (drawn && may) made_.messages[n].flags |= static_cast<std::uint16_t>(1U << i);
            }
        }
    }

    const population_plan& of_;
    base::random_source random_;
    std::vector<double> shares_;
    mailbox_plan made_;
};

}  // namespace

mailbox_plan plan_mailbox(const population_plan& of, std::string_view address,
                          std::uint64_t messages) {
    return planner(of, address).plan(messages);
}

// 48 bits: SQLite's integers and people's eyes have room for them.
std::uint64_t account_number(std::string_view address) noexcept {
    return hash_of(address) >> 16U;
}

std::vector<std::uint32_t> references_of(const mailbox_plan& box, std::uint32_t n) {
    std::vector<std::uint32_t> found;
    const std::uint32_t root = box.messages[n].root;
    std::uint32_t at = box.messages[n].parent;
    while (at != no_parent && at != root && found.size() + 1 < most_references) {
        found.push_back(at);
        at = box.messages[at].parent;
    }
    if (root != n) found.push_back(root);
    std::reverse(found.begin(), found.end());
    return found;
}

std::string flags_text(const population_plan& of, std::uint16_t flags) {
    if (flags == 0) return {};
    std::string text;
    for (std::size_t i = 0; i < of.flags.size(); ++i) {
        if ((flags >> i & 1U) == 0) continue;
        text += text.empty() ? "(" : " ";
        text += of.flags[i].flag;
    }
    return text + ")";
}

}  // namespace postal::mail
