// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `squeue --json`, `sinfo --json` and `scontrol show ... --json` print, as the records that
/// scontrol prints as text. The layouts of Slurm 22.05 to 24.11: a number is one or an object of
/// {set, infinite, number}, a state a word or a list of words.

#include <schedmate/result.hpp>

#include "slurm/shown.hpp"

namespace schedmate::slurm {

/// One behind the end of the JSON object that begins `text`; npos: it has none, or is nested deeper
/// than any of Slurm's.
[[nodiscard]] std::size_t end_of_object(std::string_view text);

/// `line` is where the document begins; its records all bear it. A document without jobs is a
/// record of the kind "NoJobs", its errors are of the kind "Error", when the jobs were last changed
/// is one of the kind "LastUpdate", and the cluster's name one of the kind "Cluster". Errors:
/// invalid; the message begins with "LINE: ".
[[nodiscard]] Result<std::vector<ShownRecord>> read_json(std::string_view document,
                                                         std::size_t line);

}  // namespace schedmate::slurm
