// SPDX-License-Identifier: Apache-2.0
#include "daemon/probe_desk.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error_document.hpp"

namespace schedmate::daemon {
namespace {

using probe::Verdict;

int status_of(Verdict verdict) {
  constexpr std::array<int, probe::verdicts> statuses = {200, 400, 401, 409, 409, 404, 429};
  return statuses.at(static_cast<std::size_t>(verdict));
}

ErrorCode code_of(Verdict verdict) {
  if (verdict == Verdict::unproved) return ErrorCode::refused;
  if (verdict == Verdict::unknown) return ErrorCode::not_found;
  if (verdict == Verdict::malformed) return ErrorCode::invalid;
  return verdict == Verdict::too_many ? ErrorCode::unavailable : ErrorCode::conflict;
}

}  // namespace

http::Reply ProbeDesk::refuse(const probe::Refusal& refusal, const std::string& node) {
  ++counts_.at(static_cast<std::size_t>(refusal.verdict));
  Document document = error_document({code_of(refusal.verdict), refusal.message});
  document["mend"] = refusal.mend;
  document["verdict"] = name_of(refusal.verdict);
  if (refusal.verdict == Verdict::replayed) {  // it has proved who it is
    document["session"] = gate_.session();
    document["counter"] = gate_.last_counter(node);
  }
  return http::json_reply(document, status_of(refusal.verdict));
}

std::variant<ProbeMessage, http::Reply> ProbeDesk::check(const http::Request& request,
                                                         std::int64_t wall_s) {
  if (!gate_.is_open())
    return http::error_reply(http::Refusal{.status = 501,
                                           .message = "this daemon hears no probes",
                                           .mend = "name a file by the setting probe.secret_file"});
  auto message = gate_.check(request.body, wall_s);
  if (!message) return refuse(message.error(), "");
  auto report = probe::read_report(message->body);
  if (!report)
    return refuse({Verdict::malformed, "no report of a probe: " + report.error().message,
                   "only schedmate probe writes them"},
                  message->node);
  message->body.clear();
  return ProbeMessage{std::move(*message), std::move(*report)};
}

ProbeDesk::Taken ProbeDesk::take(const ProbeMessage& message, const Nodes& nodes,
                                 const Probes::Now& now) {
  const std::string& node = message.sealed.node;
  if (!nodes.contains(node))
    return {refuse({Verdict::unknown, fmt::format("the cluster has no node {}", node),
                    "name it as the cluster does: --node, and its key"},
                   node),
            {}};
  if (auto admitted = gate_.admit(message.sealed, now.wall_s); !admitted)
    return {refuse(admitted.error(), node), {}};
  ++counts_.at(static_cast<std::size_t>(Verdict::taken));
  auto witnesses = probes_.take(node, message.report, now);
  witnesses_ += witnesses.size();
  return {http::json_reply({{"schema", "schedmate.probe.v1"}, {"taken", true}}),
          std::move(witnesses)};
}

void ProbeDesk::answer(live::LoopOptions& options, const Clock& clock) {
  options.profile = [this, told = std::move(options.profile)](const SeenJob& job) {
    const Profile* const known = told ? told(job) : nullptr;
    return known != nullptr ? known : probes_.profile(job);
  };
  options.sampled = [this](const SeenJob& ended) {
    const probe::GpuSpans spans = probes_.spans(ended);
    return live::Sampled{spans.measured_s, spans.idle_s};
  };
  options.is_idle = [this, clock](const SeenJob& job) {
    return probes_.is_idle(job, seconds_of(clock.wall()));
  };
}

std::vector<http::Metric> ProbeDesk::metrics(const Nodes& nodes, std::int64_t wall_s) const {
  using http::Metric;
  using http::MetricKind;
  const auto number = [](auto value) { return static_cast<double>(value); };
  const auto silent = std::ranges::count_if(
      nodes, [&](const auto& each) { return probes_.is_silent(each.first, wall_s); });
  Metric messages{"schedmate_probe_messages_total",
                  "Messages of probes, by what became of them.",
                  MetricKind::counter,
                  "verdict",
                  {}};
  for (std::size_t i = 0; i < counts_.size(); ++i)
    messages.values.emplace_back(name_of(static_cast<Verdict>(i)), number(counts_.at(i).load()));
  return {{"schedmate_probes_silent",
           "Nodes whose probe is silent, or was never heard.",
           MetricKind::gauge,
           "",
           {{"", number(silent)}}},
          std::move(messages),
          {"schedmate_probe_witnesses_total",
           "Things that probes said against their nodes.",
           MetricKind::counter,
           "",
           {{"", number(witnesses_)}}}};
}

}  // namespace schedmate::daemon
