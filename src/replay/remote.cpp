// SPDX-License-Identifier: Apache-2.0
#include "replay/remote.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/deadline.hpp"
#include "base/json_reader.hpp"
#include "base/unix_socket.hpp"
#include "core/action_json.hpp"
#include "replay/line_socket.hpp"
#include "replay/wire.hpp"

namespace schedmate::replay {
namespace {

std::string line_of(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

tl::unexpected<Error> no_answer(const std::string& what) {
  return fail(ErrorCode::invalid, "the cluster's answer: " + what);
}

}  // namespace

Result<Document> RemoteCluster::ask_once(const std::string& line, Deadline within) {
  const schedmate::Deadline deadline(within);
  if (!connection_) {
    auto made = connect_to(socket_);
    if (!made) return tl::unexpected(made.error());
    connection_ = std::move(*made);
    rest_.clear();
  }
  if (auto sent = send_line(connection_, line, deadline); !sent)
    return tl::unexpected(sent.error());
  const auto answer = receive_line(connection_, rest_, deadline);
  if (!answer) return tl::unexpected(answer.error());
  constexpr JsonBounds bounds{.deepest = 8, .most_values = 50'000'000};
  return read_json(*answer, bounds);
}

Result<Document> RemoteCluster::ask(Document request, Deadline within) {
  request["number"] = ++asked_;
  auto answer = ask_once(line_of(request), within);
  if (answer && (!answer->is_object() || answer->value("number", Document()) != asked_))
    answer = no_answer("not to what was asked");
  if (!answer) {
    connection_ = Descriptor();  // what comes late belongs to nobody
    if (answer.error().code == ErrorCode::timeout) answer.error().code = ErrorCode::unavailable;
  } else if (answer->contains("error")) {
    return fail(ErrorCode::unavailable, "the cluster: " + (*answer)["error"].dump());
  }
  return answer;
}

Result<Abilities> RemoteCluster::abilities(Deadline within) {
  const auto answer = ask({{"do", "abilities"}}, within);
  if (!answer) return tl::unexpected(answer.error());
  Abilities made;
  const auto lacks = answer->find("lacks");
  if (lacks == answer->end() || !lacks->is_array() || lacks->size() != made.lacks.size())
    return no_answer("no list of what it lacks");
  for (std::size_t i = 0; i < made.lacks.size(); ++i) {
    if (!(*lacks)[i].is_string()) return no_answer("what it lacks is no text");
    made.lacks[i] = (*lacks)[i].get<std::string>();
  }
  return made;
}

/// A job of the past that is another one by now takes its place at the end, in order of submission.
void RemoteCluster::merge(Listing changes) {
  if (!changes.nodes.empty()) last_.nodes = std::move(changes.nodes);
  last_.version = changes.version;
  last_.now = changes.now;
  last_.ended_since = changes.ended_since;
  for (SeenJob& job : changes.jobs) {
    const auto [place, fresh] = places_.try_emplace(job.id, last_.jobs.size());
    if (fresh)
      last_.jobs.push_back(std::move(job));
    else
      last_.jobs[place->second] = std::move(job);
  }
  const auto is_past = [&](const SeenJob& job) {
    return job.phase == JobPhase::ended && job.ended && *job.ended < last_.ended_since;
  };
  if (std::erase_if(last_.jobs, is_past) == 0) return;
  places_.clear();
  for (std::size_t i = 0; i < last_.jobs.size(); ++i) places_[last_.jobs[i].id] = i;
}

Result<Listing> RemoteCluster::list(SimTime ended_since, Deadline within) {
  if (!connection_) {  // it may be another cluster by now
    last_ = {.version = -1, .now = {}, .jobs = {}, .ended_since = {}, .nodes = {}};
    places_.clear();
  }
  // What had ended before comes back only with everything.
  const std::int64_t after = ended_since >= last_.ended_since ? last_.version : -1;
  auto changes =
      ask({{"do", "list"}, {"ended_since_s", seconds_of(ended_since)}, {"after", after}}, within)
          .and_then(read_listing);
  if (!changes) return changes;
  const bool is_another = changes->version < last_.version;  // it was started again
  if (after < 0 || is_another) {
    last_ = {.version = -1, .now = {}, .jobs = {}, .ended_since = {}, .nodes = {}};
    places_.clear();
  }
  if (is_another && after >= 0) return list(ended_since, within);
  merge(std::move(*changes));
  return last_;
}

Result<std::optional<SeenJob>> RemoteCluster::job(const std::string& id, Deadline within) {
  const auto answer = ask({{"do", "job"}, {"id", id}}, within);
  if (!answer) return tl::unexpected(answer.error());
  const auto found = answer->find("job");
  if (found == answer->end()) return no_answer("no job, and not that there is none");
  if (found->is_null()) return std::nullopt;
  return read_job(*found).map([](SeenJob job) { return std::optional(std::move(job)); });
}

CallReply RemoteCluster::call(const ActionCall& call, Deadline within) {
  const auto reply =
      ask({{"do", "call"}, {"call", call_document(call)}}, within).and_then(read_reply);
  if (reply) return *reply;
  return {CallOutcome::unknown, reply.error().message, {}};
}

Result<std::optional<std::string>> RemoteCluster::find_submission(const std::string& token,
                                                                  Deadline within) {
  const auto answer = ask({{"do", "find"}, {"token", token}}, within);
  if (!answer) return tl::unexpected(answer.error());
  const auto found = answer->find("job");
  if (found != answer->end() && found->is_null()) return std::nullopt;
  if (found == answer->end() || !found->is_string())
    return no_answer("no job, and not that there is none");
  return found->get<std::string>();
}

Result<RemoteCluster::Time> RemoteCluster::advance(SimTime to, Deadline within) {
  const auto answer = ask({{"do", "advance"}, {"to_s", seconds_of(to)}}, within);
  if (!answer) return tl::unexpected(answer.error());
  const auto instant = [&](const char* name) {
    const auto found = answer->find(name);
    return found != answer->end() && found->is_number_integer() ? at(found->get<std::int64_t>())
                                                                : never;
  };
  const Time time{instant("now_s"), instant("next_s")};
  if (time.now == never) return fail(ErrorCode::invalid, "the cluster's answer: no time");
  return time;
}

}  // namespace schedmate::replay
