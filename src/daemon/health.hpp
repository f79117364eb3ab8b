// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the front door tells of the daemon itself: whether it is ready, and its figures. Written by
/// the daemon's thread, read by any.

#include <mutex>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "http/options.hpp"

namespace schedmate::daemon {

class Health {
 public:
  /// What a mode cannot do on this cluster, in words.
  void lacks(std::vector<std::string> lacks);
  /// The first reading of the cluster has been taken: from now on there is something to tell.
  void heard();
  /// After each call for a reading: its error, or null. Gives whether that has changed.
  bool look(const Error* error);
  void measured(std::vector<http::Metric> metrics);
  /// Why nothing is called; "": that is no reason.
  struct Stops {
    std::string unrecorded{};    ///< why nothing can be recorded
    std::string doubt{};         ///< what is wrong with the journal
    std::string foreign_mark{};  ///< of another instance that acts
  };
  void stopped(Stops stops);

  [[nodiscard]] bool is_heard() const;
  /// Why the cluster is not seen; "": it is, or nobody has looked yet.
  [[nodiscard]] std::string trouble() const;
  /// Why nothing is called, in words; "": there is no such reason.
  [[nodiscard]] std::string stopped() const;
  [[nodiscard]] http::Readiness readiness() const;
  [[nodiscard]] std::vector<http::Metric> metrics() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lacks_;
  bool is_heard_ = false;
  std::string trouble_;
  Stops stops_;
  std::vector<http::Metric> metrics_;
};

}  // namespace schedmate::daemon
