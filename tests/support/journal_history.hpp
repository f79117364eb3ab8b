// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random histories of a journal, and what it must then hold: a model of its own, of lists in
/// memory.

#include <map>
#include <vector>

#include "base/random.hpp"
#include "journal/journal.hpp"

namespace schedmate::testing {

/// What a journal holds, as far as its functions show it.
struct JournalContent {
  std::map<std::int64_t, Action> actions;
  std::map<std::int64_t, journal::Event> events;
  std::map<std::string, std::string> kept;
  std::int64_t next_action = 1;
  std::int64_t next_event = 1;  ///< of the model alone
  bool operator==(const JournalContent& other) const {
    return actions == other.actions && events == other.events && kept == other.kept &&
           next_action == other.next_action;
  }
};

/// The content once the batch is there. It must be one that a journal takes.
[[nodiscard]] JournalContent after(JournalContent content, const journal::Batch& batch);

/// A batch that a journal with this content takes: steps of actions in flight, new actions, events,
/// values.
[[nodiscard]] journal::Batch random_batch(const JournalContent& content, Random& random);

/// Reads all of it. Errors: the journal's.
[[nodiscard]] Result<JournalContent> content_of(journal::Journal& journal);

/// What is wrong with `compacted` as what compaction may leave of `content`: an action that is not
/// at its end is gone, an event is gone and an older one is not, or something is there that was
/// not. "" = nothing.
[[nodiscard]] std::string compaction_fault(const JournalContent& content,
                                           const JournalContent& compacted);

}  // namespace schedmate::testing
