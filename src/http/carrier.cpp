// SPDX-License-Identifier: Apache-2.0
#include "http/carrier.hpp"

#include <microhttpd.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/stream.hpp"

namespace schedmate::http {
namespace {

/// What the library may take for one connection: the head, a copy of its cookies, a note about each
/// header, cookie and parameter, and the head of the reply. Whatever was let in fits, so that no
/// refusal is the library's.
std::size_t connection_memory(const HeadLimits& limits) {
  constexpr std::size_t note = 64;  // of a header, a cookie, a parameter of the query
  constexpr std::size_t parameters = 16;
  constexpr std::size_t reply_head = 2048;
  return 2 * limits.bytes + (limits.headers + limits.cookies + parameters) * note + reply_head;
}

void suspend(void* connection) { MHD_suspend_connection(static_cast<MHD_Connection*>(connection)); }
void resume(void* connection) { MHD_resume_connection(static_cast<MHD_Connection*>(connection)); }

/// The library sees the target, but nobody asks it what it means.
size_t leave_escapes(void* /*unused*/, MHD_Connection* /*unused*/, char* text) {
  return std::strlen(text);
}

int file_of(MHD_Connection* connection) {
  const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == nullptr ? -1 : info->connect_fd;
}

/// What the library keeps for one connection.
using Held = ExchangePointer;

Held* held_by(MHD_Connection* connection) {
  const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<Held*>(info->socket_context);
}

void on_connection(void* traffic_pointer, MHD_Connection* connection, void** context,
                   MHD_ConnectionNotificationCode code) {
  auto& traffic = *static_cast<Traffic*>(traffic_pointer);
  const int file = file_of(connection);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    auto held = std::make_unique<Held>(traffic.find(file));
    if (*held) (*held)->attach(connection, {suspend, resume});
    *context = held.release();
    return;
  }
  const std::unique_ptr<Held> held(static_cast<Held*>(std::exchange(*context, nullptr)));
  if (held && *held) traffic.close(file, held->get());
}

// Bodies and streams, as the library frees them.
void free_body(void* body) {
  const std::unique_ptr<std::shared_ptr<const std::string>> last(
      static_cast<std::shared_ptr<const std::string>*>(body));
}
void free_stream(void* stream) { const std::unique_ptr<Stream> last(static_cast<Stream*>(stream)); }
ssize_t read_stream(void* stream, std::uint64_t /*at*/, char* into, size_t size) {
  const auto got = static_cast<Stream*>(stream)->read({into, size});
  return got ? static_cast<ssize_t>(*got) : MHD_CONTENT_READER_END_OF_STREAM;
}

struct FreeResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using Response = std::unique_ptr<MHD_Response, FreeResponse>;

Response body_response(const Reply& reply) {
  if (!reply.body || reply.body->empty())
    return Response(MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT));
  auto* const body = std::make_unique<std::shared_ptr<const std::string>>(reply.body).release();
  // The library takes a pointer to what it may not write, but only reads.
  auto* const bytes = const_cast<char*>((*body)->data());  // NOLINT
  Response response(MHD_create_response_from_buffer_with_free_callback_cls((*body)->size(), bytes,
                                                                           free_body, body));
  if (!response) free_body(body);
  return response;
}

Response stream_response(std::unique_ptr<Stream> stream) {
  constexpr std::size_t part = 4096;
  Stream* const held = stream.release();
  Response response(
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, part, read_stream, held, free_stream));
  if (!response) free_stream(held);
  return response;
}

MHD_Result send(MHD_Connection* connection, Traffic& traffic, const ExchangePointer& exchange,
                Reply reply) {
  const bool is_stream = reply.events && !exchange->admitted().head_only;
  if (reply.events) reply.content_type = "text/event-stream";
  const auto due = is_stream ? traffic.options().times.heartbeat : traffic.options().times.sending;
  exchange->enter(is_stream ? Stage::stream : Stage::sending, traffic.now() + due);
  const Response response =
      is_stream
          ? stream_response(std::make_unique<Stream>(traffic.counters(), exchange, reply.events))
          : body_response(reply);
  if (!response) return MHD_NO;
  const auto add = [&](const std::string& name, const std::string& value) {
    MHD_add_response_header(response.get(), name.c_str(), value.c_str());
  };
  if (!reply.content_type.empty()) add("Content-Type", reply.content_type);
  for (const auto& [name, value] : common_headers()) add(name, value);
  for (const auto& [name, value] : reply.headers) add(name, value);
  traffic.counters().reply(reply.status);
  return MHD_queue_response(connection, static_cast<unsigned>(reply.status), response.get());
}

MHD_Result serve_request(Traffic& traffic, MHD_Connection* connection, std::string_view part) {
  const Held* const held = held_by(connection);
  if (held == nullptr || !*held) return MHD_NO;
  const ExchangePointer& exchange = *held;
  if (exchange->begin()) return MHD_YES;
  if (!part.empty()) {
    exchange->append(part);
    return MHD_YES;
  }
  if (auto reply = exchange->take_reply())
    return send(connection, traffic, exchange, std::move(*reply));
  if (exchange->stage() != Stage::body) return MHD_NO;  // a second request
  if (!traffic.dispatch(exchange)) return MHD_YES;
  auto reply = exchange->take_reply();
  return reply ? send(connection, traffic, exchange, std::move(*reply)) : MHD_NO;
}

/// Called for the head, for each part of the body, at its end, and once the reply is there.
constexpr MHD_AccessHandlerCallback on_request =
    [](void* traffic, MHD_Connection* connection, const char* /*path*/, const char* /*method*/,
       const char* /*version*/, const char* bytes, size_t* size, void** /*context*/) {
      const std::string_view part(*size == 0 ? "" : bytes, *size);
      *size = 0;
      return serve_request(*static_cast<Traffic*>(traffic), connection, part);
    };

class MicroHttpd final : public Carrier {
 public:
  MicroHttpd(std::shared_ptr<Traffic> traffic, MHD_Daemon* daemon)
      : traffic_(std::move(traffic)), daemon_(daemon) {}
  MicroHttpd(const MicroHttpd&) = delete;
  MicroHttpd& operator=(const MicroHttpd&) = delete;
  ~MicroHttpd() override { MHD_stop_daemon(daemon_); }

  void take(Descriptor connection) override {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    auto* const named = reinterpret_cast<sockaddr*>(&address);  // NOLINT: of the system
    if (::getpeername(connection.number(), named, &size) != 0) size = sizeof address.ss_family;
    const int file = connection.release();  // the library closes it in any case
    const ExchangePointer exchange = traffic_->find(file);
    if (MHD_add_connection(daemon_, file, named, size) != MHD_YES && exchange)
      traffic_->close(file, exchange.get());
  }

 private:
  std::shared_ptr<Traffic> traffic_;
  MHD_Daemon* daemon_;
};

}  // namespace

const Headers& common_headers() {
  static const Headers headers{
      {"Connection", "close"},
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}};
  return headers;
}

Result<std::unique_ptr<Carrier>> Carrier::start(std::shared_ptr<Traffic> traffic,
                                                unsigned threads) {
  // The door counts connections; the library must never be the one that refuses.
  const auto most = static_cast<unsigned>(traffic->options().bounds.connections) * (threads + 1);
  void* const cls = traffic.get();
  std::vector<MHD_OptionItem> options{
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT,
       static_cast<intptr_t>(connection_memory(traffic->options().head)), nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<intptr_t>(most), nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, static_cast<intptr_t>(traffic->options().times.idle.count()),
       nullptr},
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<intptr_t>(on_connection), cls},  // NOLINT
      {MHD_OPTION_UNESCAPE_CALLBACK, reinterpret_cast<intptr_t>(leave_escapes),
       nullptr}};  // NOLINT
  if (threads > 1)
    options.push_back({MHD_OPTION_THREAD_POOL_SIZE, static_cast<intptr_t>(threads), nullptr});
  options.push_back({MHD_OPTION_END, 0, nullptr});
  constexpr unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME |
                             MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
  MHD_Daemon* const daemon = MHD_start_daemon(flags, 0, nullptr, nullptr, on_request, cls,
                                              MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (daemon == nullptr) return fail(ErrorCode::unavailable, "the HTTP threads cannot be started");
  return std::make_unique<MicroHttpd>(std::move(traffic), daemon);
}

}  // namespace schedmate::http
