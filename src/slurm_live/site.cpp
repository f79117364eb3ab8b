// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/site.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "slurm/records.hpp"
#include "slurm/shown_parts.hpp"
#include "slurm/site_policy.hpp"

namespace schedmate::slurm_live {

Result<Site> read_site(std::string_view config) {
  const auto records = slurm::read_records(config);
  const auto none = [] {
    return fail(ErrorCode::invalid, "what `scontrol show config` printed cannot be read");
  };
  if (!records) return none();
  const auto found = std::ranges::find(*records, "Configuration", &slurm::ShownRecord::kind);
  if (found == records->end() || !found->values.has("SLURM_VERSION")) return none();
  const slurm::Shown& shown = found->values;
  Site site;
  site.version = shown.text("SLURM_VERSION");
  site.has_factors = shown.text("PriorityType") == "priority/multifactor";
  site.has_accounting = shown.text("AccountingStorageType") == "accounting_storage/slurmdbd";
  slurm::ClusterQueue queue;
  queue.settings = slurm::settings_in(shown);
  site.policy = slurm::site_policy(queue).text;
  site.half_life = slurm::priority_settings(queue).half_life;
  for (const char* const factor : {"Age", "Assoc", "FairShare", "JobSize", "Partition", "QOS"})
    site.weights += shown.whole(fmt::format("PriorityWeight{}", factor));
  const std::string_view user = shown.text("SlurmUser");
  site.slurm_user = user.substr(0, user.find('('));
  site.began = shown.when("BOOT_TIME");
  site.appends_logs = shown.text("JobFileAppend") == "1";
  const std::string_view age = shown.text("MinJobAge");  // "300 sec"
  if (const auto seconds = parse_number<std::int64_t>(age.substr(0, age.find(' '))))
    site.remembers = Seconds(std::clamp<std::int64_t>(*seconds, 0, 30LL * 86'400));
  return site;
}

Rights rights_in(std::string_view sacctmgr) {
  const std::string_view level = trim(sacctmgr);
  if (level.starts_with("Admin")) return Rights::all;
  return level.starts_with("Operator") ? Rights::jobs : Rights::own;
}

Abilities abilities_of(const Site& site, const NodeCare& care, Rights rights,
                       const std::string& user) {
  using enum ActionKind;
  Abilities made;
  const auto lack = [&](std::initializer_list<ActionKind> kinds, const std::string& why) {
    for (const ActionKind kind : kinds) {
      std::string& known = made.lacks.at(static_cast<std::size_t>(kind));
      if (known.empty()) known = why;
    }
  };
  lack({start, evict}, "Slurm starts and stops jobs itself");
  lack({submit}, "people submit to Slurm with sbatch");
  if (care.test_command.empty()) lack({test_nodes}, "setting recover.test_command names no test");
  if (care.spares.empty())
    lack({release_spare}, "setting cluster.slurm.spares names no reservation of spare nodes");
  lack({notify}, "Slurm carries no messages to owners");
  if (rights == Rights::own)
    lack({set_order, hold, release, requeue_excluding, cancel, annotate, test_nodes, release_spare},
         fmt::format("{} is no operator of this Slurm (sacctmgr modify user {} set "
                     "adminlevel=Admin, or run as {})",
                     user, user, site.slurm_user));
  if (rights != Rights::all)
    lack({drain_node, undrain_node, hold, release, annotate},
         fmt::format("{} may not change nodes and comments of this Slurm (sacctmgr modify user {} "
                     "set adminlevel=Admin, or run as {})",
                     user, user, site.slurm_user));
  if (!site.has_factors)
    lack({set_order}, "priority/basic has no site factor (PriorityType=priority/multifactor has)");
  return made;
}

}  // namespace schedmate::slurm_live
