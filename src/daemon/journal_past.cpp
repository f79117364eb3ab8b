// SPDX-License-Identifier: Apache-2.0
#include "daemon/journal_past.hpp"

#include <string>
#include <utility>

#include "base/hmac.hpp"

namespace schedmate::daemon {

Result<live::Past> past_in(journal::Journal& journal) {
  auto open = journal.open_actions();
  auto next = journal.next_action();
  auto kept = journal.all_kept();
  if (!open || !next || !kept)
    return tl::unexpected(!open ? open.error() : !next ? next.error() : kept.error());
  live::Past past{std::move(*open), *next, std::move(*kept)};
  std::string& name = past.kept[instance_key];
  if (!name.empty()) return past;
  constexpr std::size_t enough = 8;
  name = random_key().substr(0, enough);
  if (name.empty()) return fail(ErrorCode::unavailable, "the system gives no random numbers");
  if (auto named = journal.append({.kept = {{instance_key, name}}}); !named)
    return tl::unexpected(named.error());
  return past;
}

}  // namespace schedmate::daemon
