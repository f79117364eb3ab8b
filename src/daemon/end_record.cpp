// SPDX-License-Identifier: Apache-2.0
#include "daemon/end_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "base/json_reader.hpp"
#include "store/codec.hpp"

namespace schedmate::daemon {
namespace {

template <class Value>
std::optional<Value> kept_value(const Document& object, const char* key) {
  const Document& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<Value>());
}

std::optional<SimTime> kept_instant(const Document& object, const char* key) {
  const auto seconds = kept_value<std::int64_t>(object, key);
  return seconds ? std::optional(at(*seconds)) : std::nullopt;
}

Document outcome_document(const Outcome& outcome) {
  return {{"state", to_string(outcome.state)},
          {"start_s", or_null<Document>(outcome.start.transform(seconds_of))},
          {"end_s", or_null<Document>(outcome.end.transform(seconds_of))},
          {"duration_s", outcome.duration.count()},
          {"gpu_util_pct", or_null<Document>(outcome.gpu_util_pct)},
          {"gpu_memory_mib", or_null<Document>(outcome.gpu_memory_mib)},
          {"fingerprint", outcome.fingerprint},
          {"log_summary", outcome.log_summary},
          {"progress", store::progress_to_json(outcome.progress)},
          {"use", store::use_to_json(outcome)}};
}

Result<Outcome> outcome_in(const Document& object) {
  Outcome outcome;
  outcome.state =
      end_state_named(object.at("state").get<std::string>()).value_or(EndState::unknown);
  outcome.start = kept_instant(object, "start_s");
  outcome.end = kept_instant(object, "end_s");
  outcome.duration = Seconds(object.at("duration_s").get<std::int64_t>());
  outcome.gpu_util_pct = kept_value<double>(object, "gpu_util_pct");
  outcome.gpu_memory_mib = kept_value<double>(object, "gpu_memory_mib");
  outcome.fingerprint = object.at("fingerprint");
  outcome.log_summary = object.at("log_summary");
  auto points = store::progress_from_json(object.at("progress").get<std::string>());
  if (!points) return tl::unexpected(points.error());
  outcome.progress = *std::move(points);
  if (auto use = store::use_from_json(object.at("use").get<std::string>(), outcome); !use)
    return tl::unexpected(use.error());
  return outcome;
}

Result<EndRecord> end_in(const Document& object) {
  EndRecord end;
  JobRecord& record = end.record;
  record.id = object.at("id");
  record.user = object.at("user");
  record.vc = object.at("vc");
  record.submit = at(object.at("submit_s").get<std::int64_t>());
  record.root = object.at("root");
  record.command = object.at("command");
  record.gpus = object.at("gpus");
  record.nodes = object.at("nodes");
  if (const auto limit_s = kept_value<std::int64_t>(object, "time_limit_s"))
    record.time_limit = Seconds(*limit_s);
  if (auto asked = store::request_from_json(object.at("request").get<std::string>(), record);
      !asked)
    return tl::unexpected(asked.error());
  auto outcome = outcome_in(object.at("outcome"));
  if (!outcome) return tl::unexpected(outcome.error());
  record.outcome = *std::move(outcome);
  end.is_old = object.at("is_old");
  return end;
}

}  // namespace

std::string end_text(const EndRecord& end) {
  const JobRecord& record = end.record;
  const auto limit = record.time_limit;
  return in_one_line({{"id", record.id},
                      {"user", record.user},
                      {"vc", record.vc},
                      {"submit_s", seconds_of(record.submit)},
                      {"root", record.root},
                      {"command", record.command},
                      {"gpus", record.gpus},
                      {"nodes", record.nodes},
                      {"time_limit_s", limit ? Document(limit->count()) : Document(nullptr)},
                      {"request", store::request_to_json(record)},
                      {"outcome", outcome_document(record.outcome.value_or(Outcome()))},
                      {"is_old", end.is_old}});
}

Result<EndRecord> read_end(std::string_view text) {
  constexpr JsonBounds bounds{.deepest = 3, .most_values = 100};
  const auto object = read_json(text, bounds);
  if (!object) return tl::unexpected(object.error());
  try {
    return end_in(*object);
  } catch (const Document::exception& error) {
    return fail(ErrorCode::invalid, fmt::format("not the end of a job: {}", error.what()));
  }
}

}  // namespace schedmate::daemon
