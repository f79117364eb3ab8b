// SPDX-License-Identifier: Apache-2.0
#include "workers/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "workers/request.hpp"
#include "workers/rows.hpp"

namespace schedmate::workers {
namespace {

using Open = Result<std::unique_ptr<Queue>> (*)(const std::string&, const QueueOptions&);
constexpr std::array openers{
#define QUEUE(name, summary) Open{open_##name},
#include "workers/queues.def"
#undef QUEUE
};

constexpr std::array<std::string_view, 5> states{"unknown", "waiting", "running", "done", "dead"};

/// "redis://HOST:PORT/" and "unix:PATH" as the row has them.
Result<std::string> plain(std::string_view spec) {
  constexpr std::string_view url = "redis://", port = ":6379";
  if (spec.starts_with("unix:")) return "redis:" + std::string(spec);
  if (spec.starts_with("rediss://"))
    return fail(ErrorCode::unsupported,
                "rediss:// (TLS) is not spoken here: let stunnel or a proxy do that, and name its "
                "address (docs/workers.md)");
  if (!spec.starts_with(url)) return std::string(spec);
  spec.remove_prefix(url.size());
  if (spec.ends_with('/')) spec.remove_suffix(1);
  if (spec.contains('/'))  // not shown: it may have a password in it
    return fail(ErrorCode::invalid, "redis://HOST:PORT/N: databases other than 0 are not used");
  return fmt::format("redis:{}{}", spec, spec.contains(':') ? "" : port);
}

}  // namespace

std::string_view name_of(State state) { return states.at(static_cast<std::size_t>(state)); }

bool is_over(State state) { return state == State::done || state == State::dead; }

std::span<const QueueRow> queue_rows() {
  static constexpr std::array rows{
#define QUEUE(name, summary) QueueRow{#name, summary},
#include "workers/queues.def"
#undef QUEUE
  };
  return rows;
}

Result<std::unique_ptr<Queue>> open_queue(std::string_view spec, const QueueOptions& options) {
  const auto place = plain(spec);
  if (!place) return tl::unexpected(place.error());
  const std::size_t colon = std::min(place->find(':'), place->size());
  const std::string kind = place->substr(0, colon);
  const auto rows = queue_rows();
  const auto row = std::ranges::find(rows, kind, &QueueRow::name);
  if (row == rows.end()) {
    std::vector<std::string_view> names;
    for (const QueueRow& each : rows) names.push_back(each.name);
    return fail(ErrorCode::not_found,
                unknown_name("queue", kind, names) + "; write redis:HOST:PORT");
  }
  const std::string where = place->substr(std::min(colon + 1, place->size()));
  return openers.at(static_cast<std::size_t>(row - rows.begin()))(where, options);
}

Result<void> check_id(const std::string& id) {
  const bool fine =
      !id.empty() && id.size() <= QueueLimits::id_bytes && std::ranges::all_of(id, [](char c) {
        return is_letter(c) || is_digit(c) || std::string_view("-_.:").contains(c);
      });
  if (fine) return {};
  return fail(ErrorCode::invalid,
              fmt::format("the id of an operation has 1 to {} letters, digits and characters of "
                          "-_.:",
                          QueueLimits::id_bytes));
}

Result<void> check(const Operation& operation) {
  if (auto fine = check_id(operation.id); !fine) return fine;
  if (!operation.request.empty() && operation.request.size() <= QueueLimits::request_bytes)
    return {};
  return fail(ErrorCode::invalid,
              fmt::format("a request has 1 to {} bytes, this one {}", QueueLimits::request_bytes,
                          operation.request.size()));
}

Result<void> check_result(const std::string& result) {
  if (result.size() <= QueueLimits::result_bytes) return {};
  return fail(ErrorCode::invalid, fmt::format("a result of {} bytes is longer than any ({})",
                                              result.size(), QueueLimits::result_bytes));
}

tl::unexpected<Error> full(Priority priority, std::int64_t most) {
  return fail(ErrorCode::unavailable,
              fmt::format("{} {} requests wait or are being done already (setting "
                          "workers.most_waiting): try again later, or start more workers",
                          most, priority == Priority::urgent ? "urgent" : "usual"));
}

tl::unexpected<Error> another_request(const std::string& id) {
  return fail(ErrorCode::conflict,
              fmt::format("operation {} is another request: choose another id", id));
}

tl::unexpected<Error> not_dead(const std::string& id) {
  return fail(ErrorCode::not_found, fmt::format("there is no dead operation {}", id));
}

std::string death_notice(std::int64_t deliveries) {
  return result_text(
      fail(ErrorCode::unavailable,
           fmt::format("{} workers took this on and none of them lived to answer", deliveries)));
}

}  // namespace schedmate::workers
