// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a daemon tells of its cluster, its actions and itself, for people.

#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "base/document.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {

/// schedmate.cluster.v1: a line, a row for each partition (`all_nodes`: for each node), and the
/// nodes that are not up.
[[nodiscard]] std::string live_cluster_text(const Document& cluster, const ScreenStyle& style,
                                            bool all_nodes);

/// Of schedmate.actions.v1, newest first, those about bad nodes that nobody decided on in time,
/// within a day of schedmate.cluster.v1, and that were not planned anew; "": none.
[[nodiscard]] std::string undecided_text(const Result<Document>& answer, const Document& cluster,
                                         const ScreenStyle& style);
/// Actions, newest first, at most `most`; 0 = all.
[[nodiscard]] std::string actions_text(const std::vector<Document>& actions,
                                       const ScreenStyle& style, std::size_t most);
/// One action with its reasons and its steps.
[[nodiscard]] std::string action_text(const Document& action, const ScreenStyle& style);

/// Entries of schedmate.audit.v1, of a daemon or of a journal.
[[nodiscard]] std::string audit_entries_text(const Document& document, const ScreenStyle& style);

/// schedmate.ledger.v1.
[[nodiscard]] std::string ledger_text(const Document& ledger, const ScreenStyle& style);

/// One change of schedmate.changes.v1 {id, kind, data} as a line; "" for one without news.
[[nodiscard]] std::string change_text(const Document& change, const ScreenStyle& style);

/// "13 jobs run on 96 of 1080 GPUs, 5 wait".
[[nodiscard]] std::string cluster_line(const Document& cluster);

}  // namespace schedmate::screen
