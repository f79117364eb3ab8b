// SPDX-License-Identifier: Apache-2.0
#include "client/which_daemon.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/input.hpp"

namespace schedmate::client {
namespace {

constexpr std::uint64_t largest_token_file = 4096;

/// As it is told to who asks, so without a wildcard.
std::string url_of(const std::string& tcp) {
  constexpr std::string_view any = "0.0.0.0:";
  return "http://" + (tcp.starts_with(any) ? "127.0.0.1:" + tcp.substr(any.size()) : tcp);
}

Result<DaemonAddress> address_of(const settings::Settings& settings, const WhichDaemon& which) {
  if (!which.address.empty()) return read_address(which.address);
  const std::string socket = settings.text("listen.unix"), tcp = settings.text("listen.tcp");
  if (!socket.empty()) return read_address("unix:" + socket);
  if (!tcp.empty()) return read_address(url_of(tcp));
  return fail(ErrorCode::invalid,
              "the settings listen.unix and listen.tcp are empty; name the daemon by --address");
}

Result<std::string> token_of(const settings::Session& session, const WhichDaemon& which,
                             bool is_url) {
  if (!which.token_file.empty()) {
    const auto text = read_file(which.token_file, largest_token_file);
    return text ? read_token(*text, which.token_file) : tl::unexpected(text.error());
  }
  const std::string given = session.environment.variable("SCHEDMATE_TOKEN");
  return is_url && !given.empty() ? read_token(given, "SCHEDMATE_TOKEN") : std::string();
}

}  // namespace

Result<DaemonClient> daemon_of(const settings::Session& session, const WhichDaemon& which) {
  auto address = address_of(session.settings, which);
  if (!address) return tl::unexpected(address.error());
  auto token = token_of(session, which, address->unix_path.empty());
  if (!token) return tl::unexpected(token.error());
  address->token = std::move(*token);
  DaemonClient made{std::move(*address)};
  made.bounds.deadline = std::chrono::seconds(session.settings.whole("client.deadline_s"));
  return made;
}

Result<std::optional<DaemonClient>> daemon_if_any(const settings::Session& session,
                                                  const WhichDaemon& which) {
  if (which.address.empty() && session.settings.text("listen.unix").empty()) return std::nullopt;
  auto client = daemon_of(session, which);
  if (!client) {
    if (which.address.empty()) return std::nullopt;
    return tl::unexpected(client.error());
  }
  if (which.address.empty() && !takes_connections(client->address)) return std::nullopt;
  return std::optional(std::move(*client));
}

bool may_be_job_id(const std::string& word) {
  constexpr std::size_t longest = 200;
  std::error_code error;
  return !word.empty() && word != "-" && word.size() <= longest && !word.contains('/') &&
         !std::filesystem::exists(word, error);
}

std::string job_path(std::string_view id) { return "/api/v1/jobs/" + percent_encoded(id); }

}  // namespace schedmate::client
