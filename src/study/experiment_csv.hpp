// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An experiment's CSV and, beside it, the manifest that says what it was made of, so that nothing
/// of it changes unnoticed (docs/formats/experiment.md).

#include <cstdint>
#include <optional>
#include <string>

#include "settings/session.hpp"
#include "study/experiment_file.hpp"
#include "study/kept_runs.hpp"

namespace schedmate::study {

struct CsvPlaces {
  std::string csv, manifest;
  std::string runs;  ///< folder, while the CSV is not there
};
/// OUT/NAME.csv, OUT/NAME.manifest and OUT/NAME.runs.
[[nodiscard]] CsvPlaces csv_places(const ExperimentFile& experiment, const std::string& out);

/// The command line that makes the rows again: settings that change them are in it, threads are
/// not.
[[nodiscard]] std::string command_of(const settings::Session& session,
                                     const ExperimentFile& experiment, const std::string& out);

/// What decides the rows of an experiment.
struct RowsOrigin {
  bool elastic = false;
  std::string inputs;  ///< fingerprint
  std::string code;    ///< hash of the sources and of the defaults of settings
};
/// Errors: of reading the inputs.
[[nodiscard]] Result<RowsOrigin> origin_of(const settings::Session& session,
                                           const ExperimentFile& experiment,
                                           const std::string& out);
/// Of an experiment whose inputs are not on this machine: they are taken for those of its CSV, so
/// that a report says the same on any machine.
[[nodiscard]] RowsOrigin origin_without_inputs(const ExperimentFile& experiment,
                                               const std::string& out);

/// How a CSV stands to what would be made now.
enum class CsvStanding : std::uint8_t {
  current,
  earlier_code,
  never_run,
  other_csv,     ///< it is not the one of its manifest
  other_inputs,  ///< they have changed since
};
struct CsvState {
  CsvStanding standing = CsvStanding::never_run;
  std::string code;  ///< that made it, as in RowsOrigin; "" = not known
};
/// Errors: of reading the CSV.
[[nodiscard]] Result<CsvState> csv_state(const CsvPlaces& places, const RowsOrigin& origin);

/// Makes the CSV unless it stands: current, or of earlier code whose first two perturbations come
/// out the same now, which the manifest then keeps. Runs that were kept are not made again. Gives
/// how many rows were written; none where it stands. Errors: of the inputs, the runs and the files.
[[nodiscard]] Result<std::optional<std::size_t>> make_csv(const settings::Session& session,
                                                          const ExperimentFile& experiment,
                                                          const std::string& out);

/// What a shard has done for an experiment.
struct ShardDone {
  std::size_t runs = 0;       ///< of this shard that are there now
  std::size_t all = 0;        ///< of the experiment
  bool is_csv_there = false;  ///< and current: nothing is to be done
};
/// Makes and keeps the runs of one shard. Errors: of the inputs, the runs and the files.
[[nodiscard]] Result<ShardDone> make_shard(const settings::Session& session,
                                           const ExperimentFile& experiment, const std::string& out,
                                           Shard shard);

}  // namespace schedmate::study
