// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What one of our policies is told of the jobs of a trace, for a host that replays it itself.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/estimator.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "settings/session.hpp"
#include "study/replay.hpp"

namespace schedmate::lab {

struct HostEstimatesRequest {
  std::string trace;    ///< "FORMAT:PATH"
  std::string policy;   ///< "NAME[:key=value,...]": its estimator, with the advice beside it
  std::string cluster;  ///< TOML file, "" = the trace's own
};

/// Of what a host counts as seconds of the trace's clock. Errors: invalid, where no trace lasts so
/// long and sums of times may overflow.
[[nodiscard]] Result<SimTime> instant_of(std::int64_t time_s);

/// As in simulate(): each virtual cluster learns of its own jobs alone. One thread at a time.
class HostEstimates {
 public:
  /// Errors: as simulate().
  [[nodiscard]] static Result<std::unique_ptr<HostEstimates>> open(
      const settings::Session& session, const HostEstimatesRequest& request);

  struct Answer {
    Prediction prediction;
    int sharing_score = -1;  ///< of the predicted GPU use; -1 = none is predicted
  };
  /// Of a job of the trace that enters, by its id. Errors: not_found; as of instant_of().
  [[nodiscard]] Result<Answer> predict(std::string_view id, std::int64_t now_s);
  /// It has ended, after the run time and in the state of the trace. Errors: the same.
  [[nodiscard]] Result<void> learn(std::string_view id, std::int64_t end_s);

  /// Of nothing yet; open() makes them.
  explicit HostEstimates(const settings::Session& session) : session_(session) {}

 private:
  [[nodiscard]] Result<void> read(const HostEstimatesRequest& request);
  [[nodiscard]] Result<std::size_t> row_of(std::string_view id) const;
  /// The copy of the job's virtual cluster.
  [[nodiscard]] const Estimator& of(std::size_t row);

  settings::Session session_;
  Trace trace_;
  std::optional<study::WorkloadOnDemand> workloads_;
  std::optional<study::ScopedProfiles> profiles_;
  Estimator fresh_;
  std::map<std::uint32_t, Estimator> of_vc_;
  std::unordered_map<std::string_view, std::size_t> rows_;  // the first of an id
};

}  // namespace schedmate::lab
