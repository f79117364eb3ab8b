// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why a job ended, read from its logs (paper 3.3, Failure Handler).
///
/// A verdict is a class with the line that names the cause. Nothing is executed here, and a node is
/// named only when it is in the allocation that the caller gives.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/embed.hpp>
#include <schedmate/gpu_state.hpp>
#include <schedmate/job_context.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <schedmate/witness.hpp>
#include <string>
#include <vector>

namespace schedmate {

enum class FailureClass : std::uint8_t { none, infrastructure, framework, user_script, other };
enum class Component : std::uint8_t { none, gpu, nvlink, network, node, storage, other };
/// What a failure line is to the failure.
enum class LineRole : std::uint8_t { cause, cascade, teardown };
enum class Recommendation : std::uint8_t {
  restart_same,
  restart_elsewhere,
  do_not_restart,
  test_first,
  notify
};

struct LogEvidence {
  std::string file;
  std::uint64_t line = 0;  ///< 1-based; lines end at \n only
  std::string text;        ///< printable, secrets left out
  LineRole role = LineRole::cause;
};

/// The same failure in earlier jobs of the history.
struct SeenBefore {
  std::size_t jobs = 0, users = 0;
  SimTime first, last;               ///< when the first and the last of them ended
  std::vector<std::string> nodes;    ///< that each of at least three had, as the job at hand
  std::vector<std::string> job_ids;  ///< newest first; only those that the reader may know
};

struct Diagnosis {
  FailureClass verdict = FailureClass::none;
  Component component = Component::none;
  std::string root_file;
  std::optional<std::uint64_t> root_line;         ///< 1-based: the line that names the cause
  std::optional<std::uint64_t> first_error_line;  ///< 1-based: where the failure begins
  std::string reason;
  std::vector<LogEvidence> evidence;
  std::vector<std::string> nodes;  ///< of the allocation only
  Recommendation recommendation = Recommendation::notify;
  std::string advice;  ///< what to test, restart or tell whom, in words
  double confidence = 0;
  std::vector<Witness> witnesses;   ///< every row of witnesses.def
  std::vector<GpuReading> gpus;     ///< as they were given
  std::string fingerprint;          ///< equal for the same failure of another job
  std::optional<SeenBefore> seen;   ///< nothing: never, or no history was asked
  std::vector<LogEvidence> unseen;  ///< lines that a good run does not have (its role says nothing)
  std::string by;                   ///< locator and rule, or model
  std::vector<std::string> dropped;  ///< of what a CauseReader said: what does not count, and why
};

/// The lines around a failure whose cause no rule knows.
struct OpenCause {
  struct Line {
    std::uint64_t number = 0;  ///< 1-based
    std::string text;          ///< as `clean` gave it
  };
  std::vector<Line> lines;
  std::optional<std::uint64_t> candidate;  ///< the line that the locator found
};

struct CauseClaim {
  FailureClass verdict = FailureClass::other;
  Component component = Component::none;
  std::uint64_t line = 0;  ///< that shows it
  std::string reason;      ///< in a few words
};

/// Someone who may know the cause, as a language model. The claim counts when the cited line bears
/// it out; it never restarts a job elsewhere and names no node. Nothing: not known.
using CauseReader = std::function<std::optional<CauseClaim>(const OpenCause&)>;

struct DiagnoseInput {
  std::vector<std::string> paths;      ///< logs of one job, one or one for each rank
  std::string locator = "scan";        ///< a row of locators.def
  std::string classifier = "rules";    ///< a row of classifiers.def
  const Embedder* embedder = nullptr;  ///< of the classifier `embedding`
  std::string rules;                   ///< operator's folder of rules, "" = none
  std::string good;                    ///< log of a run that went well, "" = none
  std::optional<JobContext> job;
  std::vector<KernelLog> kernel_logs;
  std::vector<GpuReading> gpus;
  /// Makes a text of the log fit to be shown: secrets out, no control characters.
  std::function<std::string(std::string_view)> clean;
  CauseReader reader{};         ///< asked for what the rules leave open; may be empty
  double doubtful_below = 0.3;  ///< a rule that is less sure leaves the cause open
};

/// Errors: not_found (locator, classifier), unsupported (no log, log too large for the locator),
/// those of reading the logs, the kernel logs and the rules, those of the embedder.
[[nodiscard]] Result<Diagnosis> diagnose(const DiagnoseInput& input);

[[nodiscard]] std::string_view name_of(FailureClass verdict);
[[nodiscard]] std::string_view name_of(Component component);
[[nodiscard]] std::string_view name_of(LineRole role);
[[nodiscard]] std::string_view name_of(Recommendation recommendation);

/// Names and summaries of locators.def, classifiers.def and witnesses.def.
struct SeamRow {
  std::string_view name;
  std::string_view summary;
};
[[nodiscard]] std::vector<SeamRow> locator_names();
[[nodiscard]] std::vector<SeamRow> classifier_names();
[[nodiscard]] std::vector<SeamRow> witness_names();

[[nodiscard]] std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace schedmate
