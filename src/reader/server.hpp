// SPDX-License-Identifier: Apache-2.0
#pragma once

/// schedmate-reader's loop: requests in, a child for each, answers out. One thread, which waits for
/// nothing but poll(), holds no file of a user open and reads no more of a request than whose it
/// is.

#include <sys/types.h>

#include <functional>
#include <map>
#include <schedmate/clock.hpp>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "reader/child.hpp"
#include "reader/fair_queue.hpp"

namespace schedmate::reader {

struct ServeOptions {
  Quotas quotas{};
  ChildLimits limits{};
  /// Who may ask, beside root and the user that this runs as.
  std::vector<uid_t> askers{};
  std::map<std::string, std::string> settings{};  ///< for the children (settings_of_answers())
  std::string program{};                          ///< of the children; "": this one
  Clock clock{};
  std::function<bool()> stopped{};  ///< asked at least twice a second
};

/// A socket of mode 0600 at this path, in the place of one that was left behind; its owner is
/// `owner` where this process may give it away. Errors: invalid, conflict, unavailable.
[[nodiscard]] Result<Descriptor> open_door(const std::string& path, std::optional<uid_t> owner);

/// Until it is stopped; what is being read then is ended. Errors: unavailable.
Result<void> serve(const Descriptor& door, const ServeOptions& options);

}  // namespace schedmate::reader
