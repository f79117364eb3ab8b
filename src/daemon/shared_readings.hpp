// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Questions to schedmate-reader, few at a time, failures before code and code before logs, and
/// equal ones together: of a thousand jobs that were submitted alike each waits for a reading that
/// began after it was asked for, and no longer.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "reader/client.hpp"

namespace schedmate::daemon {

class SharedReadings {
 public:
  using Read = std::shared_ptr<const Result<Document>>;
  using Take = std::function<void(const Read& read)>;
  using Ask = reader::Ask;  ///< it may answer at once

  explicit SharedReadings(std::size_t most_out = 4) : most_out_(most_out) {}

  /// Any thread. `take` is called once, by the thread that answers. `ask` is that of all calls.
  void ask(const Ask& ask, const reader::Request& request, Take take);

 private:
  struct Question {
    Ask ask;
    reader::Request request;
    std::vector<Take> waiting{};  ///< for the next reading
    bool is_out = false;
  };
  void enqueue(const std::string& key, const Question& question);
  void go_on();
  void returned(const std::string& key, const std::vector<Take>& takes, const Read& read);

  const std::size_t most_out_;
  std::mutex mutex_;
  std::map<std::string, Question> questions_;  // by what is asked
  /// Those that somebody waits for and are not out, by urgency and then as they came.
  std::map<std::pair<int, std::uint64_t>, std::string> due_;
  std::uint64_t came_ = 0;
  std::size_t out_ = 0;
};

}  // namespace schedmate::daemon
