// SPDX-License-Identifier: Apache-2.0
#include "daemon/record.hpp"

#include "daemon/journal_past.hpp"

namespace schedmate::daemon {
namespace {

constexpr std::chrono::seconds pause{5};  ///< between two tries

}  // namespace

Result<void> Record::lose(const Error& error) {
  if (error.code != ErrorCode::unavailable) return tl::unexpected(error);
  if (lost_.empty()) {
    ways_.report("records nothing, and so does nothing but look: " + error.message);
    next_try_ = clock_.now();
  }
  lost_ = error.message;
  return {};
}

Result<void> Record::open_file() {
  if (journal_) return journal_->reopen();
  auto journal = journal::Journal::open(options_, clock_);
  if (!journal) return tl::unexpected(journal.error());
  journal_ = std::move(*journal);
  return {};
}

Result<void> Record::open() {
  return open_file().or_else([this](const Error& error) { return lose(error); });
}

Result<live::Past> Record::past() {
  if (lost_.empty()) {
    auto past = past_in(*journal_);
    if (past) return past;
    if (auto lost = lose(past.error()); !lost) return tl::unexpected(lost.error());
  }
  return live::Past{.kept = {{instance_key, "unrecorded"}}};
}

void Record::append(journal::Batch batch) {
  writer_.ask([this, batch = std::move(batch)] {
    live::Appended appended{journal_->append(batch)};
    (void)journal_->compact();  // an error shows at the next append
    ways_.tell(live::Event(std::move(appended)));
  });
}

bool Record::try_again() {
  if (lost_.empty() || is_trying_ || clock_.now() < next_try_) return false;
  is_trying_ = true;
  writer_.ask([this] { ways_.tell(Reopened{open_file()}); });
  return true;
}

Result<void> Record::take(const Reopened& reopened) {
  is_trying_ = false;
  next_try_ = clock_.now() + pause;
  if (!reopened.result) return lose(reopened.result.error());
  lost_.clear();
  ways_.report("records again");
  return {};
}

}  // namespace schedmate::daemon
