// SPDX-License-Identifier: Apache-2.0
#include "ray_live/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace schedmate::ray_live {
namespace {

constexpr std::string_view says_where = "schedmate driver: ";

/// Which of our drivers: their ids are numbered.
std::int64_t number_of(const std::string& id, const std::string& prefix) {
  return id.starts_with(prefix) ? parse_number<std::int64_t>(id.substr(prefix.size())).value_or(0)
                                : 0;
}

/// "": it has not said yet.
std::string url_in(const std::string& log) {
  const std::size_t from = log.find(says_where);
  if (from == std::string::npos) return {};
  const std::size_t end = log.find('\n', from);
  if (end == std::string::npos) return {};
  return std::string(trim(log.substr(from + says_where.size(), end - from - says_where.size())));
}

}  // namespace

std::string Driver::prefix() const { return fmt::format("sm-{}-driver-", instance_); }

Result<void> Driver::find(const Jobs& jobs, bool is_needed, Head::Until until) {
  const RayJob* there = nullptr;
  const RayJob* last = nullptr;
  for (const auto& [id, job] : jobs) {
    if (!id.starts_with(prefix())) continue;
    if (!job.is_over()) there = &job;
    if (last == nullptr || number_of(last->id, prefix()) < number_of(id, prefix())) last = &job;
  }
  if (there == nullptr) {
    server_.reset();
    id_.clear();
    if (!is_needed) return {};
    constexpr Seconds pause{60};  // of one that cannot run
    if (last != nullptr && last->status == RayStatus::failed &&
        ray_.wall() - last->ended.value_or(at(0)) < pause)
      return fail(ErrorCode::unavailable,
                  fmt::format("the driver that starts jobs has ended, and is begun again within a "
                              "minute: job {} of Ray: {}",
                              last->id, said(last->message)));
    return begin(last, until);
  }
  if (there->id == id_ && server_) return {};
  auto log = ray_.get("/api/jobs/" + there->id + "/logs", until).and_then(read_logs);
  if (!log) return unread(log.error());
  const std::string text = url_in(*log);
  if (text.empty() && !is_needed) return {};
  if (text.empty())
    return fail(ErrorCode::unavailable,
                fmt::format("the driver that starts jobs is being started: job {} of Ray has not "
                            "said yet where it answers",
                            there->id));
  auto url = llm::parse_url(text);
  if (!url)
    return fail(ErrorCode::unavailable,
                fmt::format("job {} of Ray says no URL: {}", there->id, url.error().message));
  id_ = there->id;
  server_ = ray_.elsewhere(std::move(*url));
  return {};
}

Result<void> Driver::begin(const RayJob* last, Head::Until until) {
  const std::int64_t number = last == nullptr ? 0 : number_of(last->id, prefix());
  const std::string id = prefix() + std::to_string(number + 1);
  constexpr int taken = 200;
  const auto put = [&](const llm::HttpRequest& request) -> Result<void> {
    const auto reply = ray_.ask(request, until);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->status == taken) return {};
    return fail(ErrorCode::unavailable,
                fmt::format("Ray does not take the driver that starts jobs: status {}: {}",
                            reply->status, said(reply->body)));
  };
  auto begun = put({.method = "PUT",
                    .path = "/api/packages/gcs/" + package_name(id),
                    .body = package_of_driver(),
                    .content_type = "application/octet-stream"})
                   .and_then([&] {
                     return put({.method = "POST",
                                 .path = "/api/jobs/",
                                 .body = submission_of_driver(id, instance_, options_)});
                   });
  if (!begun) return begun;
  return fail(ErrorCode::unavailable, "the driver that starts jobs is being started: job " + id);
}

Result<std::string> Driver::list(Jobs& jobs, Head::Until until) const {
  const auto unheard = [&](const Error& error) {
    return fail(ErrorCode::unavailable,
                fmt::format("the driver that starts jobs (job {} of Ray) does not answer: {}; if "
                            "it never does again, `ray job stop {}` lets it begin anew",
                            id_, error.message, id_));
  };
  const auto version = server_->get("/api/version", until).and_then(read_version);
  if (!version) return unheard(version.error());
  auto listed = server_->get("/api/jobs/", until).and_then(read_jobs);
  if (!listed) return unheard(listed.error());
  for (RayJob& each : *listed)
    if (each.id.starts_with(fmt::format("sm-{}-", instance_)))
      jobs.insert_or_assign(each.id, std::move(each));
  return version->session;
}

}  // namespace schedmate::ray_live
