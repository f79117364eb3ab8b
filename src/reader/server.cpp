// SPDX-License-Identifier: Apache-2.0
#include "reader/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/unix_socket.hpp"
#include "llm/remote.hpp"
#include "reader/question.hpp"
#include "reader/request.hpp"
#include "reader/rights.hpp"

namespace schedmate::reader {
namespace {

constexpr std::size_t most_clients = 64;
constexpr std::size_t most_unsent_bytes = std::size_t{32} << 20U;
constexpr std::chrono::milliseconds to_end{1000};    ///< for a child that has said all
constexpr std::chrono::milliseconds to_leave{1000};  ///< for a client that was dismissed
// Of the time of a request a quarter is kept for what a child does without a model.
constexpr int share_kept = 4;
constexpr std::chrono::milliseconds least_to_ask{100};
constexpr int most_questions = 100;  ///< of a child

/// How a child ended that has not answered.
Error how_it_died(int status, const ChildLimits& limits) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return {ErrorCode::timeout,
            fmt::format("reading takes more than {} s of CPU time", limits.cpu.count())};
  if (WIFSIGNALED(status))
    return {ErrorCode::bad_reply, fmt::format("the process that read was ended by signal {} ({})",
                                              WTERMSIG(status), ::strsignal(WTERMSIG(status)))};
  return {ErrorCode::bad_reply,
          fmt::format("the process that read ended with status {} and no answer",
                      WIFEXITED(status) ? WEXITSTATUS(status) : -1)};
}

Used used_of(const rusage& usage) {
  const auto span = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return {span(usage.ru_utime) + span(usage.ru_stime),
          static_cast<std::uint64_t>(std::max(0L, usage.ru_inblock)) * 512};
}

class Server {
 public:
  Server(const Descriptor& door, const ServeOptions& options)
      : door_(door), options_(options), queue_(options.quotas) {}

  Result<void> run() {
    // What a child leaves behind comes to this process, which ends it.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::fcntl(door_.number(), F_SETFL, O_NONBLOCK);
    while (!options_.stopped()) turn();
    for (auto& [number, child] : children_) end(number, child);
    return {};
  }

 private:
  struct Client {
    Descriptor socket;
    std::string in, out;
    bool gone = false;
    std::optional<Instant> dismissed{};  ///< since when it is heard no more
  };
  struct Child {
    Descriptor says;  ///< none: it has said all
    ChildSays said;
    Waiting request;
    Instant due{};  ///< when it is killed
    bool answered = false;
    std::optional<Instant> asks_until{};  ///< it waits for a model's answer
    int questions = 0;
    std::string unread{};  ///< of the answer
  };

  [[nodiscard]] Instant now() const { return options_.clock.now(); }

  void turn() {
    wait();
    reap();
    for (Waiting& each : queue_.late(now()))
      answer(each, answer_line(each.id, Error{ErrorCode::timeout,
                                              fmt::format("waited {} ms behind other requests",
                                                          options_.quotas.deadline.count())}));
    end_late_ones();
    while (auto waiting = queue_.next(now())) start(std::move(*waiting));
    std::erase_if(clients_, [&](const auto& each) {
      if (!is_done_with(each.second)) return false;
      queue_.forget_client(each.first);
      return true;
    });
  }

  void wait() {
    std::vector<pollfd> files{{door_.number(), POLLIN, 0}};
    std::vector<std::uint64_t> asking;
    std::vector<pid_t> saying;
    for (auto& [number, client] : clients_) {
      const int events = POLLIN | (client.out.empty() ? 0 : POLLOUT);
      files.push_back({client.socket.number(), static_cast<short>(events), 0});
      asking.push_back(number);
    }
    for (auto& [number, child] : children_) {
      if (!child.says) continue;
      const int events = POLLIN | (child.unread.empty() ? 0 : POLLOUT);
      files.push_back({child.says.number(), static_cast<short>(events), 0});
      saying.push_back(number);
    }
    if (::poll(files.data(), files.size(), pause_ms()) <= 0) return;
    for (std::size_t i = 0; i < asking.size(); ++i)
      if (files[1 + i].revents != 0) hear(asking[i], clients_.at(asking[i]));
    for (std::size_t i = 0; i < saying.size(); ++i)
      if (files[1 + asking.size() + i].revents != 0) listen_to(children_.at(saying[i]));
    if (files[0].revents != 0) welcome();
  }

  /// The end of a process wakes nobody, so it is looked for where some are left.
  [[nodiscard]] int pause_ms() const {
    const bool ends =
        std::ranges::any_of(children_, [](const auto& each) { return !each.second.says; });
    return ends ? 2 : children_.empty() && queue_.waiting() == 0 && leavers_.empty() ? 500 : 50;
  }

  void welcome() {
    Descriptor socket(::accept4(door_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = ::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    Client client{.socket = std::move(socket), .in = {}, .out = {}};
    if (!known || !may_ask(peer.uid))
      dismiss(client, Error{ErrorCode::refused,
                            fmt::format("user {} may not ask this reader; settings reader.askers "
                                        "and reader.socket say who may",
                                        known ? static_cast<std::int64_t>(peer.uid) : -1)});
    else if (clients_.size() >= most_clients)
      dismiss(client, Error{ErrorCode::unavailable, "the reader is busy: too many connections"});
    send(client);
    clients_.emplace(++last_client_, std::move(client));
  }

  [[nodiscard]] bool may_ask(uid_t user) const {
    return user == 0 || user == ::geteuid() ||
           std::ranges::find(options_.askers, user) != options_.askers.end();
  }

  /// About the connection as a whole: no request has the id 0.
  void dismiss(Client& client, const Error& error) const {
    if (!client.dismissed) client.out += answer_line(0, error) + "\n";
    client.dismissed = now();
    client.in.clear();
  }

  void hear(std::uint64_t number, Client& client) {
    std::array<char, 1 << 16> buffer{};
    const ssize_t got = ::recv(client.socket.number(), buffer.data(), buffer.size(), 0);
    client.gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (got > 0 && !client.dismissed) {
      client.in.append(buffer.data(), static_cast<std::size_t>(got));
      take_lines(number, client);
    }
    send(client);
  }

  void take_lines(std::uint64_t number, Client& client) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = client.in.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      take(number, client, std::string_view(client.in).substr(begin, end - begin));
      if (client.dismissed) return;
    }
    client.in.erase(0, begin);
    if (client.in.size() > most_request_bytes)
      dismiss(client, Error{ErrorCode::invalid,
                            fmt::format("a request has more than {} bytes", most_request_bytes)});
  }

  void take(std::uint64_t number, Client& client, std::string_view line) {
    if (const auto said = read_model_answer(line)) return take_answer(number, *said);
    const auto head = read_head(line);
    if (!head) return dismiss(client, head.error());
    Waiting waiting{number, head->id, head->user, std::string(line),
                    now() + options_.quotas.deadline};
    if (auto added = queue_.add(std::move(waiting), now()); !added)
      client.out += answer_line(head->id, added.error()) + "\n";
  }

  static void send(Client& client) {
    while (!client.out.empty()) {
      const ssize_t sent = ::send(client.socket.number(), client.out.data(), client.out.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (sent < 0) client.gone = true;
      if (sent < 0) return;
      client.out.erase(0, static_cast<std::size_t>(sent));
    }
    if (client.dismissed && client.out.empty()) ::shutdown(client.socket.number(), SHUT_WR);
  }

  /// One who does not take his answers is not kept. One who was dismissed may go on sending for a
  /// while: to close at once would take from him why.
  [[nodiscard]] bool is_done_with(const Client& client) const {
    return client.gone || client.out.size() > most_unsent_bytes ||
           (client.dismissed && now() - *client.dismissed > to_leave);
  }

  void answer(const Waiting& request, const std::string& line) {
    const auto found = clients_.find(request.client);
    if (found == clients_.end() || found->second.dismissed) return;
    found->second.out += line + "\n";
    send(found->second);
  }

  void answer(Child& child, const std::string& line) {
    if (!std::exchange(child.answered, true)) answer(child.request, line);
  }

  // Children.

  void start(Waiting waiting) {
    auto started = start_child({.user = waiting.user,
                                .request = waiting.line,
                                .settings = options_.settings,
                                .program = options_.program,
                                .limits = options_.limits});
    if (!started) {
      answer(waiting, answer_line(waiting.id, started.error()));
      queue_.ended(waiting.user, {}, now());
      return;
    }
    waiting.line = {};
    const Instant due = waiting.due;
    children_.emplace(started->number, Child{.says = std::move(started->says),
                                             .said = {},
                                             .request = std::move(waiting),
                                             .due = due});
  }

  void listen_to(Child& child) {
    push(child);
    const bool goes_on = child.said.read_from(child.says.number());
    if (const auto question = child.said.take_question()) pass_on(child, *question);
    if (!goes_on) conclude(child);
  }

  // What a child asks a model, and what it is told.

  void pass_on(Child& child, const std::string& question) {
    const Waiting& request = child.request;
    const bool asks_too_much = child.asks_until || !child.said.rest().empty() ||
                               ++child.questions > most_questions ||
                               question.size() > most_question_bytes;
    if (asks_too_much) {
      answer(child, answer_line(request.id, Error{ErrorCode::bad_reply,
                                                  "the process that read asks a model too much"}));
      child.due = now();
      return;
    }
    const auto client = clients_.find(request.client);
    if (client == clients_.end() || client->second.dismissed)
      return tell(child, {ErrorCode::unavailable, "whoever asks the model is gone"});
    const Instant until = child.due - options_.quotas.deadline / share_kept;
    if (until - now() < least_to_ask) return tell(child, no_time_left());
    if (!queue_.pause(request.user))
      return tell(child, {ErrorCode::unavailable, "too many questions wait for a model"});
    child.asks_until = until;
    const auto within = std::chrono::duration_cast<std::chrono::milliseconds>(until - now());
    client->second.out +=
        question_line({request.id, child.said.user().value_or(::geteuid()), within}, question) +
        "\n";
    send(client->second);
  }

  static Error no_time_left() {
    return {ErrorCode::timeout, "no answer within the time of this reading"};
  }

  void take_answer(std::uint64_t client, const ModelAnswer& said) {
    for (auto& [number, child] : children_) {
      if (child.request.client != client || child.request.id != said.id || !child.asks_until)
        continue;
      go_on(child);
      tell(child, said.line);
      return;
    }
  }

  void go_on(Child& child) {
    if (std::exchange(child.asks_until, std::nullopt)) queue_.go_on(child.request.user);
  }

  static void tell(Child& child, const Error& error) {
    tell(child, json_text(llm::refusal(error)));
  }
  static void tell(Child& child, std::string_view line) {
    child.unread += line;
    child.unread += '\n';
    push(child);
  }

  static void push(Child& child) {
    if (!child.says || child.unread.empty()) return;
    const ssize_t sent = ::send(child.says.number(), child.unread.data(), child.unread.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) child.unread.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) child.unread.clear();
  }

  /// It says no more.
  void conclude(Child& child) {
    child.says.close();
    child.due = std::min(child.due, now() + to_end);
    const std::uint64_t id = child.request.id;
    if (child.said.too_much)
      answer(child, answer_line(id, Error{ErrorCode::bad_reply,
                                          fmt::format("the process that read said more than {} MiB",
                                                      most_reply_bytes >> 20U)}));
    else if (const auto reply = child.said.reply())
      answer(child, answer_line(id, *reply));
    if (child.said.too_much) child.due = now();
  }

  void end_late_ones() {
    for (auto& [number, child] : children_) {
      if (child.asks_until && *child.asks_until <= now()) {
        go_on(child);
        tell(child, no_time_left());
      }
      if (child.due > now()) continue;
      answer(child, answer_line(child.request.id, why_late(child)));
      end(number, child);
      child.due = now() + to_end;  // once more, where it does not end: it may wait for a dead share
    }
  }

  [[nodiscard]] Error why_late(const Child& child) const {
    if (!child.says) return {ErrorCode::bad_reply, "the process that read gave no answer"};
    return {ErrorCode::timeout,
            fmt::format("reading takes more than {} ms", options_.quotas.deadline.count())};
  }

  static void end(pid_t number, const Child& child) {
    ::kill(-number, SIGKILL);
    if (const auto user = child.said.user(); user && *user != ::geteuid()) kill_as(*user, number);
  }

  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t number = 0; (number = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
      const auto found = children_.find(number);
      if (found == children_.end()) continue;  // left behind by one that is gone
      Child& child = found->second;
      if (child.says) listen_to(child);
      if (child.says) conclude(child);  // somebody else still holds the pipe
      answer(child, answer_line(child.request.id, how_it_died(status, options_.limits)));
      leavers_.insert(child.said.user().value_or(::geteuid()));
      go_on(child);
      queue_.ended(child.request.user, used_of(usage), now());
      children_.erase(found);
    }
    end_what_was_left();
  }

  /// Processes that a child has left behind, in whatever group.
  void end_what_was_left() {
    if (leavers_.empty()) return;
    std::vector<pid_t> left = own_children();
    std::erase_if(left, [&](pid_t number) { return children_.contains(number); });
    for (const uid_t user : leavers_)
      if (!left.empty()) kill_as(user, 0, left);
    if (left.empty()) leavers_.clear();
  }

  const Descriptor& door_;
  const ServeOptions& options_;
  FairQueue queue_;
  std::map<std::uint64_t, Client> clients_;
  std::uint64_t last_client_ = 0;
  std::map<pid_t, Child> children_;
  std::set<uid_t> leavers_;  ///< users of children that have ended since nothing was left
};

}  // namespace

Result<Descriptor> open_door(const std::string& path, std::optional<uid_t> owner) {
  const mode_t before = ::umask(0177);
  auto door = listen_on(path);
  ::umask(before);
  if (!door) return door;
  if (owner && *owner != ::geteuid())
    static_cast<void>(::lchown(path.c_str(), *owner, static_cast<gid_t>(-1)));
  ::listen(door->number(), static_cast<int>(most_clients));
  return door;
}

Result<void> serve(const Descriptor& door, const ServeOptions& options) {
  return Server(door, options).run();
}

}  // namespace schedmate::reader
