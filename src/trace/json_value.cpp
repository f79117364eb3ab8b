// SPDX-License-Identifier: Apache-2.0
#include "trace/json_value.hpp"

#include <utility>

namespace schedmate::trace {

Result<Trace> read_jobs(JsonArray jobs, const std::string& name, const ReadOptions& options,
                        void (*add_job)(JsonElement, std::uint64_t, TraceBuilder&)) {
  TraceBuilder builder(name, options);
  simdjson::dom::parser parser;
  while (!builder.stopped()) {
    const auto object = jobs.next();
    if (!object) return tl::unexpected(object.error());
    if (!object->has_value()) break;
    if (const auto element = parse_object(parser, **object)) {
      add_job(*element, jobs.line(), builder);
    } else {
      builder.reject("not valid JSON", jobs.line(), 0);
    }
  }
  return std::move(builder).finish();
}

}  // namespace schedmate::trace
