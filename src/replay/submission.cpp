// SPDX-License-Identifier: Apache-2.0
#include "replay/submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.hpp"

namespace schedmate::replay {
namespace {

/// A member that may be absent: whole and not below `least`.
template <class Value>
Result<Value> whole(const Document& request, const char* name, Value least, Value otherwise) {
  const auto found = request.find(name);
  if (found == request.end() || found->is_null()) return otherwise;
  const auto value = found->is_number_integer() ? found->get<std::int64_t>() : INT64_MIN;
  if (value < least || !std::in_range<Value>(value))
    return fail(ErrorCode::invalid, fmt::format("{}: no whole number from {} on", name, least));
  return static_cast<Value>(value);
}

std::string word(const Document& request, const char* name) {
  const auto found = request.find(name);
  return found != request.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Texts of a trace stay where they are.
std::string_view keep_text(Trace& trace, const std::string& text) {
  auto& kept = trace.text.emplace_back(std::make_unique<char[]>(text.size()));
  std::ranges::copy(text, kept.get());
  return {kept.get(), text.size()};
}

std::uint32_t number_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto number = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return number;
}

}  // namespace

Result<Submission> read_submission(const ActionCall& call) {
  const auto request = read_json(call.text, {});
  if (!request) return tl::unexpected(request.error());
  if (!request->is_object()) return fail(ErrorCode::invalid, "the request is no object");
  constexpr std::int64_t longest_s = 10LL * 366 * 86400;
  Submission made;
  made.user = call.user;
  made.name = word(*request, "name");
  made.partition = word(*request, "partition");
  made.dir = word(*request, "dir");
  made.command = word(*request, "command");
  made.output = word(*request, "output");
  const auto gpus = whole<std::int32_t>(*request, "gpus", 1, 1);
  const auto limit = whole<std::int64_t>(*request, "limit_s", 0, 0);
  const auto run = whole<std::int64_t>(*request, "run_s", 0, -1);
  if (!gpus || !limit || !run)
    return tl::unexpected(!gpus ? gpus.error() : !limit ? limit.error() : run.error());
  constexpr std::int64_t usual_s = 3600;
  made.gpus = *gpus;
  made.limit = Seconds(std::min(*limit, longest_s));
  const std::int64_t until_limit_s = made.limit.count() > 0 ? made.limit.count() : usual_s;
  made.run = Seconds(std::min(*run >= 0 ? *run : until_limit_s, longest_s));
  return made;
}

Seconds work_of(const Submission& submission) {
  return submission.limit > Seconds(0) ? std::min(submission.limit, submission.run)
                                       : submission.run;
}

EndState end_of(const Submission& submission) {
  return work_of(submission) < submission.run ? EndState::timeout : EndState::completed;
}

Trace growing(const Trace& trace) {
  Trace made;
  made.jobs = trace.jobs;
  made.users = trace.users;
  made.vcs = trace.vcs;
  made.cluster = trace.cluster;
  made.packing = trace.packing;
  made.forecast = trace.forecast;
  return made;
}

std::uint32_t add_job(Trace& trace, const std::string& id, const Submission& submission,
                      SimTime now) {
  const auto row = static_cast<std::uint32_t>(trace.jobs.size());
  Job& job = trace.jobs.emplace_back();
  job.id = keep_text(trace, id);
  job.user = number_of(trace.users, submission.user);
  job.vc = number_of(trace.vcs, submission.partition);
  job.gpus = submission.gpus;
  job.submit = now;
  job.duration = work_of(submission);
  job.state = end_of(submission);
  return row;
}

}  // namespace schedmate::replay
