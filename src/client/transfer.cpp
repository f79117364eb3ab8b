// SPDX-License-Identifier: Apache-2.0
#include "client/transfer.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/characters.hpp"
#include "base/pipe_signal.hpp"

namespace schedmate::client {
namespace {

constexpr std::chrono::milliseconds longest_connect{5000};
constexpr std::size_t most_of_errors = std::size_t{64} << 10U;
constexpr std::size_t most_of_headers = std::size_t{64} << 10U;
constexpr long longest_silence_s = 45;

struct EndTransfer {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeLines {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Transfer = std::unique_ptr<CURL, EndTransfer>;
using HeaderLines = std::unique_ptr<curl_slist, FreeLines>;

/// What comes in while curl_easy_perform() runs.
struct Receiver {
  CURL* handle = nullptr;
  std::size_t room = 0;  ///< bytes that the body may still have
  std::size_t header_room = most_of_headers;
  const Listening* listening = nullptr;
  std::string body{};
  bool too_large = false;
  bool told_to_end = false;

  [[nodiscard]] int status() const {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }
  [[nodiscard]] bool is_stream() const {
    const char* type = nullptr;
    curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
    return status() == 200 && type != nullptr &&
           std::string_view(type).starts_with("text/event-stream");
  }
};

std::size_t receive(const char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& receiver = *static_cast<Receiver*>(to);
  if (receiver.listening != nullptr && receiver.is_stream()) {
    receiver.told_to_end = !receiver.listening->take({data, size});
    return receiver.told_to_end ? 0 : size;
  }
  receiver.too_large = size > receiver.room;
  if (receiver.too_large) return 0;
  receiver.room -= size;
  receiver.body.append(data, size);
  return size;
}

std::size_t receive_header(const char* /*data*/, std::size_t /*one*/, std::size_t size, void* to) {
  auto& receiver = *static_cast<Receiver*>(to);
  receiver.too_large = size > receiver.header_room;
  if (receiver.too_large) return 0;
  receiver.header_room -= size;
  return size;
}

/// Four sizes, which do not matter here.
template <class... Sizes>
int look_up(void* to, Sizes... /*sizes*/) {
  auto& receiver = *static_cast<Receiver*>(to);
  receiver.told_to_end = receiver.told_to_end || receiver.listening->is_over();
  return receiver.told_to_end ? 1 : 0;
}

HeaderLines header_lines(const DaemonAddress& address, const Call& call) {
  HeaderLines lines;
  const auto add = [&](const std::string& line) {
    if (curl_slist* const longer = curl_slist_append(lines.get(), line.c_str())) {
      [[maybe_unused]] const auto* const before = lines.release();  // a part of the longer one
      lines.reset(longer);
    }
  };
  add("Expect:");  // no waiting for "100 Continue"
  if (call.changes) add("Content-Type: application/json");
  if (!address.token.empty()) add("Authorization: Bearer " + address.token);
  if (!call.idempotency_key.empty()) add("Idempotency-Key: " + call.idempotency_key);
  if (!call.last_event.empty()) add("Last-Event-ID: " + call.last_event);
  return lines;
}

void set_up(CURL* handle, const DaemonAddress& address, const Call& call) {
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(longest_connect.count()));
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  const bool is_unix = !address.unix_path.empty();
  if (is_unix) curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, address.unix_path.c_str());
  const std::string url = (is_unix ? "http://localhost" : address.url) + call.path;
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  if (!call.changes) return;
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(call.body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
}

tl::unexpected<Error> explain(CURLcode code, const std::string& place) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return fail(ErrorCode::timeout,
                  fmt::format("{}: no complete answer in time; see whether the daemon is well, or "
                              "allow more with --set client.deadline_s=N",
                              place));
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
      return fail(ErrorCode::unavailable,
                  fmt::format("{}: no daemon answers there ({}); start schedmated, or name another "
                              "place with --address",
                              place, curl_easy_strerror(code)));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return fail(ErrorCode::refused,
                  fmt::format("{}: its certificate is not one that this system trusts", place));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return fail(
          ErrorCode::unavailable,
          fmt::format("{}: the connection broke before the answer was complete; try again", place));
    default:
      return fail(ErrorCode::bad_reply, fmt::format("{}: what answers there is no daemon ({})",
                                                    place, curl_easy_strerror(code)));
  }
}

Result<Answered> perform(CURL* handle, const DaemonAddress& address, const Call& call,
                         Receiver& receiver) {
  const HeaderLines lines = header_lines(address, call);
  receiver.handle = handle;
  set_up(handle, address, call);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines.get());
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, receive_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &receiver);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &receiver);
  const NoBrokenPipe quiet;
  const CURLcode code = curl_easy_perform(handle);
  if (receiver.told_to_end) return Answered{200, ""};
  if (receiver.too_large || code == CURLE_OUT_OF_MEMORY)
    return fail(ErrorCode::bad_reply,
                address.text() + ": it answers more than any daemon does; is it one?");
  if (code != CURLE_OK) return explain(code, address.text());
  return Answered{receiver.status(), std::move(receiver.body)};
}

}  // namespace

Result<Answered> transfer(const DaemonAddress& address, const Call& call, const Bounds& bounds) {
  const Transfer handle(curl_easy_init());
  if (!handle) return fail(ErrorCode::unavailable, address.text() + ": out of memory");
  Receiver receiver{.room = bounds.reply_bytes};
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(bounds.deadline.count()));
  return perform(handle.get(), address, call, receiver);
}

Result<Answered> listen(const DaemonAddress& address, const Call& call,
                        const Listening& listening) {
  const Transfer handle(curl_easy_init());
  if (!handle) return fail(ErrorCode::unavailable, address.text() + ": out of memory");
  Receiver receiver{.room = most_of_errors, .listening = &listening};
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_LOW_SPEED_TIME, longest_silence_s);
  curl_easy_setopt(handle.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFOFUNCTION,
                   (look_up<curl_off_t, curl_off_t, curl_off_t, curl_off_t>));
  curl_easy_setopt(handle.get(), CURLOPT_XFERINFODATA, &receiver);
  auto ended = perform(handle.get(), address, call, receiver);
  if (!ended && ended.error().code == ErrorCode::timeout)
    return fail(ErrorCode::unavailable, address.text() + ": the stream of events fell silent");
  if (ended && ended->status == 200 && !ended->body.empty())
    return fail(ErrorCode::bad_reply, address.text() + ": what answers there sends no events");
  return ended;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").contains(c);
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace schedmate::client
