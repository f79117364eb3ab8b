// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Counters in the text form of Prometheus (version 0.0.4). No label names a job or a user.

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace schedmate::http {

enum class MetricKind : std::uint8_t { counter, gauge };

/// One family. The names of counters end in _total.
struct Metric {
  std::string name;
  std::string help;  ///< one sentence
  MetricKind kind = MetricKind::counter;
  std::string label{};  ///< name of the one label; "": none, and one value whose word is ""
  std::vector<std::pair<std::string, double>> values{};  ///< word of the label -> value
};

[[nodiscard]] std::string prometheus_text(std::span<const Metric> metrics);

/// Why a request was refused before any handler saw it.
enum class Cause : std::uint8_t { malformed, host, cross_site, token, role, route, limit, slow };

/// What the front door counts. Any thread may add.
struct Counters {
  std::array<std::atomic<std::uint64_t>, 6> by_class{};  ///< replies by the first digit of status
  std::array<std::atomic<std::uint64_t>, 8> refused{};   ///< by Cause
  std::atomic<std::uint64_t> late{0};                    ///< handlers that missed the deadline
  std::atomic<std::uint64_t> accepted{0};                ///< connections
  std::atomic<std::int64_t> listeners{0};                ///< streams now
  std::atomic<std::uint64_t> lagged{0};  ///< `full` sent for want of the events after an id

  void reply(int status);
  void refuse(Cause cause) { ++refused.at(static_cast<std::size_t>(cause)); }
  /// `connections`: as many are open now.
  [[nodiscard]] std::vector<Metric> metrics(std::size_t connections) const;
};

}  // namespace schedmate::http
