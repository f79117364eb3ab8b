// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the head of a Ray cluster answers, read without trust.

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::ray_live {

enum class RayStatus : std::uint8_t { pending, running, succeeded, failed, stopped };

/// A job as Ray's Jobs API shows it.
struct RayJob {
  std::string id;  ///< of its submission; of a driver that nobody submitted: the job's
  RayStatus status = RayStatus::pending;
  std::string entrypoint, name, user;  ///< the last two as its metadata say, or ""
  std::string error_type, message;     ///< why it failed; cut
  std::string node;                    ///< id of its driver's; "" while it is pending
  SimTime submitted;
  std::optional<SimTime> ended{};
  std::optional<std::int32_t> exit_code{};  ///< below 0: by a signal
  bool operator==(const RayJob&) const = default;
  [[nodiscard]] bool is_over() const { return status >= RayStatus::succeeded; }
};

struct RayNode {
  std::string id, ip;
  std::string label;  ///< "sm-node"; "": it has none
  bool is_alive = false;
  std::string why;  ///< of one that is dead
  std::map<std::string, double, std::less<>> resources{};
};

struct RayVersion {
  std::string ray;      ///< "2.60.0"
  std::string session;  ///< of the head: it has another one once it was started again
};

/// Errors of all: invalid.
[[nodiscard]] Result<RayVersion> read_version(std::string_view body);
[[nodiscard]] Result<RayJob> read_job(std::string_view body);
[[nodiscard]] Result<std::vector<RayJob>> read_jobs(std::string_view body);
[[nodiscard]] Result<std::vector<RayNode>> read_nodes(std::string_view body);
/// How much of a resource is in use, by node id, as /api/cluster_status has it (camel-cased).
[[nodiscard]] Result<std::map<std::string, double>> read_usage(std::string_view body,
                                                               const std::string& resource);
/// The text of {"logs": TEXT}.
[[nodiscard]] Result<std::string> read_logs(std::string_view body);

/// A resource as /api/cluster_status and /nodes call it: "sm_node_w1" is "smNodeW1" there.
[[nodiscard]] std::string camel_case(std::string_view name);
/// "2.60.0" is at least 2.49, from which on Ray has selectors of labels.
[[nodiscard]] bool has_selectors(std::string_view ray_version);

}  // namespace schedmate::ray_live
