// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Traces of any size (docs/formats/generate.md): rows of a real one drawn again, or synthetic.

#include <cstdint>
#include <limits>
#include <schedmate/result.hpp>
#include <string>

#include "base/document.hpp"
#include "settings/session.hpp"
#include "synth/resample.hpp"
#include "synth/synthesis.hpp"

namespace schedmate::lab {

struct GenerateRequest {
  std::string from;  ///< "venus" or "FORMAT:PATH"
  std::int64_t jobs = 0;
  std::int64_t gpus = 0;
  std::int64_t most_gpus = 0;  ///< of a job, with `like`; 0: all there are
  double load = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not given
  std::string cluster;  ///< of the source: TOML file, "" = the trace's own
  std::string out;      ///< folder, made where it is absent
  std::string elastic;  ///< parameters of elastic tables (TOML); "": a trace is made
  std::string like;     ///< "acme-seren", ... or a TOML file; "": resample `from`
  double days = std::numeric_limits<double>::quiet_NaN();  ///< with `like`; NaN: not given
};

/// Rows of `from`, drawn again: writes OUT/jobs.csv and OUT/cluster.toml. Errors: unsupported for
/// numbers that cannot be; of the source and the files.
[[nodiscard]] Result<synth::Resampled> generate_from(const settings::Session& session,
                                                     const GenerateRequest& request);
[[nodiscard]] Document resampled_document(const settings::Session& session,
                                          const GenerateRequest& request,
                                          const synth::Resampled& drawn);

/// An elastic workload: writes tables, jobs and cluster, and gives how many files. Errors:
/// unsupported beside other requests; of the parameters and the files.
[[nodiscard]] Result<std::size_t> generate_elastic(const GenerateRequest& request);
[[nodiscard]] Document elastic_files_document(const GenerateRequest& request, std::size_t files);

/// Percent of the failed jobs, and of their GPU time, whose cause is infrastructure.
struct InfrastructureShare {
  double jobs_percent = 0;
  double gpu_time_percent = 0;
};
/// Means over the jobs of the file, which differ from those that are checked where jobs were
/// capped.
struct FileMeans {
  double gpus = 0;
  double gpu_s = 0;
};
struct SyntheticTrace {
  std::string cluster;  ///< the name in its published figures
  std::int64_t gpus = 0;
  synth::Synthesis drawn;
  InfrastructureShare infrastructure;
  FileMeans written;
};
/// A synthetic trace like a cluster of which figures are published: writes OUT/jobs.csv and
/// OUT/cluster.toml. Where `drawn.holds()` is false a drawn statistic is more than 10 % off the
/// published one. Errors: unsupported for numbers that cannot be; of the tables and the files.
[[nodiscard]] Result<SyntheticTrace> generate_like(const settings::Session& session,
                                                   const GenerateRequest& request);
[[nodiscard]] Document synthetic_document(const settings::Session& session,
                                          const GenerateRequest& request,
                                          const SyntheticTrace& trace);

}  // namespace schedmate::lab
