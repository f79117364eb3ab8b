// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

#include <fmt/format.h>

#include <utility>

namespace schedmate::daemon {

void Health::lacks(std::vector<std::string> lacks) {
  const std::lock_guard lock(mutex_);
  lacks_ = std::move(lacks);
}

void Health::heard() {
  const std::lock_guard lock(mutex_);
  is_heard_ = true;
}

bool Health::look(const Error* error) {
  const std::lock_guard lock(mutex_);
  const bool was_blind = !trouble_.empty();
  trouble_ = error != nullptr ? error->message : "";
  return was_blind != !trouble_.empty();
}

void Health::measured(std::vector<http::Metric> metrics, std::string foreign_mark) {
  const std::lock_guard lock(mutex_);
  metrics_ = std::move(metrics);
  foreign_mark_ = std::move(foreign_mark);
}

bool Health::is_heard() const {
  const std::lock_guard lock(mutex_);
  return is_heard_;
}

std::string Health::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

http::Readiness Health::readiness() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return {false, {"the cluster does not answer: " + trouble_}};
  if (!is_heard_) return {false, {"the cluster was not read yet"}};
  http::Readiness made{true, lacks_};
  if (!foreign_mark_.empty())
    made.reasons.push_back(fmt::format(
        "another instance acts on this cluster (\"{}\"): nothing is called", foreign_mark_));
  return made;
}

std::vector<http::Metric> Health::metrics() const {
  const std::lock_guard lock(mutex_);
  return metrics_;
}

}  // namespace schedmate::daemon
