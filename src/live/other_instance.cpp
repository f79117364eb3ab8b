// SPDX-License-Identifier: Apache-2.0
/// Daemons that share no state folder know each other by their marks alone. A mark that appears
/// while this one watches is the work of another that lives: from then on this one only says what
/// it would do, until an operator closes the breaker or none has appeared for as long as it takes
/// to close by itself.
#include <fmt/format.h>

#include <algorithm>

#include "live/actions.hpp"

namespace schedmate::live {

Mode Actions::mode_of(Area area) const {
  const Mode mode = settings_.modes.of(area);
  if (!doubt_.empty()) return std::min(mode, Mode::shadow);
  return foreign_since_ && settings_.rules.one_instance ? std::min(mode, Mode::shadow) : mode;
}

void Actions::look_for_others(const Listing& listing, SimTime now) {
  std::set<std::string> marks;
  const auto note = [&](const std::string& text) {
    if (is_foreign_mark(settings_, text)) marks.insert(text);
  };
  for (const SeenNode& node : listing.nodes) note(node.reason);
  for (const SeenJob& job : listing.jobs) {
    note(job.mark);
    if (job.phase != JobPhase::ended) note(job.token);
  }
  std::string fresh;
  if (foreign_marks_)
    for (const std::string& mark : marks)
      if (!foreign_marks_->contains(mark)) fresh = told_to_all(mark);
  foreign_marks_ = std::move(marks);
  if (fresh.empty() || !settings_.rules.one_instance) return;
  if (!foreign_since_) {
    const std::string why = fmt::format("another instance acts here: \"{}\"", fresh);
    record_.remarks.push_back({"acting ended", own_name, why});
    discard_waiting(now, why);
  }
  foreign_since_ = now;
  foreign_mark_ = fresh;
  keep_past();
}

}  // namespace schedmate::live
