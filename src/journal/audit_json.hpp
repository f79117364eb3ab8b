// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `schedmate.audit.v1` (docs/formats/audit.md).

#include <span>

#include "base/document.hpp"
#include "journal/audit.hpp"

namespace schedmate::journal {

[[nodiscard]] Document audit_document(std::span<const AuditEntry> entries);
[[nodiscard]] Document audit_document(const AuditVerdict& verdict);

}  // namespace schedmate::journal
