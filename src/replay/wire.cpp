// SPDX-License-Identifier: Apache-2.0
#include "replay/wire.hpp"

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/json.hpp"

namespace schedmate::replay {
namespace {

constexpr std::array<std::string_view, 3> phases = {"queued", "running", "ended"};
constexpr std::array<std::string_view, 3> states = {"up", "drained", "down"};
constexpr std::array<std::string_view, 3> outcomes = {"done", "refused", "unknown"};

template <class Value, std::size_t size>
Value value_of(const std::array<std::string_view, size>& words, const Document& word) {
  for (std::size_t i = 0; i < size; ++i)
    if (word == words.at(i)) return static_cast<Value>(i);
  throw std::runtime_error("an unknown word");
}

template <class Value, std::size_t size>
std::string_view word_of(const std::array<std::string_view, size>& words, Value value) {
  return words.at(static_cast<std::size_t>(value));
}

Document instant(const std::optional<SimTime>& when) {
  return when ? Document(seconds_of(*when)) : Document(nullptr);
}

template <class Value>
Value whole(const Document& document) {
  const bool is_large = document.is_number_unsigned() && document.get<std::uint64_t>() > INT64_MAX;
  const auto value = document.is_number_integer() ? document.get<std::int64_t>() : 0;
  if (!document.is_number_integer() || is_large || !std::in_range<Value>(value))
    throw std::runtime_error("no whole number, or one that is too large");
  return static_cast<Value>(value);
}

const Document& list_in(const Document& document, const char* name) {
  const Document& list = document.at(name);
  if (!list.is_array()) throw std::runtime_error(std::string("no list of ") + name);
  return list;
}

std::optional<SimTime> read_instant(const Document& when) {
  if (when.is_null()) return std::nullopt;
  return at(whole<std::int64_t>(when));
}

SeenJob job_of(const Document& document) {
  SeenJob job;
  job.id = document.at("id");
  job.submitted = at(whole<std::int64_t>(document.at("submitted_s")));
  job.restarts = whole<std::int64_t>(document.at("restarts"));
  job.name = document.at("name");
  job.user = document.at("user");
  job.partition = document.at("partition");
  job.dir = document.at("dir");
  job.command = document.at("command");
  job.output = document.at("output");
  job.gpus = whole<std::int32_t>(document.at("gpus"));
  job.limit = Seconds(whole<std::int64_t>(document.at("limit_s")));
  job.phase = value_of<JobPhase>(phases, document.at("phase"));
  job.end_state =
      end_state_named(document.at("state").get<std::string>()).value_or(EndState::unknown);
  job.started = read_instant(document.at("started_s"));
  job.ended = read_instant(document.at("ended_s"));
  for (const Document& node : list_in(document, "nodes")) {
    job.nodes.push_back({node.at("node"), {}});
    for (const Document& gpu : list_in(node, "gpus"))
      job.nodes.back().gpus.push_back(whole<std::int32_t>(gpu));
  }
  job.held = document.at("held");
  job.mark = document.at("mark");
  job.order = whole<std::int64_t>(document.at("order"));
  job.note = document.at("note");
  job.token = document.at("token");
  return job;
}

/// The library throws on what is missing or of another kind.
template <class Value, class Read>
Result<Value> guarded(const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid, std::string("the cluster's answer: ") + error.what());
  }
}

}  // namespace

Document job_document(const SeenJob& job) {
  Document nodes = Document::array();
  for (const NodeGpus& node : job.nodes)
    nodes.push_back({{"node", node.node}, {"gpus", node.gpus}});
  return {{"id", job.id},
          {"submitted_s", seconds_of(job.submitted)},
          {"restarts", job.restarts},
          {"name", job.name},
          {"user", job.user},
          {"partition", job.partition},
          {"dir", job.dir},
          {"command", job.command},
          {"output", job.output},
          {"gpus", job.gpus},
          {"limit_s", job.limit.count()},
          {"phase", word_of(phases, job.phase)},
          {"state", to_string(job.end_state)},
          {"started_s", instant(job.started)},
          {"ended_s", instant(job.ended)},
          {"nodes", std::move(nodes)},
          {"held", job.held},
          {"mark", job.mark},
          {"order", job.order},
          {"note", job.note},
          {"token", job.token}};
}

Document listing_document(const Listing& listing) {
  Document jobs = Document::array(), nodes = Document::array();
  for (const SeenJob& job : listing.jobs) jobs.push_back(job_document(job));
  for (const SeenNode& node : listing.nodes)
    nodes.push_back({{"name", node.name},
                     {"partition", node.partition},
                     {"gpus", node.gpus},
                     {"state", word_of(states, node.state)},
                     {"reason", node.reason}});
  return {{"version", listing.version},
          {"now_s", seconds_of(listing.now)},
          {"ended_since_s", seconds_of(listing.ended_since)},
          {"jobs", std::move(jobs)},
          {"nodes", std::move(nodes)}};
}

Document reply_document(const CallReply& reply) {
  return {{"outcome", word_of(outcomes, reply.outcome)}, {"text", reply.text}, {"job", reply.job}};
}

Result<SeenJob> read_job(const Document& document) {
  return guarded<SeenJob>([&] { return job_of(document); });
}

Result<CallReply> read_reply(const Document& document) {
  return guarded<CallReply>([&] {
    return CallReply{value_of<CallOutcome>(outcomes, document.at("outcome")), document.at("text"),
                     document.at("job")};
  });
}

Result<Listing> read_listing(const Document& document) {
  return guarded<Listing>([&] {
    Listing listing;
    listing.version = whole<std::int64_t>(document.at("version"));
    listing.now = at(whole<std::int64_t>(document.at("now_s")));
    listing.ended_since = at(whole<std::int64_t>(document.at("ended_since_s")));
    for (const Document& job : list_in(document, "jobs")) listing.jobs.push_back(job_of(job));
    for (const Document& node : list_in(document, "nodes"))
      listing.nodes.push_back({node.at("name"), node.at("partition"),
                               whole<std::int32_t>(node.at("gpus")),
                               value_of<NodeState>(states, node.at("state")), node.at("reason")});
    return listing;
  });
}

}  // namespace schedmate::replay
