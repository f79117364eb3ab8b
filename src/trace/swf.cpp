// SPDX-License-Identifier: Apache-2.0

/// docs/formats/swf.md: the Standard Workload Format of the Parallel Workloads Archive. 18 numbers
/// a line, -1 = not known; comments begin with ';' and some of them describe the machine.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "trace/builder.hpp"
#include "trace/readers.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

enum Field : std::uint8_t {
  id,
  submit,
  wait,
  run,
  processors,
  cpu_time,
  memory,
  requested_processors,
  requested_time,
  requested_memory,
  status,
  user,
  group,
  program,
  queue,
  partition,
  previous,
  think_time,
  field_count
};

constexpr std::array<std::string_view, field_count> field_names = {
    "job",           "submit_s",          "wait_s",     "run_s",
    "processors",    "cpu_time_s",        "memory_kib", "wanted_processors",
    "wanted_time_s", "wanted_memory_kib", "status",     "user",
    "group",         "program",           "queue",      "partition",
    "previous_job",  "think_time_s"};

using Fields = std::array<std::string_view, field_count>;

/// How many blank-separated parts the line has; the first 18 go to `fields`.
std::size_t split_blanks(std::string_view line, Fields& fields) {
  std::size_t count = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (true) {
    while (at != end && blank(*at)) ++at;
    if (at == end) return count;
    const char* const begin = at;
    while (at != end && !blank(*at)) ++at;
    if (count < field_count) fields[count] = {begin, static_cast<std::size_t>(at - begin)};
    ++count;
  }
}

struct Machine {
  std::int64_t nodes = 0;
  std::int64_t processors = 0;

  /// Takes in a comment such as "; MaxNodes: 128".
  void note(std::string_view comment) {
    const std::size_t colon = comment.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = trim(comment.substr(0, colon));
    std::string_view value = trim(comment.substr(colon + 1));
    value = value.substr(0, value.find_first_of(" \t("));
    const auto number = parse_number<std::int64_t>(value);
    if (!number || *number < 1 || *number > most_gpus) return;
    if (key == "MaxNodes") nodes = *number;
    if (key == "MaxProcs") processors = *number;
  }

  /// One partition with all jobs: only then do the totals say how large it is.
  [[nodiscard]] std::optional<ClusterSpec> cluster(const std::vector<std::string>& vcs) const {
    if (vcs.size() != 1 || processors == 0) return std::nullopt;
    const std::int64_t count = nodes == 0 ? processors : nodes;
    if (processors % count != 0 || processors / count > 64) return std::nullopt;
    PartitionSpec spec;
    spec.name = vcs.front();
    spec.nodes = static_cast<int>(count);
    spec.gpus_per_node = static_cast<int>(processors / count);
    return ClusterSpec{{spec}};
  }
};

class SwfReader {
 public:
  SwfReader(const std::string& name, const ReadOptions& options) : builder_(name, options) {}

  Result<void> bind(const std::string& name, const ReadOptions& options) {
    for (const std::string& wanted : options.columns) {
      const auto found = std::ranges::find(field_names, wanted);
      if (found == field_names.end()) {
        return fail(ErrorCode::invalid,
                    fmt::format("{}: {}", name, unknown_name("column", wanted, field_names)));
      }
      columns_.push_back(static_cast<std::size_t>(found - field_names.begin()));
    }
    extra_.resize(columns_.size());
    return {};
  }

  void take(std::string_view line, std::uint64_t number) {
    Fields fields;
    const std::size_t count = split_blanks(line, fields);
    if (count == 0) return;
    if (fields[0].front() == ';') return machine_.note(line.substr(line.find(';') + 1));
    if (count != field_count) return builder_.reject("a row needs 18 fields", number, 1);
    const auto column = [&](Field field) {
      return static_cast<std::size_t>(fields[field].data() - line.data()) + 1;
    };
    std::array<std::int64_t, field_count> values{};
    for (std::size_t i = 0; i < field_count; ++i) {
      const auto value = parse_seconds(fields[i]);
      if (!value) return builder_.reject("not a number", number, column(static_cast<Field>(i)));
      values[i] = *value;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      extra_[i] = static_cast<double>(values[columns_[i]]);
    }
    Draft job = draft(fields, values);
    if (values[status] >= 2 && values[status] <= 4) return builder_.skip("part of a job");
    if (values[run] == -1) return builder_.skip("never ran");
    if (job.gpus == -1) job.gpus = 0;
    builder_.add(job, {number, {column(id), column(processors), column(submit), column(run)}});
  }

  Result<Trace> finish() && {
    auto trace = std::move(builder_).finish();
    if (trace) trace->cluster = machine_.cluster(trace->vcs);
    return trace;
  }
  [[nodiscard]] bool stopped() const { return builder_.stopped(); }

 private:
  [[nodiscard]] Draft draft(const Fields& fields,
                            const std::array<std::int64_t, field_count>& values) const {
    Draft job;
    job.id = fields[id];
    job.user = values[user] < 0 ? std::string_view() : fields[user];
    job.vc = values[partition] < 0 ? whole_cluster : fields[partition];
    job.gpus = values[processors] > 0 ? values[processors] : values[requested_processors];
    job.submit_s = values[submit];
    job.duration_s = values[run];
    job.extra = extra_;
    if (values[status] == 0) job.state = EndState::failed;
    if (values[status] == 1) job.state = EndState::completed;
    if (values[status] == 5) job.state = EndState::cancelled;
    return job;
  }

  TraceBuilder builder_;
  Machine machine_;
  std::vector<std::size_t> columns_;
  std::vector<double> extra_;
};

}  // namespace

Result<Trace> parse_swf(std::string_view text, const std::string& display_name,
                        const ReadOptions& options) {
  SwfReader reader(display_name, options);
  if (const auto bound = reader.bind(display_name, options); !bound) {
    return tl::unexpected(bound.error());
  }
  for (std::uint64_t line = 1; !text.empty() && !reader.stopped(); ++line) {
    const std::size_t end = text.find('\n');
    reader.take(text.substr(0, end), line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).finish();
}

Result<Trace> read_swf(const std::string& path, const ReadOptions& options) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_swf(*text, path, options);
}

}  // namespace schedmate::trace
