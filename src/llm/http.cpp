// SPDX-License-Identifier: Apache-2.0
#include "llm/http.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/pipe_signal.hpp"
#include "base/text.hpp"
#include "llm/ask_server.hpp"

namespace schedmate::llm {
namespace {

/// Longer than any server on the way should take to accept.
constexpr std::chrono::milliseconds longest_connect{10'000};

std::string host_of(const Url& url) {
  const bool six = url.host.find(':') != std::string::npos;
  return six ? "[" + url.host + "]" : url.host;
}

std::string place_of(const Url& url) {
  return fmt::format("{}://{}:{}", url.secure ? "https" : "http", host_of(url), url.port);
}

struct CloseHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Handle = std::unique_ptr<CURL, CloseHandle>;
using Headers = std::unique_ptr<curl_slist, FreeList>;

/// What comes in, and how much more may.
struct Incoming {
  HttpReply reply;
  std::size_t header_bytes;
  std::size_t body_bytes;
  bool too_large = false;
};

/// Takes it off the room that is left; 0 ends the transfer.
std::size_t take(std::size_t size, std::size_t& room, Incoming& incoming) {
  incoming.too_large = size > room;
  if (incoming.too_large) return 0;
  room -= size;
  return size;
}

std::size_t take_header(const char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& incoming = *static_cast<Incoming*>(to);
  const std::string_view line(data, size);
  const std::size_t colon = line.find(':');
  if (line.starts_with("HTTP/"))
    incoming.reply.retry_after.clear();  // of an answer before this one
  if (colon != std::string_view::npos && lower_case(line.substr(0, colon)) == "retry-after")
    incoming.reply.retry_after = trim(line.substr(colon + 1));
  return take(size, incoming.header_bytes, incoming);
}

std::size_t take_body(const char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& incoming = *static_cast<Incoming*>(to);
  const std::size_t taken = take(size, incoming.body_bytes, incoming);
  incoming.reply.body.append(data, taken);
  return taken;
}

/// Asked about once a second, with how much has been sent and received; not 0 ends the transfer.
template <class... Bytes>
int is_to_stop(void* stop, Bytes... /*bytes*/) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

Headers headers_of(const HttpTarget& target, const std::string& content_type) {
  Headers headers;
  const auto add = [&](const std::string& line) {
    if (curl_slist* const longer = curl_slist_append(headers.get(), line.c_str())) {
      [[maybe_unused]] const auto* const before = headers.release();  // a part of the longer one
      headers.reset(longer);
    }
  };
  add("Content-Type: " + content_type);
  add("Accept: application/json");
  add("Expect:");  // no waiting for "100 Continue"
  if (!target.token.empty()) add("Authorization: Bearer " + target.token);
  return headers;
}

void prepare(CURL* handle, const HttpTarget& target, std::chrono::milliseconds deadline) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(deadline.count()));
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min(deadline, longest_connect).count()));
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "schedmate");  // Ray 2.41 fails without one
  curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
  curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
  if (!target.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, target.ca_file.c_str());
  // "" is not "unset": variables of the environment name no proxy behind the settings' back.
  const bool proxied = target.proxy && !target.url.is_local();
  const std::string proxy = proxied ? place_of(*target.proxy) : "";
  curl_easy_setopt(handle, CURLOPT_PROXY, proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

tl::unexpected<Error> explain(CURLcode code, const std::string& place,
                              std::chrono::milliseconds deadline) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return fail(ErrorCode::timeout,
                  fmt::format("{}: no complete answer within {} ms", place, deadline.count()));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return fail(
          ErrorCode::refused,
          fmt::format(
              "{}: cannot verify its certificate; set ca_file to the authority that signed it",
              place));
    case CURLE_ABORTED_BY_CALLBACK:
      return fail(ErrorCode::unavailable, fmt::format("{}: the program is ending", place));
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
      return fail(ErrorCode::bad_reply,
                  fmt::format("{}: the answer is not HTTP ({})", place, curl_easy_strerror(code)));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: the connection broke before the answer was complete", place));
    default:
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: no connection ({}); is the server running?", place,
                              curl_easy_strerror(code)));
  }
}

/// Its bytes outlive the transfer.
void take_request(CURL* handle, const HttpRequest& request) {
  if (request.method == "GET") return;
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

}  // namespace

Result<HttpReply> post_json(const HttpTarget& target, const std::string& path,
                            const std::string& body, const HttpLimits& limits) {
  return ask_server(target, {.method = "POST", .path = path, .body = body}, limits);
}

Result<HttpReply> ask_server(const HttpTarget& target, const HttpRequest& request,
                             const HttpLimits& limits) {
  const std::string place = place_of(target.url);
  if (limits.deadline <= std::chrono::milliseconds(0)) {
    return fail(ErrorCode::timeout, place + ": no time left for a request");
  }
  const Handle handle(curl_easy_init());
  if (!handle) return fail(ErrorCode::unavailable, place + ": out of memory");
  const Headers headers = headers_of(target, request.content_type);
  const std::string address = place + target.url.base + request.path;
  Incoming incoming{{}, limits.header_bytes, limits.reply_bytes};
  prepare(handle.get(), target, limits.deadline);
  curl_easy_setopt(handle.get(), CURLOPT_URL, address.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  take_request(handle.get(), request);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &incoming);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &incoming);
  std::stop_token stop = limits.stop;
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION,
                   (is_to_stop<curl_off_t, curl_off_t, curl_off_t, curl_off_t>));
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &stop);
  const NoBrokenPipe quiet;
  const CURLcode code = curl_easy_perform(handle.get());
  if (incoming.too_large || code == CURLE_OUT_OF_MEMORY) {
    return fail(ErrorCode::bad_reply,
                fmt::format("{}: the answer exceeds {} bytes, or its headers {} bytes", place,
                            limits.reply_bytes, limits.header_bytes));
  }
  if (code != CURLE_OK) return explain(code, place, limits.deadline);
  long status = 0;
  const char* type = nullptr;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle.get(), CURLINFO_CONTENT_TYPE, &type);
  incoming.reply.status = static_cast<int>(status);
  incoming.reply.content_type = type == nullptr ? "" : type;
  return std::move(incoming.reply);
}

}  // namespace schedmate::llm
