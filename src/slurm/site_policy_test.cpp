// SPDX-License-Identifier: Apache-2.0
#include "slurm/site_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace schedmate::slurm {
namespace {

using Given = std::map<std::string, std::string, std::less<>>;

SitePolicy site_with(Given settings) {
  ClusterQueue queue;
  queue.settings = std::move(settings);
  return site_policy(queue);
}

const Given multifactor{{"SchedulerType", "sched/backfill"},
                        {"PriorityType", "priority/multifactor"}};

Given and_also(Given settings, std::string_view name, std::string_view value) {
  settings[std::string(name)] = value;
  return settings;
}

}  // namespace

TEST_CASE("the settings of a site become those of the policy") {
  const SitePolicy made = site_with({{"SchedulerType", "sched/backfill"},
                                     {"SchedulerParameters",
                                      "bf_continue,bf_interval=60,bf_window=2880,bf_resolution=300,"
                                      "bf_max_job_test=1000,bf_max_job_user=10"},
                                     {"PriorityType", "priority/multifactor"},
                                     {"PriorityWeightAge", "2000"},
                                     {"PriorityWeightJobSize", "0"},
                                     {"PriorityWeightFairShare", "100000000"},
                                     {"PriorityFavorSmall", "Yes"},
                                     {"PriorityFlags", "MAX_TRES,NO_FAIR_TREE"},
                                     {"PriorityMaxAge", "14-00:00:00"},
                                     {"PriorityDecayHalfLife", "12:00:00"},
                                     {"PriorityCalcPeriod", "00:05:00"}});
  CHECK(made.text ==
        "slurm_backfill:bf_interval=60,bf_window=2880,bf_resolution=300,bf_max_job_test=1000,"
        "bf_max_job_user=10,bf_job_part_count_reserve=20,weight_age=2000,weight_job_size=0,weight_"
        "fairshare=100000000,"
        "max_age_d=14,half_life_d=0.5,calc_period_min=5,favor_small=true,"
        "fairshare_in_account=true");
  CHECK(made.notes.empty());
  REQUIRE(made.settings.size() == 13);
  CHECK(made.settings.front() == "bf_interval=60");
  CHECK(made.settings[8] == "PriorityMaxAge=14-00:00:00");
  CHECK(made.settings[11] == "PriorityFavorSmall=Yes");
  CHECK(made.settings.back() == "PriorityFlags=NO_FAIR_TREE");
}

TEST_CASE("what Slurm leaves at its default is at that") {
  CHECK(site_with(multifactor).text ==
        "slurm_backfill:bf_job_part_count_reserve=20,weight_age=0,weight_job_size=0,"
        "weight_fairshare=0");
  CHECK(site_with(multifactor).notes.empty());
}

TEST_CASE("as many reservations as the site makes, or those of the replay") {
  const auto text = [](std::string_view parameters) {
    return site_with(and_also(multifactor, "SchedulerParameters", parameters)).text;
  };
  CHECK(text("bf_job_part_count_reserve=3").contains(":bf_job_part_count_reserve=3,"));
  CHECK(text("bf_job_part_count_reserve=0").contains(":bf_job_part_count_reserve=20,"));
}

TEST_CASE("without backfilling the order is strict; without factors it is that of submission") {
  const Given builtin{{"SchedulerType", "sched/builtin"},
                      {"SchedulerParameters", "bf_interval=30"},
                      {"PriorityType", "priority/basic"}};
  CHECK(site_with(builtin).text ==
        "slurm_backfill:bf_max_job_test=1,weight_age=0,weight_job_size=0,weight_fairshare=0");
  CHECK(site_with(builtin).settings ==
        std::vector<std::string>{"SchedulerType=sched/builtin", "PriorityType=priority/basic"});
  CHECK(site_with(and_also(multifactor, "SchedulerParameters", "bf_interval=-1"))
            .text.starts_with("slurm_backfill:bf_max_job_test=1,"));
}

TEST_CASE("what is out of bounds is cut to them, what cannot be read is left; both are told") {
  const SitePolicy cut =
      site_with(and_also(multifactor, "SchedulerParameters", "bf_window=100000,bf_resolution=0"));
  CHECK(cut.text.starts_with("slurm_backfill:bf_window=43200,bf_resolution=1,"));
  REQUIRE(cut.notes.size() == 2);
  CHECK(cut.notes[0].contains("bf_window=100000"));
  CHECK(cut.notes[0].contains("bf_window=43200 is used"));
  const SitePolicy left = site_with(and_also(multifactor, "PriorityMaxAge", "soon"));
  CHECK_FALSE(left.text.contains("max_age_d"));
  REQUIRE(left.notes.size() == 1);
  CHECK(left.notes[0].contains("PriorityMaxAge=soon cannot be read"));
}

TEST_CASE("where the settings are not shown, a note says so") {
  const SitePolicy made = site_with({});
  CHECK(made.text == "slurm_backfill:bf_job_part_count_reserve=20");
  CHECK(made.settings.empty());
  CHECK(made.notes.size() == 1);
}

}  // namespace schedmate::slurm
