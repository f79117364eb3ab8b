// SPDX-License-Identifier: Apache-2.0
#include "probe/client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "base/pipe_signal.hpp"

namespace schedmate::probe {
namespace {

constexpr std::size_t most_reply = std::size_t{4} << 20U;
constexpr std::string_view unix_head = "unix:", http_head = "http://";

struct ReleaseHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ReleaseList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::size_t take_reply(const char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& body = *static_cast<std::string*>(to);
  if (body.size() + size > most_reply) return 0;
  body.append(data, size);
  return size;
}

}  // namespace

Result<void> check_address(const std::string& address) {
  if (address.starts_with(unix_head) && address.size() > unix_head.size()) return {};
  if (address.starts_with(http_head) && address.size() > http_head.size()) return {};
  return fail(ErrorCode::invalid,
              fmt::format("address '{}': unix:PATH or http://HOST:PORT", address));
}

struct Client::Inside {
  std::unique_ptr<CURL, ReleaseHandle> handle{curl_easy_init()};

  /// What was set before is forgotten, but for the handle's memory.
  bool prepare(const std::string& url, std::chrono::milliseconds deadline) const {
    if (!handle) return false;
    curl_easy_reset(handle.get());
    curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(deadline.count()));
    curl_easy_setopt(handle.get(), CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(handle.get(), CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take_reply);
    return true;
  }

  Result<ClientReply> perform(const std::string& place, std::chrono::milliseconds deadline) const {
    ClientReply reply;
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &reply.body);
    const NoBrokenPipe quiet;
    const CURLcode code = curl_easy_perform(handle.get());
    if (code == CURLE_OPERATION_TIMEDOUT)
      return fail(ErrorCode::timeout,
                  fmt::format("{}: no complete answer within {} ms", place, deadline.count()));
    if (code != CURLE_OK)
      return fail(ErrorCode::unavailable, fmt::format("{}: {}", place, curl_easy_strerror(code)));
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    return reply;
  }
};

Client::Client() : inside_(std::make_unique<Inside>()) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<ClientReply> Client::post(const std::string& address, const std::string& path,
                                 const std::string& body, std::chrono::milliseconds deadline) {
  const bool local = address.starts_with(unix_head);
  if (!inside_->prepare((local ? "http://localhost" : address) + path, deadline))
    return fail(ErrorCode::unavailable, "out of memory");
  CURL* const handle = inside_->handle.get();
  if (local)
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, address.substr(unix_head.size()).c_str());
  std::unique_ptr<curl_slist, ReleaseList> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"));
  if (curl_slist* const longer = curl_slist_append(headers.get(), "Expect:"))
    (void)(headers.release(), headers.reset(longer), 0);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  return inside_->perform(address, deadline);
}

Result<ClientReply> Client::get(const std::string& url, std::chrono::milliseconds deadline) {
  if (!inside_->prepare(url, deadline)) return fail(ErrorCode::unavailable, "out of memory");
  return inside_->perform(url, deadline);
}

}  // namespace schedmate::probe
