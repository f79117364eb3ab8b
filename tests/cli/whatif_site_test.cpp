// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/whatif_sites.hpp"
#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Names = std::vector<std::string>;

const std::string testbed_text = SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.txt.gz";

Ran ask_whatif(const Scratch& here, const std::string& path, Names more = {}) {
  Names words{"whatif", "--sacct", path};
  words.insert(words.end(), more.begin(), more.end());
  return here.run(words);
}

std::string variant_of(std::string_view site) {
  const auto made = with_schedmate(parse_policy(site).value()).value();
  return made ? made->text : "";
}

}  // namespace

TEST_CASE("whatif: the site with SchedMate has the site's settings and the variant's own") {
  CHECK(variant_of("slurm_backfill:weight_age=0,bf_interval=1,estimate=column:limit_s@replay") ==
        "slurm_backfill+sm:bf_interval=1,weight_age=0,estimate=column:limit_s@site_sm");
  CHECK(variant_of("slurm_backfill:weight_shortness=0") == "slurm_backfill+sm@site_sm");
  CHECK(variant_of("tiresias") == "tiresias+sm@site_sm");
  CHECK(variant_of("fifo").empty());
  CHECK(variant_of("qssf+sm").empty());
}

TEST_CASE("whatif: what SchedMate adds is told against the site that was taken") {
  const Scratch here;
  const Ran ran = ask_whatif(here, testbed_text, {"--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  const std::string site = document["replay"]["policy"];
  CHECK(site.contains("weight_age=0"));
  const auto& arm = document["policies"][0];
  CHECK(arm["label"] == "site_sm");
  CHECK(arm["policy"] == variant_of(site));
  CHECK(document["policies"].size() == 5);
  // Every job is expected to last a minute at most, which is all the same to the factor.
  CHECK(arm["all"]["mean_ln_jct_ratio"] == 0);
  CHECK(ask_whatif(here, testbed_text)
            .out.contains("  every job starts and ends as in the replay: it changes nothing\n"));
}

TEST_CASE("whatif: a site that SchedMate has no variant of is told, and no other stands in") {
  const Scratch here;
  const Ran ran = ask_whatif(here, testbed_text, {"--site", "fifo", "--json"});
  REQUIRE_MESSAGE(ran.status == 0, ran.err);
  const auto document = nlohmann::json::parse(ran.out);
  CHECK(document["policies"].size() == 4);
  REQUIRE(document["notes"].size() == 1);
  CHECK(document["notes"][0] ==
        "the site's fifo with SchedMate is not tried: there is no policy fifo+sm");
  CHECK(ask_whatif(here, testbed_text, {"--site", "fifo"})
            .out.contains("there is no policy fifo+sm"));
  // Whoever names policies gets these.
  const Ran named =
      ask_whatif(here, testbed_text, {"--site", "fifo", "--policy", "tiresias", "--json"});
  CHECK(nlohmann::json::parse(named.out)["notes"].empty());
}

}  // namespace schedmate
