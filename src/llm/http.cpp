// SPDX-License-Identifier: Apache-2.0
#include "llm/http.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>

#include "llm/watchdog.hpp"

namespace schedmate::llm {
namespace {

/// Longer than any server on the way should take to accept; the watchdog cuts what is left.
constexpr std::chrono::milliseconds longest_connect{10'000};

std::string place_of(const Url& url) {
  const bool six = url.host.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", url.secure ? "https" : "http",
                     six ? "[" + url.host + "]" : url.host, url.port);
}

tl::unexpected<Error> explain(httplib::Error error, const std::string& place) {
  switch (error) {
    case httplib::Error::SSLServerVerification:
    case httplib::Error::SSLLoadingCerts:
      return fail(
          ErrorCode::refused,
          fmt::format(
              "{}: cannot verify its certificate; set ca_file to the authority that signed it",
              place));
    case httplib::Error::Read:
    case httplib::Error::Write:
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: the connection broke before the answer was complete", place));
    default:
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: no connection ({}); is the server running?", place,
                              httplib::to_string(error)));
  }
}

void prepare(httplib::Client& client, const HttpTarget& target, std::chrono::milliseconds limit) {
  client.set_connection_timeout(std::min(limit, longest_connect));
  client.set_read_timeout(limit);
  client.set_write_timeout(limit);
  client.set_keep_alive(false);
  client.set_follow_location(false);
  client.enable_server_certificate_verification(true);
  if (!target.ca_file.empty()) client.set_ca_cert_path(target.ca_file);
  if (target.proxy && !target.url.is_local()) {
    client.set_proxy(target.proxy->host, target.proxy->port);
  }
}

httplib::Request request_of(const HttpTarget& target, const std::string& path,
                            const std::string& body) {
  httplib::Request request;
  request.method = "POST";
  request.path = target.url.base + path;
  request.body = body;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  if (!target.token.empty()) request.headers.emplace("Authorization", "Bearer " + target.token);
  return request;
}

}  // namespace

Result<HttpReply> post_json(const HttpTarget& target, const std::string& path,
                            const std::string& body, const HttpLimits& limits) {
  const std::string place = place_of(target.url);
  if (limits.deadline <= std::chrono::milliseconds(0)) {
    return fail(ErrorCode::timeout, place + ": no time left for a request");
  }
  try {
    const NoBrokenPipe quiet;
    httplib::Client client(place);
    prepare(client, target, limits.deadline);
    Watchdog watchdog(limits.deadline);
    client.set_socket_options([&](int socket) { watchdog.guard(socket); });
    HttpReply reply;
    bool too_large = false;
    httplib::Request request = request_of(target, path, body);
    request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t,
                                   std::uint64_t) {
      too_large = size > limits.reply_bytes - reply.body.size();
      if (!too_large) reply.body.append(data, size);
      return !too_large && !watchdog.expired();
    };
    const httplib::Result result = client.send(request);
    if (watchdog.expired()) {
      return fail(ErrorCode::timeout, fmt::format("{}: no complete answer within {} ms", place,
                                                  limits.deadline.count()));
    }
    if (too_large) {
      return fail(ErrorCode::bad_reply,
                  fmt::format("{}: the answer exceeds {} bytes", place, limits.reply_bytes));
    }
    if (!result) return explain(result.error(), place);
    reply.status = result->status;
    reply.content_type = result->get_header_value("Content-Type");
    reply.retry_after = result->get_header_value("Retry-After");
    return reply;
  } catch (const std::exception& error) {
    return fail(ErrorCode::bad_reply, fmt::format("{}: {}", place, error.what()));
  }
}

}  // namespace schedmate::llm
