// SPDX-License-Identifier: Apache-2.0

#include "log/failure/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/text.hpp"
#include "log/lines/wall_time.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t largest_job_file = std::uint64_t{1} << 24U;
constexpr std::size_t longest_name = 253;  ///< of a host (RFC 1035)

tl::unexpected<Error> refuse(const std::string& path, std::string_view what) {
  return fail(ErrorCode::invalid, fmt::format("{}: {} (see docs/formats/job.md)", path, what));
}

bool is_host(std::string_view name) {
  constexpr std::string_view marks = "-._";
  const auto good = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.contains(c);
  };
  return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, good);
}

Result<void> read_list(const std::string& path, const Document& from, JobContext& job) {
  for (const auto& [key, out] :
       {std::pair{"job_id", &job.job_id}, std::pair{"user", &job.user},
        std::pair{"state", &job.state}, std::pair{"exit_code", &job.exit_code},
        std::pair{"start", &job.start}, std::pair{"end", &job.end}}) {
    const auto held = from.find(key);
    if (held == from.end() || held->is_null()) continue;
    if (held->is_string())
      *out = held->get<std::string>();
    else if (held->is_number())
      *out = held->dump();
    else
      return refuse(path, fmt::format("{} must be a string or a number", key));
  }
  return {};
}

Result<void> read_nodes(const std::string& path, const Document& from, JobContext& job) {
  const auto nodes = from.find("nodes");
  if (nodes != from.end() && !nodes->is_null()) {
    if (!nodes->is_array()) return refuse(path, "nodes must be a list of names");
    for (const auto& each : *nodes) {
      if (!each.is_string() || !is_host(each.get<std::string>()))
        return refuse(path, "nodes must be a list of host names");
      job.nodes.push_back(each.get<std::string>());
    }
  }
  const auto ranks = from.find("ranks");
  if (ranks == from.end() || ranks->is_null()) return {};
  if (!ranks->is_object()) return refuse(path, "ranks must be an object: rank -> node");
  for (const auto& [key, value] : ranks->items()) {
    const auto rank = parse_number<int>(key);
    if (!rank || *rank < 0 || !value.is_string())
      return refuse(path, "ranks must be an object: rank -> node");
    auto node = value.get<std::string>();
    if (std::ranges::find(job.nodes, node) == job.nodes.end())
      return refuse(path, fmt::format("the node of rank {} is not among nodes", *rank));
    job.ranks.emplace(*rank, std::move(node));
  }
  return {};
}

}  // namespace

Result<JobContext> read_job_file(const ForeignPath& path) {
  const auto text = read_file(path, largest_job_file);
  if (!text) return tl::unexpected(text.error());
  return read_job_text(path.name, *text);
}

Result<JobContext> read_job_text(const std::string& place, std::string_view text) {
  const auto document = Document::parse(text, nullptr, false);
  if (document.is_discarded()) return refuse(place, "this is not JSON");
  return failure::read_job_document(place, document);
}

Result<JobContext> failure::read_job_document(const std::string& place, const Document& document) {
  if (!document.is_object()) return refuse(place, "expected one JSON object");
  JobContext job;
  if (auto done = read_list(place, document, job); !done) return tl::unexpected(done.error());
  if (auto done = read_nodes(place, document, job); !done) return tl::unexpected(done.error());
  return job;
}

Document failure::job_document(const JobContext& job) {
  Document json = {
      {"state", job.state}, {"start", job.start}, {"end", job.end}, {"nodes", job.nodes}};
  json["ranks"] = Document::object();
  for (const auto& [rank, node] : job.ranks) json["ranks"][fmt::format("{}", rank)] = node;
  return json;
}

std::optional<SimTime> end_of(const JobContext& job) {
  const auto time = lines::read_job_time(job.end);
  if (!time) return std::nullopt;
  return at(static_cast<std::int64_t>(std::floor(lines::unix_seconds(*time))));
}

}  // namespace schedmate
