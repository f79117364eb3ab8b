// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Synthetic traces of clusters by name, as values.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string>

#include "synth/synthesis.hpp"

namespace schedmate::study {

/// The figures of a bundled cluster or of a .toml file. Errors: not_found for another name; of
/// reading the files.
[[nodiscard]] Result<synth::Published> read_published(const std::string& like);
[[nodiscard]] ClusterSpec cluster_of(const synth::Published& published,
                                     const synth::Synthesis& drawn);
/// As a reader gives it of the file that `generate --like` writes, with its cluster.
[[nodiscard]] Result<Trace> trace_of(const synth::Published& published,
                                     const synth::Synthesis& drawn);

}  // namespace schedmate::study
