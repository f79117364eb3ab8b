// SPDX-License-Identifier: Apache-2.0
#include "replay/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json_reader.hpp"
#include "base/unix_socket.hpp"
#include "core/action_json.hpp"
#include "replay/line_socket.hpp"
#include "replay/wire.hpp"

namespace schedmate::replay {
namespace {

constexpr Connector::Deadline at_once{1000};
constexpr Seconds day{86400};

class Server {
 public:
  Server(ReplayCluster& cluster, const ServeOptions& options)
      : cluster_(cluster),
        options_(options),
        first_(cluster.now()),
        began_(options.speed == 0 ? std::chrono::nanoseconds(0) : options.clock.now()),
        ledger_(options.ledger, std::ios::app) {}

  Result<void> run() {
    if (!options_.ledger.empty() && !ledger_)
      return fail(ErrorCode::unavailable, options_.ledger + ": cannot be written");
    auto door = listen_on(options_.socket);
    if (!door) return tl::unexpected(door.error());
    while (!options_.stopped()) {
      follow_clock();
      Descriptor client = next_client(*door);
      if (client) serve(client);
    }
    ::unlink(options_.socket.c_str());
    return {};
  }

 private:
  static Descriptor next_client(const Descriptor& door) {
    timeval second{1, 0};
    ::setsockopt(door.number(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    return Descriptor(::accept4(door.number(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  void serve(const Descriptor& client) {
    std::string rest;
    while (!options_.stopped()) {
      const auto line = receive_line(client, rest, Deadline(std::chrono::seconds(1)));
      follow_clock();
      if (!line && line.error().code == ErrorCode::timeout) continue;
      if (!line) return;
      const std::string answer =
          answer_to(*line).dump(-1, ' ', false, Document::error_handler_t::replace);
      if (!send_line(client, answer, Deadline(std::chrono::seconds(10)))) return;
    }
  }

  SimTime by_clock() const {
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.clock.now() - began_);
    return first_ + Seconds(passed.count() * options_.speed / 1000);
  }
  void follow_clock() {
    if (options_.speed == 0) return;
    if (const SimTime now = by_clock(); now > cluster_.now()) cluster_.advance(now);
  }

  Document answer_to(const std::string& line) {
    const auto request = read_json(line, {});
    if (!request || !request->is_object()) return {{"error", "no request"}};
    Document answer;
    try {  // the library throws on what is missing or of another kind
      answer = carry_out(*request);
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    if (const auto number = request->find("number"); number != request->end())
      answer["number"] = *number;
    return answer;
  }

  static std::int64_t whole(const Document& request, const char* name) {
    const Document& value = request.at(name);
    if (!value.is_number_integer()) throw std::runtime_error("no whole number");
    return value.get<std::int64_t>();
  }
  static SimTime instant(const Document& request, const char* name) {
    return at(whole(request, name));
  }

  Document carry_out(const Document& request) {
    const std::string what = request.at("do");
    if (what == "list")
      return listing_document(
          cluster_.changes(instant(request, "ended_since_s"), whole(request, "after")));
    if (what == "call") return call(request);
    if (what == "advance") return advance(instant(request, "to_s"));
    if (what == "abilities") return {{"lacks", cluster_.abilities(at_once)->lacks}};
    if (what == "find") {
      const auto job = cluster_.find_submission(request.at("token"), at_once);
      return {{"job", *job ? Document(**job) : Document(nullptr)}};
    }
    if (what == "job") {
      const auto job = cluster_.job(request.at("id"), at_once);
      return {{"job", *job ? job_document(**job) : Document(nullptr)}};
    }
    return {{"error", "unknown request"}};
  }

  Document call(const Document& request) {
    const auto call = read_call(request.at("call"));
    if (!call) return {{"error", call.error().message}};
    const Document reply = reply_document(cluster_.call(*call, at_once));
    if (ledger_.is_open()) {
      const Document row{
          {"now_s", seconds_of(cluster_.now())}, {"call", call_document(*call)}, {"reply", reply}};
      ledger_ << row.dump(-1, ' ', false, Document::error_handler_t::replace) << '\n' << std::flush;
    }
    return reply;
  }

  Document advance(SimTime to) {
    const SimTime next = options_.speed == 0 ? cluster_.next_instant() : cluster_.now() + day;
    if (const SimTime now = std::min(to, next); now != never && now >= cluster_.now()) {
      cluster_.advance(now);
      if (options_.speed != 0) first_ += now - by_clock();  // whose clock goes on from there
    }
    const SimTime after = cluster_.next_instant();
    return {{"now_s", seconds_of(cluster_.now())},
            {"next_s", after == never ? Document(nullptr) : Document(seconds_of(after))}};
  }

  ReplayCluster& cluster_;
  const ServeOptions& options_;
  SimTime first_;
  std::chrono::nanoseconds began_;
  std::ofstream ledger_;
};

}  // namespace

Result<void> serve(ReplayCluster& cluster, const ServeOptions& options) {
  return Server(cluster, options).run();
}

}  // namespace schedmate::replay
