// A search's record: what is written is read again, and every key is described by one list.
#include "stats/capacity/record_fields.hpp"

#include "simulated_servers.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::capacity;

namespace {

std::string text_of(const search_record& of) {
    stats::json_writer to(1, {}, stats::decimals::all);
    fields<stats::json_writer>(to, of);
    return to.take();
}

}  // namespace

TEST_CASE("capacity: a search's record is read as it was written") {
    simulated::server of;
    search_input asked;
    asked.goals = {simulated::p99()};
    search one(asked);
    simulated::run(one, of, {1});
    const search_record written = record_of(one);
    CHECK(written.trials.size() == one.trials().size());
    CHECK(written.sentence == sentence_of(one.result(), one.goals()));
    CHECK_FALSE(written.max_load.has_value());

    const std::string text = text_of(written);
    const auto all = stats::json::parse(text);
    CHECK(all["trials"].size() == written.trials.size());
    CHECK(all["trials"][0]["goals"][0]["shown"] == "not_known");
    CHECK(all["result"]["end"] == "found");
    CHECK(all["max_load"].is_null());

    search_record read;
    stats::complaint problems;
    const stats::json_fields from(all, "", problems);
    fields<const stats::json_fields>(from, read);
    CHECK_FALSE(bool(problems));
    CHECK(text_of(read) == text);
}
