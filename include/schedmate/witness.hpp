// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Sources beside a job's own log that can bear a diagnosis out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

/// Text of a kernel's log: dmesg, dmesg -T, journalctl -k -o short or short-iso.
struct KernelLog {
  std::string path;
  std::string node;  ///< where it was taken, "" = as its lines say
};

/// "NODE=FILE" or "FILE". A name with a '/' before the '=' is part of the path.
[[nodiscard]] KernelLog read_kernel_log_name(std::string_view text);

/// What a witness has seen: a line of a kernel's log, the state of a GPU or of the job.
struct WitnessEvent {
  std::string node;  ///< of the allocation, "" = not known
  std::string when;  ///< as it was printed
  std::string rule, text;
};

/// What another source than the log says.
struct Witness {
  std::string name;            ///< a row of witnesses.def
  bool asked = false;          ///< false: it is missing
  std::optional<bool> agrees;  ///< nothing: it is missing, or says nothing on this
  std::string says;
  std::vector<WitnessEvent> events;  ///< the most telling first
};

}  // namespace schedmate
