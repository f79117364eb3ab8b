// SPDX-License-Identifier: Apache-2.0
#include "queue/eta_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "eta/look_back.hpp"
#include "queue/eta_replay.hpp"
#include "queue/site_past.hpp"
#include "service/advisor_state.hpp"

namespace schedmate::queue {
namespace {

constexpr std::string_view space = "eta_calibration";
constexpr std::array<std::string_view, forecast_kinds> kind_names{"start", "end_of_running",
                                                                  "end_of_waiting"};

Result<void> keep(const settings::Session& session, const EtaCalibrationRequest& request,
                  const EtaCalibrationFigures& figures, std::span<const PastForecast> forecasts) {
  Document kept = {{"until", seconds_of(figures.until)}, {"forecasts", Document::array()}};
  for (const PastForecast& each : forecasts_that_count(forecasts)) {
    Document row = {static_cast<int>(each.kind), each.happened, as_known(each.so_far_s),
                    as_known(each.then_s), each.crowd};
    for (const double span : each.told) row.push_back(as_known(span));
    kept["forecasts"].push_back(std::move(row));
  }
  const auto history = service::open_history(session);
  if (!history) return tl::unexpected(history.error());
  if (history->role != Role::cluster_operator)
    return fail(ErrorCode::refused,
                fmt::format("eta calibration: {} belongs to another user", session.state_dir()));
  constexpr std::uint64_t most_bytes = std::uint64_t{32} << 20U;
  return history->store->cache(
      {std::string(space), calibration_key(request.of, figures.cluster, figures.policy), "",
       kept.dump()},
      most_bytes);
}

std::optional<PastForecast> forecast_from(const Document& row) {
  constexpr std::size_t spans = 5, columns = spans + quantile_shares.size();
  if (!row.is_array() || row.size() != columns || !row[1].is_boolean()) return std::nullopt;
  for (std::size_t i = 0; i < columns; ++i)
    if (i != 1 && !row[i].is_number()) return std::nullopt;
  const auto kind = row[0].get<std::size_t>();
  if (kind >= forecast_kinds) return std::nullopt;
  PastForecast made{.kind = static_cast<ForecastKind>(kind),
                    .so_far_s = row[2].get<double>(),
                    .told = {},
                    .then_s = row[3].get<double>(),
                    .happened = row[1].get<bool>(),
                    .crowd = row[4].get<std::uint64_t>()};
  for (std::size_t i = 0; i < made.told.size(); ++i) made.told[i] = row[spans + i].get<double>();
  return made;
}

/// How the later half fares with the earlier one as calibration.
EtaCalibrationFigures::OfKind judged(ForecastKind kind, std::span<const PastForecast> all) {
  std::vector<PastForecast> of_kind;
  for (const PastForecast& each : all)
    if (each.kind == kind) of_kind.push_back(each);
  const std::span<const PastForecast> forecasts(of_kind);
  const EtaCalibration earlier(forecasts.first(forecasts.size() / 2));
  EtaCalibrationFigures::OfKind made{
      .kind = kind, .forecasts = std::ssize(of_kind), .judged = 0, .told = {}, .calibrated = {}};
  for (const PastForecast& each : forecasts.subspan(forecasts.size() / 2)) {
    if (!each.happened) continue;
    ++made.judged;
    const Spans spans = earlier.calibrated(kind, each.so_far_s, each.told);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      made.told[i] += each.then_s <= each.told[i] ? 1 : 0;
      made.calibrated[i] += each.then_s <= spans[i] ? 1 : 0;
    }
  }
  for (Spans* const spans : {&made.told, &made.calibrated})
    for (double& share : *spans)
      share /= static_cast<double>(std::max<std::int64_t>(1, made.judged));
  return made;
}

}  // namespace

std::string calibration_key(const EtaRequest& request, const std::string& cluster,
                            const std::string& policy) {
  return is_trace(request) ? fmt::format("{}|{}|{}", request.from, request.cluster, policy)
                           : fmt::format("slurm|{}|{}", cluster, policy);
}

Result<EtaCalibrationFigures> calibrate_eta(const settings::Session& session,
                                            const EtaCalibrationRequest& request) {
  if (const auto policy = policy_of(request.of); !policy) return tl::unexpected(policy.error());
  const Seconds days(request.days * 86'400);
  EtaCalibrationFigures figures;
  eta::LookBack asked;
  asked.instants = request.instants;
  asked.how = options_of(session, request.of);
  const auto look = [&](const eta::ReplayedTrace& past, const Scheduler& scheduler, SimTime now) {
    const SimTime first = past.trace.jobs.empty() ? now : past.trace.jobs.front().submit;
    asked.until = now;
    asked.from = std::max(first, now - days);
    return eta::look_back(past, scheduler, asked, session.progress("forecasting the past"));
  };
  eta::SeenForecasts seen;
  if (is_trace(request.of)) {
    const auto policy = policy_of(request.of);
    const auto replayed = replay_of(session, request.of, *policy);
    if (!replayed) return tl::unexpected(replayed.error());
    figures.policy = policy->text;
    seen = look(replayed->replay.view(replayed->trace, replayed->cluster),
                replayed->replay.scheduler, replayed->now);
  } else {
    const auto past = past_of_site(session, request.of);
    if (!past) return tl::unexpected(past.error());
    figures.cluster = past->cluster_name;
    const auto policy = policy_of(request.of, past->policy.text);
    if (!policy) return tl::unexpected(policy.error());
    const auto scheduler = study::plain_scheduler(*policy, past->cluster, asked.how.seed);
    if (!scheduler) return tl::unexpected(scheduler.error());
    figures.policy = policy->text;
    if (request.of.policy.empty()) figures.notes = past->policy.notes;
    seen = look(past->view(), *scheduler, past->now);
  }
  figures.since = asked.from;
  figures.until = asked.until;
  figures.instants = seen.instants;
  if (seen.forecasts.empty())
    return fail(
        ErrorCode::invalid,
        fmt::format("eta calibration: no forecast of the past could be made: {}",
                    seen.left_out > 0 ? seen.why_left_out : "nothing waited or ran in these days"));
  if (seen.left_out > 0)
    figures.notes.push_back(
        fmt::format("{} instants are left out, as the cluster of now cannot have "
                    "been in them; the first: {}",
                    seen.left_out, seen.why_left_out));
  for (std::size_t kind = 0; kind < forecast_kinds; ++kind)
    figures.kinds.push_back(judged(static_cast<ForecastKind>(kind), seen.forecasts));
  if (auto kept = keep(session, request, figures, seen.forecasts); !kept)
    return tl::unexpected(kept.error());
  return figures;
}

Document eta_calibration_document(const EtaCalibrationFigures& figures) {
  Document document = {
      {"schema", "schedmate.eta_calibration.v1"},
      {"cluster", figures.cluster.empty() ? Document(nullptr) : Document(figures.cluster)},
      {"policy", figures.policy},
      {"since", seconds_of(figures.since)},
      {"until", seconds_of(figures.until)},
      {"instants", figures.instants},
      {"asked", quantile_shares},
      {"kinds", Document::array()},
      {"notes", figures.notes}};
  for (const auto& each : figures.kinds) {
    Document told = Document::array(), calibrated = Document::array();
    for (const double share : each.told) told.push_back(as_known(share, 4));
    for (const double share : each.calibrated) calibrated.push_back(as_known(share, 4));
    document["kinds"].push_back({{"kind", kind_names[static_cast<std::size_t>(each.kind)]},
                                 {"forecasts", each.forecasts},
                                 {"judged", each.judged},
                                 {"happened_by_told", std::move(told)},
                                 {"happened_by_calibrated", std::move(calibrated)}});
  }
  return document;
}

Result<std::optional<KeptCalibration>> kept_calibration(const settings::Session& session,
                                                        const std::string& key, SimTime now) {
  const auto history = service::find_history(session);
  if (!history) return tl::unexpected(history.error());
  if (!*history) return std::nullopt;
  const auto kept = (*history)->store->cached(std::string(space), key);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return std::nullopt;
  const auto refuse = [] {
    return fail(ErrorCode::invalid,
                "the calibration in the store cannot be read: `schedmate eta calibration` makes it "
                "again");
  };
  const Document document = Document::parse(**kept, nullptr, false);
  if (!document.is_object() || !document.contains("until") ||
      !document["until"].is_number_integer() || !document.contains("forecasts") ||
      !document["forecasts"].is_array())
    return refuse();
  if (at(document["until"].get<std::int64_t>()) > now) return std::nullopt;
  std::vector<PastForecast> forecasts;
  for (const Document& row : document["forecasts"]) {
    const auto made = forecast_from(row);
    if (!made) return refuse();
    forecasts.push_back(*made);
  }
  return KeptCalibration{EtaCalibration(forecasts), std::ssize(forecasts)};
}

}  // namespace schedmate::queue
