// SPDX-License-Identifier: Apache-2.0
#include "daemon/readings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "daemon/studies.hpp"
#include "http/routes.hpp"
#include "reader/answers/asked.hpp"
#include "workers/setup.hpp"

namespace schedmate::daemon {
namespace {

using http::RouteName;
using reader::What;

/// With the server of the workers' queue, for a call.
constexpr std::chrono::milliseconds most_patience{1'000};

/// Who asks, for the system: by name, or by uid where the uid has none.
std::string user_of(const http::Request& request) {
  constexpr std::string_view by_uid = "uid ";
  if (!request.caller.user.empty() || !request.by.starts_with(by_uid)) return request.caller.user;
  return request.by.substr(by_uid.size());
}

Result<std::int64_t> lines_of(const http::Request& request) {
  const auto given = request.query.find("tail");
  if (given == request.query.end()) return reader::Request().lines;
  const auto lines = parse_number<std::int64_t>(given->second);
  if (lines && *lines >= 0 && *lines <= reader::most_tail_lines) return *lines;
  return fail(ErrorCode::invalid, fmt::format("tail={}: must be a number of lines from 0 to {}",
                                              given->second, reader::most_tail_lines));
}

Result<reader::Request> log_of(const http::Request& request, const live::Jobs& jobs) {
  const std::string& id = request.ids.at(0);
  const live::Attempt* const attempt = jobs.find(id);
  if (attempt == nullptr || !request.caller.may_see_jobs_of(attempt->seen.user))
    return fail(ErrorCode::not_found, fmt::format("no job {}", id));
  const SeenJob& seen = attempt->seen;
  if (seen.user != request.caller.user && request.caller.role != Role::cluster_operator)
    return fail(ErrorCode::refused,
                fmt::format("the log of job {} is for its owner and for operators", id));
  const auto path = log_path_of(seen);
  if (!path) return tl::unexpected(path.error());
  const auto lines = lines_of(request);
  if (!lines) return tl::unexpected(lines.error());
  return reader::Request{.what = What::tail, .user = seen.user, .logs = {*path}, .lines = *lines};
}

http::Reply reply_of(Result<Document> result, const std::string& job) {
  if (result && !job.empty()) (*result)["job_id"] = job;
  if (result) return http::json_reply(*result);
  return result.error().code == ErrorCode::unavailable ? http::busy_reply(result.error().message)
                                                       : http::error_reply(result.error());
}

}  // namespace

Result<std::string> log_path_of(const SeenJob& job) {
  std::string path =
      job.output.starts_with('/') || job.output.empty() ? job.output : job.dir + "/" + job.output;
  if (path.starts_with('/')) return path;
  return fail(ErrorCode::not_found,
              fmt::format("the cluster does not tell where job {} logs", job.id));
}

bool is_reading(const http::Request& request) {
  const RouteName name = request.route->name;
  return name == RouteName::log || name == RouteName::advise || name == RouteName::diagnose;
}

Result<reader::Request> reading_of(const http::Request& request, const live::Jobs& jobs) {
  if (request.route->name == RouteName::log) return log_of(request, jobs);
  if (!request.json) return fail(ErrorCode::invalid, "a body is needed: a JSON object");
  auto made = reader::read_question(
      request.route->name == RouteName::advise ? What::advise : What::diagnose, *request.json);
  if (!made) return made;
  made->user = user_of(request);
  if (made->user.empty())
    return fail(ErrorCode::refused, "nothing is read for a caller without a user of this system");
  return made;
}

Readings::Readings(const std::string& socket, const settings::Session& session, Studies& studies,
                   const std::function<void(const std::string&)>& report)
    : studies_(studies) {
  if (!session.settings.text("workers.redis").empty())
    workers_ = std::make_unique<WorkerDesk>(WorkerDeskOptions{
        .open = [session] { return workers::queue_of(session, most_patience); },
        .instead = [this](reader::Request request,
                          const reader::Take& take) { read_here(std::move(request), take); },
        .reads_itself = !socket.empty(),
        .name = fmt::format("{}.{}.{}", session.environment.host, ::getpid(),
                            session.clock.now().count()),
        .clock = session.clock,
        .report = report});
  if (socket.empty()) return;
  const std::chrono::seconds deadline(session.settings.whole("reader.deadline_s"));
  reader::ClientOptions options{
      .socket = socket, .deadline = deadline + reader::answer_slack, .clock = session.clock};
  if (service::uses_models(session.settings)) {
    models_ = std::make_unique<ModelDesk>(session);
    options.model = [this](reader::Question question, std::function<void(std::string)> give) {
      models_->ask(std::move(question), std::move(give));
    };
  }
  reader_ = std::make_unique<reader::Client>(std::move(options));
}

void Readings::take(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
                    const live::Jobs& jobs) {
  auto asked = reading_of(request, jobs);
  if (!asked) {
    (*answer)(http::error_reply(asked.error()));
    return;
  }
  const std::string job = request.ids.empty() ? "" : request.ids.front();
  asked->models = models_ != nullptr && asked->what != What::tail;
  const reader::Take reply = [answer, job](Result<Document> result) {
    (*answer)(reply_of(std::move(result), job));
  };
  if (asked->what != What::advise) return ask(std::move(*asked), reply);
  service::AdviseRequest advice = reader::advice_asked(*asked);
  advice.role = request.caller.role;
  ask(reader::facts_asked(std::move(*asked)),
      [this, advice = std::move(advice), reply](Result<Document> facts) {
        if (!facts) return reply(std::move(facts));
        studies_.advise(advice, *std::move(facts), reply);
      });
}

reader::Ask Readings::asker() {
  if (!reader_ && !workers_) return {};
  return [this](reader::Request request, reader::Take take) {
    ask(std::move(request), std::move(take));
  };
}

void Readings::ask(reader::Request request, reader::Take take) {
  if (workers_ && is_for_workers(request))
    workers_->ask(std::move(request), std::move(take));
  else
    read_here(std::move(request), take);
}

void Readings::read_here(reader::Request request, const reader::Take& take) {
  if (reader_) return reader_->ask(std::move(request), take);
  take(fail(ErrorCode::unavailable,
            "nothing reads the files of users here: setting reader.socket is to name the socket of "
            "a schedmate-reader"));
}

WorkerDesk::Counts Readings::of_workers() const {
  return workers_ ? workers_->counts() : WorkerDesk::Counts{};
}

}  // namespace schedmate::daemon
