// SPDX-License-Identifier: Apache-2.0
#include "store/redis_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text.hpp"
#include "store/codec.hpp"
#include "store/lists.hpp"

namespace schedmate::store {
namespace {

// The long ones come last, so that a brief query leaves them out.
constexpr auto names = std::to_array<std::string_view>(
    {"id",      "user",         "vc",         "submit_s",     "root",           "workdir",
     "command", "branch",       "gpus",       "nodes",        "gpu_type",       "entry",
     "closure", "time_limit_s", "text_id",    "fields",       "advice",         "state",
     "start_s", "end_s",        "duration_s", "gpu_util_pct", "gpu_memory_mib", "fingerprint",
     "request", "use",          "facts",      "log_summary",  "progress"});
constexpr std::size_t long_names = 3;

/// Times and counts beyond these overflow where they are added up.
constexpr std::int64_t most_number = 1'000'000'000'000'000;
template <class Number>
constexpr Number least_number = std::is_unsigned_v<Number> ? Number{0} : Number(-most_number);

/// A reply by name; "" for what is not there.
class Values {
 public:
  explicit Values(const std::vector<RedisReply>& list) : list_(list) {}
  [[nodiscard]] const std::string& text(std::string_view name) const {
    static const std::string none;
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    return at < list_.size() ? list_[at].text : none;
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> number(std::string_view name) const {
    const auto number = parse_number<Number>(text(name));
    return number && *number <= most_number && *number >= least_number<Number> ? number
                                                                               : std::nullopt;
  }
  [[nodiscard]] std::int64_t whole(std::string_view name) const {
    return number<std::int64_t>(name).value_or(0);
  }
  [[nodiscard]] std::optional<SimTime> when(std::string_view name) const {
    const auto seconds = number<std::int64_t>(name);
    return seconds ? std::optional(at(*seconds)) : std::nullopt;
  }

 private:
  const std::vector<RedisReply>& list_;
};

void put(std::vector<std::string>& hash, const char* name, std::string value) {
  if (value.empty()) return;
  hash.emplace_back(name);
  hash.push_back(std::move(value));
}

template <class Number>
std::string text_or_none(const std::optional<Number>& number) {
  return number ? fmt::format("{}", *number) : "";
}

std::string seconds_or_none(const std::optional<SimTime>& time) {
  return time ? fmt::format("{}", seconds_of(*time)) : "";
}

Result<Outcome> outcome_of(const Values& values) {
  Outcome outcome{.state = end_state_named(values.text("state")).value_or(EndState::unknown),
                  .start = values.when("start_s"),
                  .end = values.when("end_s"),
                  .duration = Seconds(values.whole("duration_s")),
                  .gpu_util_pct = values.number<double>("gpu_util_pct"),
                  .gpu_memory_mib = values.number<double>("gpu_memory_mib"),
                  .log_summary = values.text("log_summary"),
                  .fingerprint = values.text("fingerprint"),
                  .progress = {},
                  .cpu_time = std::nullopt,
                  .memory_mib = std::nullopt,
                  .attempts = {}};
  if (auto read = use_from_json(values.text("use"), outcome); !read)
    return tl::unexpected(read.error());
  auto progress = progress_from_json(values.text("progress"));
  if (!progress) return tl::unexpected(progress.error());
  outcome.progress = std::move(*progress);
  return outcome;
}

}  // namespace

std::vector<std::string> outcome_to_hash(const Outcome& outcome) {
  std::vector<std::string> hash;
  put(hash, "state", std::string(to_string(outcome.state)));
  put(hash, "start_s", seconds_or_none(outcome.start));
  put(hash, "end_s", seconds_or_none(outcome.end));
  put(hash, "duration_s", fmt::format("{}", outcome.duration.count()));
  put(hash, "gpu_util_pct", text_or_none(outcome.gpu_util_pct));
  put(hash, "gpu_memory_mib", text_or_none(outcome.gpu_memory_mib));
  put(hash, "log_summary", outcome.log_summary);
  put(hash, "fingerprint", outcome.fingerprint);
  put(hash, "progress", progress_to_json(outcome.progress));
  put(hash, "use", use_to_json(outcome));
  return hash;
}

std::vector<std::string> record_to_hash(const JobRecord& record) {
  std::vector<std::string> hash;
  put(hash, "id", record.id);
  put(hash, "user", record.user);
  put(hash, "vc", record.vc);
  put(hash, "submit_s", fmt::format("{}", seconds_of(record.submit)));
  put(hash, "root", record.root);
  put(hash, "workdir", record.workdir);
  put(hash, "command", record.command);
  put(hash, "branch", record.branch);
  put(hash, "gpus", fmt::format("{}", record.gpus));
  put(hash, "nodes", fmt::format("{}", record.nodes));
  put(hash, "gpu_type", record.gpu_type);
  put(hash, "entry", record.entry);
  put(hash, "closure", record.closure);
  if (record.time_limit) put(hash, "time_limit_s", fmt::format("{}", record.time_limit->count()));
  put(hash, "fields", fields_to_json(record.fields));
  put(hash, "facts", record.facts_json);
  put(hash, "request", request_to_json(record));
  if (record.advice) put(hash, "advice", advice_to_json(*record.advice));
  if (!record.outcome) return hash;
  const auto outcome = outcome_to_hash(*record.outcome);
  hash.insert(hash.end(), outcome.begin(), outcome.end());
  return hash;
}

RedisConnection::Command hash_query(const std::string& key, bool brief) {
  RedisConnection::Command command{"HMGET", key};
  command.insert(command.end(), names.begin(), names.end() - (brief ? long_names : 0));
  return command;
}

Result<std::optional<JobRecord>> record_of_reply(const RedisReply& reply) {
  if (reply.list.empty() || reply.list.front().is_nothing()) return std::nullopt;
  const Values values(reply.list);
  JobRecord record{.id = values.text("id"),
                   .user = values.text("user"),
                   .vc = values.text("vc"),
                   .submit = at(values.whole("submit_s")),
                   .root = values.text("root"),
                   .workdir = values.text("workdir"),
                   .command = values.text("command"),
                   .branch = values.text("branch"),
                   .gpus = values.whole("gpus"),
                   .nodes = values.whole("nodes"),
                   .gpu_type = values.text("gpu_type"),
                   .time_limit = std::nullopt,
                   .fields = {},
                   .facts_json = values.text("facts"),
                   .text = "",
                   .text_id = values.number<std::uint64_t>("text_id").value_or(0),
                   .entry = values.text("entry"),
                   .closure = values.text("closure"),
                   .name = "",
                   .account = "",
                   .qos = "",
                   .cluster = "",
                   .log = "",
                   .cpus = 0,
                   .memory_mib = std::nullopt,
                   .advice = std::nullopt,
                   .outcome = std::nullopt};
  if (const auto limit = values.number<std::int64_t>("time_limit_s")) {
    record.time_limit = Seconds(*limit);
  }
  auto fields = fields_from_json(values.text("fields"));
  if (!fields) return tl::unexpected(fields.error());
  record.fields = std::move(*fields);
  if (auto read = request_from_json(values.text("request"), record); !read)
    return tl::unexpected(read.error());
  if (!values.text("advice").empty()) {
    auto advice = advice_from_json(values.text("advice"));
    if (!advice) return tl::unexpected(advice.error());
    record.advice = std::move(*advice);
  }
  if (!values.text("state").empty()) {
    auto outcome = outcome_of(values);
    if (!outcome) return tl::unexpected(outcome.error());
    record.outcome = std::move(*outcome);
  }
  return record;
}

std::string lists_json(const JobRecord& record) {
  const auto all = lists_of(record);
  return nlohmann::json(std::vector<std::string>(all.begin(), all.end() - 1)).dump();
}

}  // namespace schedmate::store
