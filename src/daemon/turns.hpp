// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who asks much waits for himself: one question of each asker after the other.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace schedmate::daemon {

template <class Question>
class Turns {
 public:
  void put(const std::string& asker, Question question) {
    std::deque<Question>& own = waiting_[asker];
    if (own.empty()) turns_.push_back(asker);
    own.push_back(std::move(question));
  }
  /// The oldest of whoever has waited longest for a turn.
  [[nodiscard]] std::optional<Question> next() {
    if (turns_.empty()) return std::nullopt;
    const std::string asker = std::move(turns_.front());
    turns_.pop_front();
    const auto own = waiting_.find(asker);
    Question question = std::move(own->second.front());
    own->second.pop_front();
    if (own->second.empty())
      waiting_.erase(own);
    else
      turns_.push_back(asker);
    return question;
  }
  [[nodiscard]] bool empty() const { return turns_.empty(); }

 private:
  std::map<std::string, std::deque<Question>> waiting_;  // none is empty
  std::deque<std::string> turns_;                        // each asker once
};

}  // namespace schedmate::daemon
