// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sources beside a job's own log that can confirm a diagnosis: what the kernels of its nodes
/// said, what their GPUs say (gpu_state.hpp), how the scheduler ended it. A job can print any line,
/// but writes none of these, so only a witness makes a log's claim against the infrastructure sure
/// (docs/formats/diagnosis.md). Ours, beside the paper's Failure Handler (3.3).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Text of a kernel's log: dmesg, dmesg -T, journalctl -k -o short or short-iso.
struct KernelLog {
  std::string path;
  /// Where it was taken, "" = as its lines say.
  std::string node;
};

/// "NODE=FILE" or "FILE". A name with a '/' before the '=' is part of the path.
[[nodiscard]] KernelLog read_kernel_log_name(std::string_view text);

/// What a witness has seen: a line of a kernel's log, the state of a GPU or of the job.
struct WitnessEvent {
  /// One of the allocation, "" = not known.
  std::string node;
  /// As it was printed.
  std::string when;
  std::string rule, text;
};

/// What another source than the log says.
struct Witness {
  /// A row of src/log/witness/witnesses.def.
  std::string name;
  /// False: the caller gave nothing of it.
  bool asked = false;
  /// Empty: it is missing, or says nothing on this.
  std::optional<bool> agrees;
  /// In words, for people.
  std::string says;
  /// The most relevant first.
  std::vector<WitnessEvent> events;
};

}  // namespace schedmate
