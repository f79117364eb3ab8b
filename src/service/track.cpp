// SPDX-License-Identifier: Apache-2.0
#include "service/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "log/failure/log_fault.hpp"
#include "log/progress/progress_document.hpp"
#include "service/held_input.hpp"
#include "service/redaction.hpp"

namespace schedmate::service {
namespace {

constexpr double shortest_s = 0.01;  ///< between looks

/// The models that read unknown lines, and what became of that.
struct Asked {
  Models models;
  llm::QuestionTally tally;
};

TrackOptions options_of(const settings::Session& session, Asked& asked) {
  return {session.settings.text("rules"), shape_reader(session, asked.models, asked.tally)};
}

bool is_open(const Progress& progress) {
  return !progress.step || !progress.step_time_s || !progress.loss;
}

TrackAnswer answer_of(Progress progress, const Asked& asked) {
  make_safe(progress.evidence);
  llm::QuestionTally tally = asked.tally;
  if (asked.models.chats.empty() && is_open(progress)) tally.note("model: not asked");
  return {std::move(progress), asked.tally.notes, cost_of(asked.models, tally)};
}

}  // namespace

Result<TrackAnswer> track(const settings::Session& session, const std::vector<std::string>& logs) {
  auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  Asked asked{*std::move(models), {}};
  const auto held = HeldInputs::open(logs);
  if (!held) return tl::unexpected(held.error());
  auto progress = schedmate::track(held->paths(), options_of(session, asked));
  if (!progress) return fail(progress.error().code, held->named(progress.error().message));
  for (std::string& each : progress->unread) each = held->named(std::move(each));
  auto notes = held->notes();
  if (progress->lines == 0)
    for (const std::string& path : held->paths())
      if (const auto fault = failure::fault_of_log(path); fault && !fault->empty())
        progress->unread.push_back(fmt::format("{}: {}", held->named(path), *fault));
  std::ranges::copy(progress->unread, std::back_inserter(notes));
  auto answer = answer_of(*std::move(progress), asked);
  answer.notes.insert(answer.notes.begin(), notes.begin(), notes.end());
  return answer;
}

Result<void> follow(const settings::Session& session, const FollowRequest& request,
                    const std::function<bool(const TrackAnswer&)>& show) {
  auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  Asked asked{*std::move(models), {}};
  auto follower = ProgressFollower::open(request.log, options_of(session, asked));
  if (!follower) return tl::unexpected(follower.error());
  const Clock& clock = session.clock;
  const auto seconds = [&] { return std::chrono::duration<double>(clock.now()).count(); };
  const double began = seconds();
  while (true) {
    if (follower->poll(seconds())) {
      follower->ask();
      if (!show(answer_of(follower->now(), asked))) return {};
    }
    if (request.for_s >= 0 && seconds() - began >= request.for_s) return {};
    clock.sleep(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::max(shortest_s, request.every_s))));
  }
}

Document track_document(const TrackAnswer& answer) {
  Document document = progress::progress_document(answer.progress);
  add_cost(answer.cost, document);
  return document;
}

}  // namespace schedmate::service
