// SPDX-License-Identifier: Apache-2.0
#include "service/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/confidence.hpp"
#include "base/foreign_file.hpp"
#include "log/failure/log_fault.hpp"
#include "log/progress/progress_document.hpp"
#include "secrets/outgoing.hpp"
#include "service/file_access.hpp"
#include "service/held_input.hpp"

namespace schedmate::service {
namespace {

constexpr double shortest_s = 0.01;  ///< between looks

/// The models that read unknown lines, what became of that, and how sure an answer must be.
struct Tracking {
  Models models;
  llm::QuestionTally tally;
  double least = 0;
};

TrackOptions options_of(const settings::Session& session, Tracking& asked,
                        const RequestFiles& files) {
  return {session.settings.text("rules"), shape_reader(session, asked.models, asked.tally),
          files.access};
}

bool is_open(const Progress& progress) {
  return !progress.step || !progress.step_time_s || !progress.loss;
}

TrackAnswer answer_of(Progress progress, const Tracking& asked, const RequestFiles& files,
                      const secrets::LogRedactor& secrets) {
  cut_below(asked.least, progress);
  secrets.make_safe(progress.evidence);
  llm::QuestionTally tally = asked.tally;
  secrets::make_safe(tally.notes);
  if (asked.models.chats.empty() && is_open(progress)) tally.note("model: not asked");
  const auto cost = cost_of(asked.models, tally);
  tally.notes.resize(std::min(tally.notes.size(), asked.tally.notes.size()));
  tally.notes.insert(tally.notes.end(), files.left_out->begin(), files.left_out->end());
  return {std::move(progress), std::move(tally.notes), *files.left_out, cost};
}

}  // namespace

Result<TrackAnswer> track(const settings::Session& session, const TrackRequest& request) {
  const auto least = confidence_bound(request.min_confidence, careful_progress_confidence());
  if (!least) return tl::unexpected(least.error());
  auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  Tracking asked{*std::move(models), {}, *least};
  const auto held = HeldInputs::open(request.logs);
  if (!held) return tl::unexpected(held.error());
  auto progress = schedmate::track(held->paths(), options_of(session, asked, *files));
  if (!progress) return fail(progress.error().code, held->named(progress.error().message));
  for (std::string& each : progress->unread) each = held->named(std::move(each));
  auto notes = held->notes();
  if (progress->lines == 0)
    for (const std::string& path : held->paths())
      if (const auto fault = failure::fault_of_log({path, files->access}); fault && !fault->empty())
        progress->unread.push_back(fmt::format("{}: {}", held->named(path), *fault));
  std::ranges::copy(progress->unread, std::back_inserter(notes));
  auto answer = answer_of(*std::move(progress), asked, *files,
                          secrets::LogRedactor(held->paths(), files->access));
  answer.notes.insert(answer.notes.begin(), notes.begin(), notes.end());
  return answer;
}

Result<void> follow(const settings::Session& session, const FollowRequest& request,
                    const std::function<bool(const TrackAnswer&)>& show) {
  const auto least = confidence_bound(request.min_confidence, careful_progress_confidence());
  if (!least) return tl::unexpected(least.error());
  auto models = open_models(session, "");
  if (!models) return tl::unexpected(models.error());
  const auto files = request_files(session);
  if (!files) return tl::unexpected(files.error());
  // It may come to be later, but rights do not.
  const auto opened = ForeignFile::open({request.log, files->access});
  const bool may_come = !opened && (opened.error().code == ErrorCode::not_found ||
                                    opened.error().code == ErrorCode::timeout);
  if (!opened && !may_come) return tl::unexpected(opened.error());
  if (opened && opened->is_pipe())
    return fail(ErrorCode::invalid, request.log + ": is a pipe, to which nothing can be added");
  Tracking asked{*std::move(models), {}, *least};
  auto follower = ProgressFollower::open(request.log, options_of(session, asked, *files));
  if (!follower) return tl::unexpected(follower.error());
  const secrets::LogRedactor secrets({request.log}, files->access);
  const Clock& clock = session.clock;
  const auto seconds = [&] { return std::chrono::duration<double>(clock.now()).count(); };
  const double began = seconds();
  while (true) {
    if (follower->poll(seconds())) {
      follower->ask();
      if (!show(answer_of(follower->now(), asked, *files, secrets))) return {};
    }
    if (request.for_s >= 0 && seconds() - began >= request.for_s) return {};
    clock.sleep(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::max(shortest_s, request.every_s))));
  }
}

Document track_document(const TrackAnswer& answer) {
  Document document = progress::progress_document(answer.progress);
  add_cost(answer.cost, document);
  add_left_out(answer.left_out, document);
  return document;
}

}  // namespace schedmate::service
