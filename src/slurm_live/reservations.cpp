// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/reservations.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "slurm/shown.hpp"
#include "slurm_live/rows.hpp"
#include "trace/hostlist.hpp"

namespace schedmate::slurm_live {
namespace {

constexpr std::string_view prefix = "schedmate_", mark_begin = "schedmate:";

}  // namespace

Result<std::vector<KeptNodes>> read_reservations(std::string_view scontrol) {
  std::vector<KeptNodes> found;
  bool says_something = scontrol.contains("No reservations");
  for (const slurm::ShownRecord& record : slurm::read_shown(scontrol)) {
    if (record.kind == "Error")
      return fail(ErrorCode::unavailable,
                  fmt::format("Slurm says: {}", record.values.text("Error").substr(0, 200)));
    if (record.kind != "ReservationName") continue;
    says_something = true;
    KeptNodes kept{std::string(record.values.text("ReservationName")), {}};
    if (auto nodes = trace::expand_hosts(record.values.text("Nodes")))
      kept.nodes = std::move(*nodes);
    found.push_back(std::move(kept));
  }
  if (!says_something)
    return fail(ErrorCode::invalid, "what `scontrol show reservation` printed cannot be read");
  return found;
}

std::string reservation_of(const TestName& test) {
  if (!is_mark(test.token)) return {};
  const std::size_t slash = test.token.rfind('/');
  std::string name = fmt::format("{}{}_{}", prefix,
                                 test.token.substr(mark_begin.size(), slash - mark_begin.size()),
                                 test.token.substr(slash + 1));
  if (test.drain.empty()) return name;
  if (!is_mark(test.drain) || test.drain.rfind('/') != slash ||
      test.drain.compare(0, slash, test.token, 0, slash) != 0)
    return {};
  return name + "-" + test.drain.substr(slash + 1);
}

std::optional<TestName> test_of(std::string_view reservation) {
  const std::size_t line = reservation.rfind('_');
  if (!reservation.starts_with(prefix) || line == std::string_view::npos || line <= prefix.size())
    return std::nullopt;
  const std::string_view instance = reservation.substr(prefix.size(), line - prefix.size()),
                         numbers = reservation.substr(line + 1);
  const std::size_t dash = std::min(numbers.find('-'), numbers.size());
  TestName made{fmt::format("{}{}/{}", mark_begin, instance, numbers.substr(0, dash))};
  if (dash < numbers.size())
    made.drain = fmt::format("{}{}/{}", mark_begin, instance, numbers.substr(dash + 1));
  const bool is_one = is_mark(made.token) && (dash == numbers.size() || is_mark(made.drain));
  return is_one ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace schedmate::slurm_live
