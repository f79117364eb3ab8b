// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells people: by a webhook, a program that mails, or both. Waits for them, so that it is for a
/// thread of its own.

#include <chrono>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>

namespace schedmate::daemon {

class Notices {
 public:
  struct Options {
    std::string cluster{};       ///< its name, for people
    std::string webhook{};       ///< URL that a schedmate.notice.v1 is posted to; "": none
    std::string mail_command{};  ///< for /bin/sh; the mail with its head comes in; "": none
    std::chrono::milliseconds deadline{20'000};  ///< of each
  };
  explicit Notices(Options options) : options_(std::move(options)) {}

  /// Why nobody can be told; "": somebody can.
  [[nodiscard]] std::string lack() const;
  /// Of a `notify`. Done where all that are set have taken it; unknown where one gave no answer.
  [[nodiscard]] CallReply tell(const ActionCall& call) const;

 private:
  [[nodiscard]] CallReply post(const ActionCall& call) const;
  [[nodiscard]] CallReply mail(const ActionCall& call) const;

  Options options_;
};

}  // namespace schedmate::daemon
