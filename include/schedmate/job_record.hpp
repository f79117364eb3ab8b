// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is remembered of one job (paper 3.1, Vector Store and Version Manager).

#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/job.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// One point of a job's progress, as read from its log.
struct ProgressPoint {
  Seconds since_start{0};
  double step = 0;
  std::optional<double> loss;
  bool operator==(const ProgressPoint&) const = default;
};

/// How a job ended. Absent figures were not measured.
struct Outcome {
  EndState state = EndState::unknown;
  std::optional<SimTime> start, end;
  Seconds duration{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::string log_summary;  ///< JSON, "" = none
  std::string fingerprint;  ///< of its failure (diagnosis.hpp), "" = none
  std::vector<ProgressPoint> progress;
  bool operator==(const Outcome&) const = default;
};

struct Neighbour {
  std::string id;
  double score = 0;  ///< 0 to 1
  bool operator==(const Neighbour&) const = default;
};

/// The advice that was given at submission, kept to see later how good it was.
struct GivenAdvice {
  std::string source;  ///< resubmission, similar, user_history, none
  FractionalSeconds mean{0}, p10{0}, p50{0}, p90{0};
  std::optional<double> gpu_util_pct, gpu_memory_mib;
  std::vector<Neighbour> neighbours;  ///< best first
  bool operator==(const GivenAdvice&) const = default;
};

struct JobRecord {
  std::string id;    ///< unique in the store, not empty
  std::string user;  ///< a name for the history
  std::string vc;    ///< virtual cluster or partition
  SimTime submit;
  std::string root, workdir, command, branch;
  std::int64_t gpus = 0;  ///< total over all nodes
  std::int64_t nodes = 0;
  std::string gpu_type;
  std::optional<Seconds> time_limit;
  std::map<std::string, std::string, std::less<>> fields;  ///< fact -> normalised value
  std::string facts_json;                                  ///< the schedmate.facts.v1 document
  std::string text;           ///< what is embedded; "" = not to be found by similarity
  std::uint64_t text_id = 0;  ///< given by the store, ignored by put; 0 = no text
  std::string entry;          ///< key of the command without its flags (admission)
  std::string closure;        ///< hash of the files that the facts came from
  std::optional<GivenAdvice> advice;
  std::optional<Outcome> outcome;
  bool operator==(const JobRecord&) const = default;
};

}  // namespace schedmate
