// SPDX-License-Identifier: Apache-2.0
#include "facts/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/facts_json.hpp"
#include "facts/choose.hpp"

namespace schedmate::facts {
namespace {

using command::Asked;
using command::Launch;
using command::Request;

constexpr double said = 0.99;
constexpr std::int64_t most = 10'000'000;

/// GPUs of a launcher that starts one process on each, as it is written in the command; nothing
/// when it starts one process or as many as there are GPUs.
std::optional<Value> started_processes(const Launch& launch) {
  const Value& each = launch.processes_per_node;
  const bool counted = each.place && each.place->file != "<request>";
  const auto count = counted ? each.number() : std::nullopt;
  const double nodes = std::max(1.0, launch.nodes.number().value_or(1));
  const double all = count.value_or(0) * nodes;
  if (all < 2 || all > static_cast<double>(most)) return std::nullopt;
  return Value(static_cast<std::int64_t>(all), each.place);
}

Fact of_flags(FactValue value, std::string text) {
  Fact fact{std::move(value), said, FactSource::environment, {}};
  fact.evidence.push_back({"<request>", 0, std::move(text)});
  return fact;
}

FactValue value_of(const Value& value) {
  if (const auto* whole = value.integer()) return *whole;
  if (const auto* yes = value.boolean()) return *yes;
  if (const auto* text = value.text()) return *text;
  return std::monostate();
}

std::string shown(const Evidence& line) {
  return line.line > 0 ? fmt::format("{}:{}: {}", line.file, line.line, line.text) : line.text;
}

class RequestFacts {
 public:
  RequestFacts(tree::Tree& tree, const Request* request) : tree_(tree), request_(request) {}

  /// `flag` is what the caller gave; unknown when nothing.
  void find(std::string_view field, const FactValue& given, std::string text) {
    const Asked* const asked = request_ == nullptr ? nullptr : request_->find(field);
    const bool is_given = given.index() != 0;
    if (is_given) {
      Fact fact = of_flags(given, std::move(text));
      if (asked != nullptr) compare(field, *asked, fact);
      found_.push_back({std::string(field), std::move(fact), "the request"});
    }
    if (asked != nullptr && !asked->value.is_unknown())
      add(found_, {field, value_of(asked->value), is_given ? confidence::hint : sure(*asked)},
          asked->value.place, fmt::format("what {} is asked for", request_->by));
  }

  [[nodiscard]] bool has(std::string_view field) const {
    return std::ranges::find(found_, field, &Finding::field) != found_.end() ||
           (request_ != nullptr && request_->find(field) != nullptr);
  }

  void add_found(std::string_view field, const Value& value, double confidence,
                 std::string_view why) {
    add(found_, {field, value_of(value), confidence}, value.place, why);
  }
  void add_assumed(std::string_view field) {
    Fact fact = of_flags(std::int64_t{1}, fmt::format("{} 1", field));
    fact.confidence = confidence::weak;
    fact.source = FactSource::fallback;
    found_.push_back({std::string(field), std::move(fact), "nothing says it"});
  }

  void give(Facts& facts) {
    choose(std::move(found_), facts);
    if (request_ == nullptr) return;
    for (const Asked& asked : request_->asked) {
      const auto fields = fact_fields();
      if (std::ranges::find(fields, asked.field) != fields.end()) continue;
      Findings one;
      add(one, {asked.field, value_of(asked.value), sure(asked)}, asked.value.place, "");
      facts.extra.insert_or_assign(asked.field, std::move(one.front().fact));
    }
  }

 private:
  static double sure(const Asked& asked) {
    return asked.value.is_unknown() ? 0 : asked.sure ? confidence::certain : confidence::fair;
  }

  /// The caller's word holds; that the submission says otherwise is said.
  void compare(std::string_view field, const Asked& asked, const Fact& given) {
    const bool is_default = asked.value.place == request_->place;
    if (asked.value.is_unknown() || is_default || value_of(asked.value) == given.value) return;
    const auto lines = evidence_of(asked.value.place);
    tree_.degrade(fmt::format("{}: {} as given is used; {} asks for {} ({})", field,
                              value_text(given.value), request_->by,
                              value_text(value_of(asked.value)),
                              lines.empty() ? request_->by : shown(lines.front())));
  }

  tree::Tree& tree_;
  const Request* request_;
  Findings found_;
};

}  // namespace

JobSource with_request(JobSource job, const command::Launch& launch) {
  const command::CommandSource source{job.command, job.workdir, job.gpus, job.nodes};
  const auto all = command::resolved(source, launch.request);
  const bool open = job.gpus <= 0 && !launch.request;
  const auto started = open ? started_processes(launch) : std::nullopt;
  job.gpus = started ? static_cast<int>(*started->integer()) : all.gpus;
  const auto nodes = launch.nodes.number();
  const bool by_launcher =
      job.nodes <= 0 && !launch.request && nodes && *nodes >= 1 && *nodes <= most;
  job.nodes = by_launcher ? static_cast<int>(*nodes) : all.nodes;
  if (job.gpu_type.empty() && launch.request) {
    if (const Asked* type = launch.request->find("gpu_type"))
      if (const auto* name = type->value.text()) job.gpu_type = *name;
  }
  return job;
}

void find_request(tree::Tree& tree, const RequestSources& sources, Facts& facts) {
  const auto& [job, commands, launch] = sources;
  const auto& requests = commands.requests;
  const Request* const request = launch != nullptr  ? launch->request.get()
                                 : requests.empty() ? nullptr
                                                    : requests.front().get();
  RequestFacts found(tree, request);
  const auto number = [](int count) {
    return count > 0 ? FactValue(std::int64_t{count}) : FactValue();
  };
  found.find("gpus", number(job.gpus), fmt::format("gpus {}", job.gpus));
  found.find("nodes", number(job.nodes), fmt::format("nodes {}", job.nodes));
  found.find("gpu_type", job.gpu_type.empty() ? FactValue() : FactValue(job.gpu_type),
             fmt::format("GPU type {}", job.gpu_type));
  if (request != nullptr && !found.has("gpus")) {
    found.add_found("gpus", Value(std::int64_t{0}, request->place), confidence::weak,
                    "it asks for no GPU");
    tree.degrade(
        fmt::format("{} is asked for no GPU: give --gpus if the cluster gives some", request->by));
  }
  // A scheduler that is not read may have been asked for anything.
  const bool open = request == nullptr && (launch != nullptr || commands.unread.empty());
  if (open && !found.has("gpus")) {
    const auto started = launch == nullptr ? std::nullopt : started_processes(*launch);
    if (started)
      found.add_found("gpus", *started, confidence::likely, "one for each process");
    else
      found.add_assumed("gpus");
  }
  if (open && !found.has("nodes")) {
    const auto nodes = launch == nullptr ? std::nullopt : launch->nodes.number();
    if (nodes && *nodes > 1 && *nodes <= most)
      found.add_found("nodes", Value(static_cast<std::int64_t>(*nodes), launch->nodes.place),
                      confidence::likely, "what the launcher is told");
    else
      found.add_assumed("nodes");
  }
  found.give(facts);
}

}  // namespace schedmate::facts
