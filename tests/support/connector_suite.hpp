// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What every connector promises (schedmate/connector.hpp), as checks over any one of them.

#include <functional>
#include <schedmate/connector.hpp>

namespace schedmate::testing {

/// A cluster in which nothing runs yet, with at least three nodes in service and at least four jobs
/// (three where it starts none) that wait and would fit on one of them each. A kind of action that
/// it lacks need only be refused.
struct ConnectorTrial {
  Connector& connector;
  std::function<void()> let_end;  ///< time goes on until what runs has ended
  Connector::Deadline within{10'000};
};

/// All of it, in one go: orders, notes, holds, starts, drains, evictions, ends, versions.
void check_connector(const ConnectorTrial& trial);

/// Of a cluster that does not answer, or not so that it could be read: no operation says more than
/// it knows, and each has ended at its deadline.
void check_unanswered(Connector& connector, Connector::Deadline within);

}  // namespace schedmate::testing
