// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The probe on a compute node (docs/probe.md): one thread that samples, follows the kernel's log
/// and sends both.

#include <chrono>
#include <functional>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>

#include "probe/report.hpp"
#include "probe/seal.hpp"

namespace schedmate::probe {

struct ProbeOptions {
  NodeKey key;          ///< who speaks
  std::string address;  ///< of the daemon: "unix:PATH" or "http://HOST:PORT"
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string nvml_from;  ///< a file instead of the library, "" = none
  std::string dcgm;       ///< URL of a dcgm-exporter instead of the library, "" = none
  std::string kernel_log = "/dev/kmsg";
  std::string rules_folder;  ///< "" = the built-in rules
  std::chrono::seconds every{10};
  std::chrono::milliseconds nvml_deadline{5000};
};

struct ProbeSurroundings {
  Clock clock;
  std::function<bool()> stopped;                        ///< asked each second
  std::function<void(const std::string& line)> report;  ///< a line for the log
  std::uint64_t seed = 0;                               ///< of the waits after failures
};

/// Until it is stopped. Errors: invalid (rules, address); nothing else ends it.
Result<void> run(const ProbeOptions& options, const ProbeSurroundings& surroundings);

/// One sample and what the kernel's log holds, without a daemon. Errors: invalid.
Result<Report> look_once(const ProbeOptions& options, const Clock& clock);

}  // namespace schedmate::probe
