// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions behind formats.def. `parse_NAME` works on text alone, so that tests and fuzzers
/// need no files; `name` is what messages call it. `read_NAME` adds what lies beside the file.

#include <schedmate/trace.hpp>

#include "base/input.hpp"

namespace schedmate::trace {

#define FORMAT(name, summary)                                                        \
  Result<Trace> read_##name(const std::string& path, const ReadOptions& options);    \
  Result<Trace> parse_##name(std::string_view text, const std::string& display_name, \
                             const ReadOptions& options);
#include "trace/formats.def"
#undef FORMAT

/// The first bytes of a text, and whether they begin JSON.
struct TextStart {
  std::string text;
  bool json = false;
};
[[nodiscard]] Result<TextStart> look_at_start(const ReadBytes& read);

/// Reads a trace whose text may be JSON, without holding it in memory: the first bytes decide.
struct JsonOrText {
  using ParseText = Result<Trace> (*)(std::string_view, const std::string&, const ReadOptions&);
  using ParseJson = Result<Trace> (*)(std::string start, const ReadBytes& rest,
                                      const std::string& name, const ReadOptions&);
  ParseText text;
  ParseJson json;
};
Result<Trace> parse_json_or_text(const ReadBytes& read, const std::string& name,
                                 const ReadOptions& options, JsonOrText parsers);

/// The JSON halves of philly and sacct; the text begins with `start`.
Result<Trace> parse_philly_json(std::string start, const ReadBytes& rest, const std::string& name,
                                const ReadOptions& options);
Result<Trace> parse_sacct_json(std::string start, const ReadBytes& rest, const std::string& name,
                               const ReadOptions& options);

/// Cluster of a VC file (header ",num" or "vc,node num"), 8 GPUs a node.
Result<ClusterSpec> parse_vc_file(std::string_view text, const std::string& name);
/// The same from "PREFIX_vc_config.csv" or "vc_config.csv" beside a trace called "PREFIX_...";
/// nothing when neither is there.
Result<std::optional<ClusterSpec>> find_vc_file(const std::string& trace_path);
/// `trace` with the cluster of the VC file beside it, if there is one.
Result<Trace> with_vc_file(Result<Trace> trace, const std::string& trace_path);

/// As read_cluster and read_packing_tables, on text.
Result<ClusterSpec> parse_cluster(std::string_view text, const std::string& name);

}  // namespace schedmate::trace
