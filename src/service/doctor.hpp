// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What works on this machine, what it gives, and how to get what is missing (`schedmate doctor`).

#include <string>
#include <vector>

#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct DoctorRow {
  std::string what;
  bool works = true;
  bool needed = false;  ///< by every command; else something is only gained by it
  std::string detail;   ///< where it is, its version; else what is wrong
  std::string gives;    ///< what it is good for
  std::string mend;     ///< how to get it, "" = it is there
};

/// Data files, state folder, memory, and what an operator may have: Slurm's programs and its
/// settings, NVML, dcgm-exporter, Redis, model servers, the time zone. Each question has a deadline
/// of its own, so that the whole takes seconds even where nothing answers.
[[nodiscard]] std::vector<DoctorRow> examine(const settings::Session& session);

/// The row's fields.
[[nodiscard]] Document doctor_row_document(const DoctorRow& row);

}  // namespace schedmate::service
