// SPDX-License-Identifier: Apache-2.0
#include "http/traffic.hpp"

#include <sys/socket.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/json_reader.hpp"
#include "http/routes.hpp"

namespace schedmate::http {
namespace {

/// How long a connection may take to reach its carrier's thread.
constexpr std::chrono::seconds arrival{5};

}  // namespace

Traffic::Traffic(const ServerOptions& options)
    : options_(options),
      peers_(std::make_shared<Peers>(options.bounds)),
      asked_(std::make_shared<std::atomic<std::size_t>>(0)) {}

void Traffic::open(int file, ExchangePointer exchange) {
  const std::scoped_lock lock(mutex_);
  open_.insert_or_assign(file, std::move(exchange));
}

ExchangePointer Traffic::find(int file) const {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(file);
  return found == open_.end() ? nullptr : found->second;
}

void Traffic::close(int file, const Exchange* exchange) {
  ExchangePointer last;  // dies after the lock
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(file);
  if (found == open_.end() || found->second.get() != exchange) return;
  last = std::move(found->second);
  open_.erase(found);
  if (open_.empty()) emptied_.notify_all();
}

void Traffic::cut(int file, const Exchange& exchange) const {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(file);
  // What is closed, or no carrier has taken up, may have left its number to another connection.
  if (found == open_.end() || found->second.get() != &exchange || !exchange.is_attached()) return;
  ::shutdown(file, SHUT_RDWR);
}

// Exchanges are called with no lock held here: they resume connections, whose carriers call back.
void Traffic::sweep() {
  const auto time = now();
  for (const auto& [file, exchange] : all()) {
    const auto stage = exchange->overdue(time);
    if (!stage) continue;
    if (!exchange->is_attached()) {
      if (exchange->overdue(time - arrival)) close(file, exchange.get());
    } else if (stage == Stage::stream) {
      exchange->enter(Stage::stream, time + options_.times.heartbeat);
      exchange->wake(true);
    } else if (stage == Stage::answer) {
      if (exchange->answer(error_reply(Refusal{
              .status = 504, .message = "there was no answer in time", .mend = "try again later"})))
        ++counters_.late;
    } else {
      cut(file, *exchange);
    }
  }
}

std::vector<Traffic::Open> Traffic::all() const {
  const std::scoped_lock lock(mutex_);
  return {open_.begin(), open_.end()};
}

std::vector<ExchangePointer> Traffic::streams() const {
  std::vector<ExchangePointer> streams;
  for (auto& [file, exchange] : all())
    if (exchange->stage() == Stage::stream) streams.push_back(std::move(exchange));
  return streams;
}

void Traffic::keep_tokens(const std::vector<Token>& tokens) const {
  std::set<std::string_view> hashes;
  for (const Token& token : tokens) hashes.insert(token.hash);
  for (const auto& [file, exchange] : all()) {
    const std::string& hash = exchange->admitted().token_hash;
    if (hash.empty() || hashes.contains(hash)) continue;
    if (exchange->stage() == Stage::stream)
      exchange->end();
    else if (exchange->stage() == Stage::body)
      cut(file, *exchange);
  }
}

std::optional<Reply> Traffic::standing_reply(const Request& request) const {
  switch (request.route->name) {
    case RouteName::healthz:
      return text_reply("ok\n");
    case RouteName::metrics: {
      auto metrics = counters_.metrics(peers_->connections());
      if (options_.metrics)
        for (Metric& more : options_.metrics()) metrics.push_back(std::move(more));
      return text_reply(prometheus_text(metrics), "text/plain; version=0.0.4");
    }
    case RouteName::readyz: {
      const Readiness state = options_.ready ? options_.ready() : Readiness{};
      return json_reply(
          {{"schema", request.route->schema}, {"ready", state.ready}, {"reasons", state.reasons}},
          state.ready ? 200 : 503);
    }
    default:
      return std::nullopt;
  }
}

std::optional<Reply> Traffic::read_body(Request& request) {
  if (request.body.empty() || request.route->who == Who::sealed) return std::nullopt;
  auto document = read_json(request.body, {.deepest = 32});
  if (document) {
    request.json = std::make_shared<const Document>(std::move(*document));
    return std::nullopt;
  }
  counters_.refuse(Cause::malformed);
  return error_reply(Refusal{
      .status = 400, .message = document.error().message, .mend = "correct the JSON of the body"});
}

bool Traffic::dispatch(const ExchangePointer& exchange) {
  Request& request = exchange->admitted().request;
  auto reply = standing_reply(request);
  if (!reply) reply = read_body(request);
  std::shared_ptr<void> room;
  if (!reply) {
    if (asked_->fetch_add(1) >= options_.most_asked) {
      --*asked_;
      counters_.refuse(Cause::limit);
      reply = busy_reply("the daemon has too many requests waiting");
    } else {
      room = std::shared_ptr<void>(nullptr, [asked = asked_](void*) { --*asked; });
      if (!exchange->await(now() + options_.times.answer))
        reply = busy_reply("the daemon is shutting down");
    }
  }
  if (reply) {
    exchange->answer(std::move(*reply));  // unless it has an answer already
    return true;
  }
  Request left{.route = request.route,  // what a stream of events goes by
               .last_event_id = request.last_event_id,
               .caller = request.caller};
  Request handed = std::exchange(request, std::move(left));
  options_.handler(std::move(handed), Answer(exchange, std::move(room)));
  return false;
}

void Traffic::end(std::chrono::nanoseconds patience) {
  for (const auto& [file, exchange] : all()) {
    exchange->answer(busy_reply("the daemon is shutting down"));
    exchange->end();
  }
  {
    std::unique_lock lock(mutex_);
    emptied_.wait_for(lock, patience, [this] { return open_.empty(); });
  }
  for (const auto& [file, exchange] : all()) cut(file, *exchange);
}

}  // namespace schedmate::http
