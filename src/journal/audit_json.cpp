// SPDX-License-Identifier: Apache-2.0
#include "journal/audit_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "core/instant.hpp"

namespace schedmate::journal {

Document audit_document(std::span<const AuditEntry> entries) {
  Document all = Document::array();
  for (const AuditEntry& each : entries) {
    const auto read = read_json(each.text, {});
    Document entry{{"sequence", each.sequence}, {"text", each.text}};
    if (read && read->is_object()) entry = *read;  // what --verify is to find is shown as it is
    if (const auto when = entry.find("when_s"); when != entry.end() && when->is_number_integer())
      put_instant(entry, "when", at(when->get<std::int64_t>()));
    entry["hash"] = each.hash;
    all.push_back(std::move(entry));
  }
  return {{"schema", "schedmate.audit.v1"}, {"entries", std::move(all)}};
}

Document audit_document(const AuditVerdict& verdict) {
  Document fault;
  if (verdict.fault) fault = {{"sequence", verdict.fault->sequence}, {"what", verdict.fault->what}};
  return {{"schema", "schedmate.audit.v1"}, {"sound", !verdict.fault.has_value()},
          {"first", verdict.first},         {"last", verdict.last},
          {"entries", verdict.entries},     {"head", verdict.head},
          {"fault", std::move(fault)}};
}

}  // namespace schedmate::journal
