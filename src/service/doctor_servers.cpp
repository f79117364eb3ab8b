// SPDX-License-Identifier: Apache-2.0
#include "service/doctor_servers.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/descriptor.hpp"
#include "llm/http.hpp"
#include "service/advisor_state.hpp"

namespace schedmate::service {
namespace {

constexpr std::chrono::milliseconds patience{2000};

/// Whether somebody listens there on this machine.
bool listens(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!socket) return false;
  const auto* const place = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.number(), place, sizeof address) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd wait{socket.number(), POLLOUT, 0};
  if (::poll(&wait, 1, 500) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

DoctorRow dcgm() {
  constexpr std::uint16_t port = 9400;
  DoctorRow row{.what = "dcgm-exporter",
                .works = false,
                .needed = false,
                .detail = "nothing listens on port 9400 of this machine",
                .gives =
                    "GPU use of running jobs, for sites that do not keep it in Slurm "
                    "(not read yet)",
                .mend = "run on a GPU node that has it (docker: nvcr.io/nvidia/k8s/dcgm-exporter)"};
  if (!listens(port)) return row;
  const auto url = llm::parse_url("http://127.0.0.1:9400");
  const auto reply =
      url ? llm::post_json({*url, "", std::nullopt, ""}, "/metrics", "",
                           {.deadline = patience, .reply_bytes = std::size_t{16} << 20U})
          : tl::unexpected(url.error());
  row.works = reply && reply->body.contains("DCGM_");
  row.detail = row.works ? "answers at http://127.0.0.1:9400/metrics"
                         : "port 9400 is taken, but its answer has no DCGM_ figures";
  if (row.works) row.mend.clear();
  return row;
}

DoctorRow redis(const settings::Session& session) {
  DoctorRow row{.what = "Redis",
                .works = false,
                .needed = false,
                .detail = "not set, and none found on this machine",
                .gives = "a history that several machines share (--set store=redis:HOST:PORT)",
                .mend = "not needed for one machine; else install redis-server"};
  const std::string store = session.settings.text("store");
  if (store.starts_with("redis:")) {
    const auto opened = open_history(session);
    row.works = opened.has_value();
    row.needed = true;
    row.detail = row.works ? store : opened.error().message;
    row.mend = row.works ? "" : "start the server, or set another store";
    return row;
  }
  constexpr std::uint16_t port = 6379;
  std::error_code error;
  for (const char* const path : {"/run/redis/redis-server.sock", "/run/redis/redis.sock"})
    if (std::filesystem::exists(path, error)) row.detail = fmt::format("a socket at {}", path);
  if (listens(port)) row.detail = "a server on port 6379";
  row.works = row.detail.starts_with("a ");
  if (row.works) row.detail += ", not used: the history is a file";
  if (row.works) row.mend.clear();
  return row;
}

DoctorRow model_server(const settings::Session& session, const std::string& name) {
  DoctorRow row{
      .what = "model " + name,
      .works = false,
      .needed = false,
      .detail = "",
      .gives = "facts, causes and answers where rules leave something open (--llm " + name + ")",
      .mend = ""};
  const auto given = session.settings.model(name);
  const auto place = given.find("url");
  if (place == given.end()) {
    row.works = given.contains("recording");
    row.detail = row.works ? "a recording: " + given.at("recording") : "has no url";
    row.mend = row.works ? "" : fmt::format("set llm.{}.url", name);
    return row;
  }
  const auto url = llm::parse_url(place->second);
  if (!url) {
    row.detail = url.error().message;
    row.mend = fmt::format("set llm.{}.url", name);
    return row;
  }
  // Any status is an answer: no token goes along, so that it may well refuse.
  const auto reply = llm::post_json({*url, "", std::nullopt, ""}, "/models", "{}",
                                    {.deadline = patience, .reply_bytes = std::size_t{1} << 20U});
  row.works = reply.has_value();
  row.detail = row.works ? fmt::format("{} answers (status {})", place->second, reply->status)
                         : reply.error().message;
  row.mend = row.works ? "" : "start the server, or see whether a proxy is needed";
  return row;
}

}  // namespace

std::vector<DoctorRow> examine_servers(const settings::Session& session) {
  std::vector<DoctorRow> rows = {dcgm(), redis(session)};
  const auto names = session.settings.models();
  for (const std::string& name : names) rows.push_back(model_server(session, name));
  if (names.empty())
    rows.push_back({.what = "model servers",
                    .works = false,
                    .needed = false,
                    .detail = "none is set; everything works by rules alone",
                    .gives = "facts, causes and answers where rules leave something open",
                    .mend = "a table [llm.NAME] with url and model in the settings file"});
  return rows;
}

}  // namespace schedmate::service
