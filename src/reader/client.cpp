// SPDX-License-Identifier: Apache-2.0
#include "reader/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/unix_socket.hpp"
#include "llm/remote.hpp"

namespace schedmate::reader {
namespace {

constexpr std::size_t most_unread_bytes = 2 * most_reply_bytes;

struct Asked {
  Take take;
  std::chrono::nanoseconds due{};
};

}  // namespace

struct Client::Inside : std::enable_shared_from_this<Client::Inside> {
  explicit Inside(ClientOptions given)
      : options(std::move(given)), bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ~Inside() { end(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  void end() {
    thread.request_stop();
    ring();
    if (thread.joinable()) thread.join();
  }

  void ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(::write(bell.number(), &one, sizeof one));
  }

  /// Whether there is room for it.
  bool put(Request& request, Take& take) {
    std::uint64_t id = 0;
    {
      const std::lock_guard lock(mutex);
      if (count >= options.most_asked) return false;
      id = ++last_id;
    }
    const std::string line = request_line({id, std::move(request)}) + "\n";  // it may be large
    const std::lock_guard lock(mutex);
    if (count >= options.most_asked || unsent + line.size() > options.most_unsent_bytes)
      return false;
    ++count;
    unsent += line.size();
    fresh.push_back({id, line, {std::move(take), options.clock.now() + options.deadline}});
    return true;
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      wait();
      take_fresh();
      send();
      receive();
      expire();
    }
    take_fresh();
    lose({ErrorCode::unavailable, "the daemon is ending"});
  }

  void wait() {
    std::array<pollfd, 2> files{pollfd{bell.number(), POLLIN, 0},
                                pollfd{socket.number(), POLLIN, 0}};
    if (!out.empty()) files[1].events |= POLLOUT;
    ::poll(files.data(), socket ? 2 : 1, asked.empty() ? 1000 : 100);
    std::uint64_t rung = 0;
    static_cast<void>(::read(bell.number(), &rung, sizeof rung));
  }

  void take_fresh() {
    std::deque<Fresh> taken;
    std::string told;
    {
      const std::lock_guard lock(mutex);
      taken = std::exchange(fresh, {});
      told = std::exchange(told_by_models, {});
    }
    if (socket)
      out += told;  // else whoever asked is gone
    else
      forget_bytes(told.size());
    for (Fresh& each : taken) {
      asked.emplace(each.id, std::move(each.asked));
      if (!socket) connect();
      if (socket)
        out += each.line;
      else
        forget_bytes(each.line.size());
    }
  }

  void connect() {
    auto made = connect_to(options.socket);
    if (made) {
      socket = std::move(*made);
      return;
    }
    lose({ErrorCode::unavailable,
          fmt::format("{}; schedmate-reader is to listen there (setting reader.socket)",
                      made.error().message)});
  }

  /// Nobody who waits gets an answer any more; the next question is asked on a new connection.
  void lose(const Error& error) {
    socket.close();
    in.clear();
    forget_bytes(std::exchange(out, {}).size());
    for (auto& [id, each] : std::exchange(asked, {})) give(each, tl::unexpected(error));
  }

  void forget_bytes(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    unsent -= bytes;
  }

  void give(Asked& each, Result<Document> result) {
    {
      const std::lock_guard lock(mutex);
      --count;
    }
    each.take(std::move(result));
  }

  void send() {
    if (!socket || out.empty()) return;
    const ssize_t sent =
        ::send(socket.number(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;  // that it is gone shows in receive()
    out.erase(0, static_cast<std::size_t>(sent));
    forget_bytes(static_cast<std::size_t>(sent));
  }

  void receive() {
    std::array<char, 1 << 16> buffer{};
    while (socket) {
      const ssize_t got = ::recv(socket.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return lose({ErrorCode::unavailable, "the reader has ended; ask again"});
      in.append(buffer.data(), static_cast<std::size_t>(got));
      take_lines();
    }
  }

  void take_lines() {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = in.find('\n', begin)) != std::string::npos; begin = end + 1)
      if (!take(std::string_view(in).substr(begin, end - begin))) return;
    in.erase(0, begin);
    if (in.size() > most_unread_bytes)
      lose({ErrorCode::bad_reply, "the reader gave an answer without an end"});
  }

  /// False: the connection is gone.
  bool take(std::string_view line) {
    if (auto question = read_question_line(line)) {
      put_to_model(std::move(*question));
      return true;
    }
    const auto id = answered_id(line);
    const Error nonsense{ErrorCode::bad_reply, "the reader gave an answer that cannot be read"};
    const auto result = id == 0 ? result_in(line) : tl::unexpected(nonsense);
    if (!id || *id == 0) {
      lose(result ? nonsense : result.error());
      return false;
    }
    auto node = asked.extract(*id);
    if (node) give(node.mapped(), result_in(line));  // else it is too late, or was never asked
    return true;
  }

  void put_to_model(Question question) {
    const auto give = [here = weak_from_this(), id = question.head.id](const std::string& text) {
      if (const auto inside = here.lock()) inside->tell(id, text);
    };
    if (options.model && asked.contains(question.head.id))
      options.model(std::move(question), give);
    else
      give(llm::refusal({ErrorCode::unavailable, "no model is asked here"}));
  }

  void tell(std::uint64_t id, std::string_view text) {
    const std::string line = model_answer_line(id, text) + "\n";
    {
      const std::lock_guard lock(mutex);
      unsent += line.size();
      told_by_models += line;
    }
    ring();
  }

  void expire() {
    const auto now = options.clock.now();
    for (auto each = asked.begin(); each != asked.end();) {
      const auto here = each++;
      if (here->second.due > now) continue;
      auto node = asked.extract(here);
      give(node.mapped(), fail(ErrorCode::timeout, fmt::format("the reader did not answer in {} ms",
                                                               options.deadline.count())));
    }
  }

  struct Fresh {
    std::uint64_t id = 0;
    std::string line;
    Asked asked;
  };

  const ClientOptions options;
  const Descriptor bell;
  std::mutex mutex;
  std::deque<Fresh> fresh;
  std::string told_by_models;  // lines
  std::uint64_t last_id = 0;
  std::size_t count = 0, unsent = 0;
  // Of the thread.
  Descriptor socket;
  std::string in, out;
  std::map<std::uint64_t, Asked> asked;
  std::jthread thread;  // last: it uses what stands above
};

Client::Client(ClientOptions options) : inside_(std::make_shared<Inside>(std::move(options))) {}
Client::~Client() { inside_->end(); }

void Client::ask(Request request, Take take) {
  if (inside_->put(request, take)) return inside_->ring();
  take(fail(ErrorCode::unavailable, "the reader is busy: too many questions wait for it"));
}

Result<Document> Client::ask(Request request) {
  const auto promise = std::make_shared<std::promise<Result<Document>>>();
  auto answer = promise->get_future();
  ask(std::move(request),
      [promise](Result<Document> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

}  // namespace schedmate::reader
