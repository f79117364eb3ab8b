// SPDX-License-Identifier: Apache-2.0
#include "daemon/health.hpp"

#include <fmt/format.h>

#include <utility>

namespace schedmate::daemon {
namespace {

std::string why_of(const Health::Stops& stops) {
  if (!stops.unrecorded.empty())
    return "nothing can be recorded, so nothing is called: " + stops.unrecorded;
  if (!stops.doubt.empty())
    return fmt::format(
        "the journal is not what was on record ({}): nothing is called until an operator closes "
        "the breaker",
        stops.doubt);
  if (stops.foreign_mark.empty()) return "";
  return fmt::format("another instance acts on this cluster (\"{}\"): nothing is called",
                     stops.foreign_mark);
}

}  // namespace

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

void Health::measured(std::vector<http::Metric> metrics) {
  const std::lock_guard lock(mutex_);
  metrics_ = std::move(metrics);
}

void Health::stopped(Stops stops) {
  const std::lock_guard lock(mutex_);
  stops_ = std::move(stops);
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
  const bool acts = stops_.unrecorded.empty() && stops_.doubt.empty();
  if (!acts) return {false, {why_of(stops_)}};
  http::Readiness made{true, lacks_};
  if (std::string why = why_of(stops_); !why.empty()) made.reasons.push_back(std::move(why));
  return made;
}

std::string Health::stopped() const {
  const std::lock_guard lock(mutex_);
  return why_of(stops_);
}

std::vector<http::Metric> Health::metrics() const {
  const std::lock_guard lock(mutex_);
  return metrics_;
}

}  // namespace schedmate::daemon
