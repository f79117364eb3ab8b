// SPDX-License-Identifier: Apache-2.0
#include "http/door.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "http/listener.hpp"
#include "http/routes.hpp"

namespace schedmate::http {
namespace {

constexpr std::chrono::milliseconds tick_time{200};
constexpr std::chrono::milliseconds look_time{50};
constexpr std::chrono::milliseconds wake_pause{50};  ///< between two rounds of waking streams
constexpr std::chrono::milliseconds leave_time{1000};
constexpr int most_looks = 256;  ///< at one head: it must not come byte by byte for ever
constexpr std::size_t wakes_at_once = 64;
constexpr std::chrono::milliseconds doorstep_time{1000};

/// Failures at logging in: how long the next refusal is held back.
constexpr int free_failures = 5;
constexpr std::chrono::milliseconds first_delay{200};
constexpr int most_doublings = 9;
constexpr std::chrono::seconds failures_kept{60};
constexpr std::size_t most_failing_peers = 4096;

std::string reply_text(const Reply& reply, bool head_only) {
  const std::string_view body = reply.body ? std::string_view(*reply.body) : "";
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", reply.status,
                  reason_of(reply.status), reply.content_type, body.size());
  for (const auto& [name, value] : common_headers()) text += fmt::format("{}: {}\r\n", name, value);
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n";
  if (!head_only) text += body;
  return text;
}

Reply full_house(Room room) {
  const bool is_peer = room == Room::none_for_peer;
  return error_reply(
      Refusal{.status = is_peer ? 429 : 503,
              .message = is_peer ? "you have too much open here" : "the daemon has too much open",
              .mend = "close some, or try again in a moment",
              .headers = {{"Retry-After", "1"}}});
}

std::optional<uid_t> uid_of(const Descriptor& connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return std::nullopt;
  return peer.uid;
}

}  // namespace

Bell::Bell() : file_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
void Bell::ring() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(file_.number(), &one, sizeof one));
}
void Bell::hear() const {
  std::uint64_t count = 0;
  static_cast<void>(!::read(file_.number(), &count, sizeof count));
}

Door::Door(DoorParts parts)
    : unix_(std::move(parts.unix_listener)),
      tcp_(std::move(parts.tcp_listener)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      traffic_(std::move(parts.traffic)),
      bell_(std::move(parts.bell)),
      requests_(parts.requests),
      streams_(parts.streams),
      tokens_(std::move(parts.tokens)),
      names_({traffic_->options().user_name, [bell = bell_] { bell->ring(); },
              traffic_->options().clock}),
      buffer_(traffic_->options().head.bytes) {
  for (const int file : {bell_->number(), unix_.number(), tcp_.number()}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = file}};
    if (file >= 0) ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, file, &event);
  }
}

void Door::run(const std::stop_token& stop) {
  std::array<epoll_event, 256> events{};
  while (!stop.stop_requested()) {
    const int wait_ms = to_wake_.empty() ? 50 : 0;
    const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), wait_ms);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events.at(static_cast<std::size_t>(i));
      if (event.data.fd == bell_->number()) {
        bell_->hear();  // a name has come, or the end
        next_look_ = {};
      } else if (event.data.fd == unix_.number()) {
        accept_from(unix_, true);
      } else if (event.data.fd == tcp_.number()) {
        accept_from(tcp_, false);
      } else {
        serve(event.data.fd, event.events);
      }
    }
    look_after_guests();
    tick();
    wake_streams();
  }
  end();
}

void Door::end() {
  for (auto& [number, guest] : guests_)
    if (guest.names_wanted)
      static_cast<void>(dismiss(guest, busy_reply("the daemon is shutting down"), false));
  guests_.clear();
  unix_.close();
  tcp_.close();
}

void Door::accept_from(const Descriptor& listener, bool is_unix) {
  constexpr int at_once = 64;
  for (int i = 0; i < at_once; ++i) {
    Descriptor file(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (file) {
      welcome(std::move(file), is_unix);
      continue;
    }
    if (errno != EMFILE && errno != ENFILE) return;
    spare_.close();  // no descriptor is left: one connection is closed at once, not kept waiting
    Descriptor(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC)).close();
    spare_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    traffic_->counters().refuse(Cause::limit);
  }
}

void Door::welcome(Descriptor file, bool is_unix) {
  ++traffic_->counters().accepted;
  Guest guest;
  guest.peer.is_unix = is_unix;
  if (is_unix) {
    guest.uid = uid_of(file);
    if (!guest.uid) return;
    guest.peer.address = fmt::format("uid {}", *guest.uid);
  } else {
    guest.peer.address = network_of(file);
  }
  guest.file = std::move(file);
  guest.due = now() + traffic_->options().times.head;
  guest.number = ++arrivals_;
  const auto standing = is_unix ? Standing::known : Standing::stranger;
  const Room room = traffic_->peers().enter(guest.peer.address, standing, guest.slot);
  if (room != Room::there_is) put_on_doorstep(guest, room);
  if (!look(guest)) return;
  watch(guest);
  const int number = guest.file.number();
  guests_.insert_or_assign(number, std::move(guest));
}

void Door::put_on_doorstep(Guest& guest, Room room) {
  guest.room = room;
  guest.due = now() + doorstep_time;
  doorstep_.emplace_back(guest.file.number(), guest.number);
  if (doorstep_.size() <= doorstep_places) return;
  const auto [file, number] = doorstep_.front();
  doorstep_.pop_front();
  const auto found = guests_.find(file);
  if (found == guests_.end() || found->second.number != number) return;
  if (found->second.step != Step::leaving) (void)turn_away(found->second, found->second.room);
  guests_.erase(found);
}

bool Door::turn_away(Guest& guest, Room room, bool head_only) {
  traffic_->counters().refuse(Cause::limit);
  return dismiss(guest, full_house(room), head_only);
}

/// The place of who it is now known to be, with room for the body.
Room Door::seat(Guest& guest, const Admitted& admitted) {
  const Caller& caller = admitted.request.caller;
  const bool by_token = !admitted.token_hash.empty();
  Standing standing = guest.uid || by_token ? Standing::known : Standing::stranger;
  if (standing == Standing::known && caller.role == Role::cluster_operator)
    standing = Standing::cluster_operator;
  const std::string peer = by_token ? "user " + caller.user : guest.peer.address;
  const Room room = traffic_->peers().enter(peer, standing, guest.slot);
  return room == Room::there_is ? guest.slot.reserve(admitted.body_bytes) : room;
}

void Door::watch(const Guest& guest) {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.fd = guest.file.number()}};
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, guest.file.number(), &event);
}

bool Door::look(Guest& guest) {
  const ssize_t got =
      ::recv(guest.file.number(), buffer_.data(), buffer_.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
  auto read = read_head(bytes, traffic_->options().head);
  if (auto* const head = std::get_if<Head>(&read)) return judge(guest, *head);
  if (auto* const refusal = std::get_if<Refusal>(&read)) {
    traffic_->counters().refuse(Cause::malformed);
    return dismiss(guest, error_reply(*refusal), false);
  }
  return ++guest.looks < most_looks;
}

bool Door::judge(Guest& guest, const Head& head) {
  if (guest.uid && guest.peer.user.empty()) {
    auto name = names_.find(*guest.uid);
    guest.names_wanted = !name;
    if (!name) return true;
    guest.peer.user = std::move(*name);
  }
  auto verdict = admit(head, guest.peer, {traffic_->options().access, tokens_.tokens()});
  if (auto* const no = std::get_if<Refused>(&verdict)) {
    traffic_->counters().refuse(no->cause);
    const bool head_only = head.method == "HEAD";
    return no->is_login_failure ? punish(guest, no->reply, head_only)
                                : dismiss(guest, no->reply, head_only);
  }
  auto& admitted = std::get<Admitted>(verdict);
  if (const Room room = seat(guest, admitted); room != Room::there_is)
    return turn_away(guest, room, admitted.head_only);
  admit_guest(guest, std::move(admitted));
  return false;
}

void Door::admit_guest(Guest& guest, Admitted admitted) {
  const bool is_stream = admitted.request.route->is_stream();
  const int number = guest.file.number();
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, number, nullptr);
  // What a listener does not read stays in the log, not in the system's memory.
  const int small = 32 * 1024;
  if (is_stream) ::setsockopt(number, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  traffic_->open(number, std::make_shared<Exchange>(std::move(admitted), std::move(guest.slot),
                                                    now() + traffic_->options().times.body));
  (is_stream ? streams_ : requests_)->take(std::move(guest.file));
}

bool Door::punish(Guest& guest, const Reply& reply, bool head_only) {
  if (failures_.size() >= most_failing_peers) failures_.clear();
  Failures& failures = failures_[guest.peer.address];
  failures.last = now();
  const int before = failures.count;
  if (before < free_failures + most_doublings) ++failures.count;
  if (before < free_failures) return dismiss(guest, reply, head_only);
  guest.last_words = reply_text(reply, head_only);
  guest.step = Step::punished;
  guest.due =
      now() + std::min<std::chrono::nanoseconds>(first_delay * (1 << (before - free_failures)),
                                                 traffic_->options().times.login_delay);
  traffic_->counters().reply(reply.status);
  return true;
}

bool Door::dismiss(Guest& guest, const Reply& reply, bool head_only) {
  traffic_->counters().reply(reply.status);
  guest.last_words = reply_text(reply, head_only);
  return say_last_words(guest);
}

bool Door::say_last_words(Guest& guest) {
  const std::string& text = guest.last_words;
  const ssize_t sent =
      ::send(guest.file.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // It fits into the buffer of a connection that has sent nothing yet, or the other end is odd.
  if (sent != static_cast<ssize_t>(text.size())) return false;
  guest.last_words.clear();
  guest.names_wanted = false;
  ::shutdown(guest.file.number(), SHUT_WR);
  guest.step = Step::leaving;
  guest.due = now() + leave_time;
  return drain(guest);
}

/// What the other end still sends is read away for a moment: a close over unread bytes would reset
/// the connection and the reply with it.
bool Door::drain(Guest& guest) {
  constexpr int most_reads = 32;
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t got = ::recv(guest.file.number(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (++guest.looks > most_looks) return false;
  }
  return true;
}

void Door::serve(int file, std::uint32_t events) {
  const auto found = guests_.find(file);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  bool stays = true;
  if (guest.step == Step::head) {
    stays = look(guest);
    const bool is_half = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (stays && is_half && guest.step == Step::head && !guest.names_wanted) stays = false;
  } else if (guest.step == Step::leaving) {
    stays = drain(guest);
  } else {
    stays = (events & (EPOLLHUP | EPOLLERR)) == 0;
  }
  if (!stays) guests_.erase(found);
}

void Door::look_after_guests() {
  const auto time = now();
  if (time < next_look_) return;
  next_look_ = time + look_time;
  for (auto at = guests_.begin(); at != guests_.end();) {
    Guest& guest = at->second;
    bool stays = true;
    if (guest.names_wanted) stays = look(guest);
    if (stays && time >= guest.due) stays = close_late(guest);
    at = stays ? std::next(at) : guests_.erase(at);
  }
}

bool Door::close_late(Guest& guest) {
  if (guest.step == Step::punished) return say_last_words(guest);
  if (guest.step == Step::leaving) return false;
  if (guest.room != Room::there_is) return turn_away(guest, guest.room);
  traffic_->counters().refuse(Cause::slow);
  if (guest.names_wanted)
    return dismiss(guest, busy_reply("the name service did not say in time who you are"), false);
  return dismiss(
      guest,
      error_reply(Refusal{
          .status = 408, .message = "the head did not come in time", .mend = "send it at once"}),
      false);
}

void Door::tick() {
  const auto time = now();
  if (time < next_tick_) return;
  next_tick_ = time + tick_time;
  std::erase_if(failures_,
                [&](const auto& each) { return time > each.second.last + failures_kept; });
  tokens_.refresh(traffic_->options().clock.wall());
  traffic_->keep_tokens(tokens_.tokens());
  traffic_->sweep();
}

void Door::wake_streams() {
  if (to_wake_.empty() && now() >= next_wake_ && bell_->take_published()) {
    next_wake_ = now() + wake_pause;
    for (auto& stream : traffic_->streams()) to_wake_.push_back(std::move(stream));
  }
  for (std::size_t i = 0; i < wakes_at_once && !to_wake_.empty(); ++i) {
    to_wake_.front()->wake(false);
    to_wake_.pop_front();
  }
}

}  // namespace schedmate::http
