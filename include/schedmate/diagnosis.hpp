// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Why a job ended, read from its logs (paper 3.3, Failure Handler; docs/formats/diagnosis.md).
///
/// A verdict is a class with the line that names the cause. Nothing is executed here, and a node is
/// named only when it is in the allocation that the caller gives. A log alone never condemns a
/// machine: without a witness that agrees (witness.hpp) nobody is advised to avoid a node.
///
/// Values. `diagnose` may run in several threads at once when the functions of its input may.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/embed.hpp>
#include <schedmate/file_access.hpp>
#include <schedmate/gpu_state.hpp>
#include <schedmate/job_context.hpp>
#include <schedmate/result.hpp>
#include <schedmate/time.hpp>
#include <schedmate/witness.hpp>
#include <string>
#include <vector>

namespace schedmate {

/// Whose fault it is. `none`: the log shows no failure. `other`: cancelled, time limit, preempted,
/// killed without evidence, unknown.
enum class FailureClass : std::uint8_t { none, infrastructure, framework, user_script, other };
/// Of infrastructure only, else `none`.
enum class Component : std::uint8_t { none, gpu, nvlink, network, node, storage, other };
/// What a failure line is to the failure: its cause, what followed from it, or launchers that clean
/// up.
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
  /// 1-based; lines end at \n only.
  std::uint64_t line = 0;
  /// Printable, secrets left out, at most 400 bytes.
  std::string text;
  LineRole role = LineRole::cause;
  /// Lines of this template and role in the log, this one included.
  std::uint64_t count = 1;
};

/// The same failure in earlier jobs of the history.
struct EarlierOccurrences {
  std::size_t jobs = 0, users = 0;
  /// When the first and the last of them ended.
  SimTime first, last;
  /// Nodes that each of at least three had, and the job at hand, too.
  std::vector<std::string> nodes;
  /// Newest first; only those that the reader may know (caller.hpp).
  std::vector<std::string> job_ids;
};

struct Diagnosis {
  FailureClass verdict = FailureClass::none;
  Component component = Component::none;
  std::string root_file;
  /// 1-based: the line that names the cause, and where the failure begins (a traceback's first
  /// line). Empty: no line does.
  std::optional<std::uint64_t> root_line, first_error_line;
  std::string reason;
  std::vector<LogEvidence> evidence;
  /// Of the allocation only, and only where a witness agrees.
  std::vector<std::string> nodes;
  Recommendation recommendation = Recommendation::notify;
  /// What to test or restart, or whom to notify, in words.
  std::string advice;
  /// 0 to 1: how likely the class is right, and the line (docs/confidence.md). Fitted for what the
  /// rules said; of a model or a witness a fixed number.
  double confidence = 0, root_confidence = 0;
  /// The rule was less sure than doubtful_below: a CauseReader is asked.
  bool doubtful = false;
  /// Every row of witnesses.def.
  std::vector<Witness> witnesses;
  /// As they were given.
  std::vector<GpuReading> gpus;
  /// Equal for the same failure of another job: class, template of the line, its last frames.
  std::string fingerprint;
  /// Empty: never, or no history was asked.
  std::optional<EarlierOccurrences> seen;
  /// Lines that a good run does not have. Their role says nothing.
  std::vector<LogEvidence> unseen;
  /// Locator and rule, or LOCATOR/model.
  std::string by;
  /// False: no log has text to judge by, or one ends early and shows no failure; nobody else says
  /// that there was one. Then `verdict` is none and means nothing; `reason` says what is wrong.
  bool judged = true;
  /// The verdict is less sure than was asked for (cut_below): it counts as not known.
  bool unsure = false;
  /// Logs that were read in part or not at all, one sentence each.
  std::vector<std::string> unread;
  /// What a CauseReader said that does not count, and why.
  std::vector<std::string> dropped;
};

/// The lines around a failure whose cause no rule knows.
struct OpenCause {
  struct Line {
    /// 1-based.
    std::uint64_t number = 0;
    /// As `clean` gave it.
    std::string text;
  };
  std::vector<Line> lines;
  /// The line that the locator found.
  std::optional<std::uint64_t> candidate;
};

struct CauseClaim {
  FailureClass verdict = FailureClass::other;
  Component component = Component::none;
  /// The line that shows it.
  std::uint64_t line = 0;
  /// In a few words.
  std::string reason;
};

/// The seam of whoever may know the cause, such as a language model. The claim counts when the
/// cited line confirms it. It never restarts a job elsewhere and names no node. Empty: not known.
using CauseReader = std::function<std::optional<CauseClaim>(const OpenCause&)>;

struct DiagnoseInput {
  /// Logs of one job, one or one for each rank. What can be read of a damaged one counts.
  std::vector<std::string> paths;
  /// Rows of locators.def and classifiers.def; `embedding` needs the embedder.
  std::string locator = "scan";
  std::string classifier = "rules";
  const Embedder* embedder = nullptr;
  /// Operator's folder of rules, "" = none.
  std::string rules;
  /// Log of a run that went well, "" = none.
  std::string good;
  std::optional<JobContext> job;
  std::vector<KernelLog> kernel_logs;
  std::vector<GpuReading> gpus;
  /// Makes a text of the log fit to be shown: secrets out, no control characters.
  std::function<std::string(std::string_view)> clean;
  /// Asked for what the rules leave open; may be empty.
  CauseReader reader{};
  /// A rule that is less sure leaves the cause open.
  double doubtful_below = 0.3;
  /// Of the logs, the good run and the kernel logs.
  FileAccess access{};
};

/// The locator `scan` reads every line of each log; nothing else grows with them. Errors: not_found
/// (locator, classifier), unsupported (no log, a log too large for the locator), those of reading
/// the logs, the kernel logs and the rules, those of the embedder.
[[nodiscard]] Result<Diagnosis> diagnose(const DiagnoseInput& given);

/// A verdict that is less likely right becomes unknown, and so does the line that it names; what
/// they were stays in `reason` and `evidence`.
void cut_below(double least, Diagnosis& made);

/// Of the classes that are at least so likely right, 97 % were (docs/confidence.md).
[[nodiscard]] double careful_diagnosis_confidence();

/// As documents and tables print them: "user_script", "restart_same".
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

/// schedmate.diagnosis.v1.
[[nodiscard]] std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace schedmate
