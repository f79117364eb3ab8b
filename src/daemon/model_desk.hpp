// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who asks the models of the settings for users whose code and logs schedmate-reader reads: some
/// threads, since an answer may take long. The budget of each question is that of the user whose
/// rights the reader read with.

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "daemon/turns.hpp"
#include "reader/client.hpp"
#include "service/models.hpp"

namespace schedmate::daemon {

class ModelDesk {
 public:
  /// `session` is that of the daemon, whose state folder is there.
  explicit ModelDesk(const settings::Session& session);
  ModelDesk(const ModelDesk&) = delete;
  ModelDesk& operator=(const ModelDesk&) = delete;
  /// What is in flight ends within a second; what waits has no answer any more.
  ~ModelDesk();

  /// As reader::AskModel.
  void ask(reader::Question question, std::function<void(std::string)> give);

 private:
  struct Waiting {
    reader::Question question;
    std::chrono::nanoseconds due{};
    std::function<void(std::string)> give;
  };
  void work(const std::stop_token& stop);
  [[nodiscard]] std::string answer_to(const Waiting& asked) const;

  std::stop_source stop_;
  Clock clock_;
  Result<service::Models> models_;
  std::mutex mutex_;
  std::condition_variable_any filled_;
  Turns<Waiting> waiting_;
  std::size_t count_ = 0;
  std::array<std::jthread, 8> threads_;  // last: they use what stands above
};

}  // namespace schedmate::daemon
