// SPDX-License-Identifier: Apache-2.0
/// The queue that many machines share: two streams of a Redis server. Each call is one script on
/// the server, so it is whole or absent, and may be sent twice; idle times are measured by the
/// server's clock alone. How long an acknowledged operation lives is the server's setting:
/// `appendonly yes` with `appendfsync always` loses none.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/text.hpp"
#include "store/redis_connection.hpp"
#include "workers/redis_scripts.hpp"
#include "workers/rows.hpp"

namespace schedmate::workers {
namespace {

using Texts = std::vector<std::string>;

tl::unexpected<Error> odd_answer(std::string_view what) {
  return fail(
      ErrorCode::bad_reply,
      fmt::format("redis: the server answers {} with something else; is it the right one?", what));
}

std::string text_of(std::int64_t number) { return fmt::format("{}", number); }
std::string text_of(Priority priority) { return priority == Priority::urgent ? "1" : "2"; }

std::optional<State> state_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(State::dead); ++i)
    if (name_of(static_cast<State>(i)) == name) return static_cast<State>(i);
  return std::nullopt;
}

/// Of INFO: what stands behind "KEY:" in a line of its own.
std::string_view line_of(std::string_view report, std::string_view key) {
  for (const std::string_view line : split(report, '\n'))
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
      return trim(line.substr(key.size() + 1));
  return {};
}

class RedisQueue final : public Queue {
 public:
  RedisQueue(std::unique_ptr<store::RedisConnection> connection, const QueueOptions& options)
      : connection_(std::move(connection)), options_(options) {}

  Result<Put> put(const Operation& operation) override {
    if (auto fine = check(operation); !fine) return tl::unexpected(fine.error());
    const auto said = word(put_script, {operation.id, text_of(operation.priority),
                                        operation.request, text_of(options_.most_waiting)});
    if (!said) return tl::unexpected(said.error());
    if (*said == "put") return Put::put;
    if (*said == "there") return Put::there;
    if (*said == "full") return full(operation.priority, options_.most_waiting);
    if (*said == "conflict") return another_request(operation.id);
    return odd_answer("a request");
  }

  Result<std::optional<Claim>> claim(const std::string& worker) override {
    const auto said =
        run(claim_script, {worker, text_of(options_.lease.count()),
                           text_of(options_.most_deliveries), text_of(options_.keep.count()),
                           death_notice(options_.most_deliveries), text_of(most_dead)});
    if (!said) return tl::unexpected(said.error());
    if (said->empty()) return std::nullopt;
    const auto deliveries = parse_number<std::int64_t>(said->size() == 5 ? (*said)[3] : "");
    if (!deliveries || *deliveries < 1) return odd_answer("a claim");
    Claim made{{(*said)[0], (*said)[1] == "1" ? Priority::urgent : Priority::usual, (*said)[4]},
               (*said)[2],
               *deliveries};
    if (!check(made.operation)) return odd_answer("a claim");
    return made;
  }

  Result<std::vector<bool>> keep(const std::string& worker,
                                 std::span<const Claim> claims) override {
    std::vector<bool> held;
    if (claims.empty()) return held;
    Texts arguments{worker};
    for (const Claim& claim : claims) {
      arguments.push_back(text_of(claim.operation.priority));
      arguments.push_back(claim.receipt);
    }
    const auto said = run(keep_script, arguments);
    if (!said) return tl::unexpected(said.error());
    if (said->size() != claims.size()) return odd_answer("a sign of life");
    for (const std::string& each : *said) held.push_back(each == "1");
    return held;
  }

  Result<bool> finish(const std::string& worker, const Claim& claim,
                      const std::string& result) override {
    if (auto fine = check_result(result); !fine) return tl::unexpected(fine.error());
    const auto said =
        word(finish_script, {worker, text_of(claim.operation.priority), claim.receipt,
                             claim.operation.id, result, text_of(options_.keep.count())});
    if (!said) return tl::unexpected(said.error());
    if (*said != "kept" && *said != "late") return odd_answer("a result");
    return *said == "kept";
  }

  Result<void> give_up(const std::string& worker, const Claim& claim,
                       const std::string& why) override {
    if (auto fine = check_result(why); !fine) return fine;
    const auto said = run(give_up_script, {worker, text_of(claim.operation.priority), claim.receipt,
                                           claim.operation.id, why});
    if (!said) return tl::unexpected(said.error());
    return {};
  }

  Result<Status> look(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return tl::unexpected(fine.error());
    const auto said = run(look_script, {id});
    if (!said) return tl::unexpected(said.error());
    if (said->size() != 4) return odd_answer("a look");
    const auto state = state_named((*said)[0]);
    const auto deliveries = parse_number<std::int64_t>((*said)[3]);
    if (!state || !deliveries || !check_result((*said)[1])) return odd_answer("a look");
    return Status{*state, (*said)[1], (*said)[2], *deliveries};
  }

  Result<void> forget(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return fine;
    const auto said = run(forget_script, {id});
    if (!said) return tl::unexpected(said.error());
    return {};
  }

  Result<std::vector<std::string>> dead() override { return run(dead_script, {}); }

  Result<void> revive(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return fine;
    const auto said = word(revive_script, {id});
    if (!said) return tl::unexpected(said.error());
    if (*said != "put") return not_dead(id);
    return {};
  }

  Result<void> leave(const std::string& worker) override {
    const auto said = run(leave_script, {worker});
    if (!said) return tl::unexpected(said.error());
    return {};
  }

  Result<Figures> figures() override {
    const auto said = run(figures_script, {text_of(options_.lease.count())});
    if (!said) return tl::unexpected(said.error());
    if (said->size() % 2 != 0) return odd_answer("a question for figures");
    Figures made;
    for (std::size_t i = 0; i < said->size(); i += 2) {
      const auto number = parse_number<std::int64_t>((*said)[i + 1]);
      if (!number) return odd_answer("a question for figures");
      made[(*said)[i]] = *number;
    }
    return made;
  }

  Result<std::vector<std::string>> doubts() override {
    const std::lock_guard lock(mutex_);
    const auto files = connection_->run({"INFO", "persistence"});
    if (!files) return tl::unexpected(files.error());
    const auto memory = connection_->run({"INFO", "memory"});
    if (!memory) return tl::unexpected(memory.error());
    Texts made;
    if (line_of(files->text, "aof_enabled") != "1")
      made.emplace_back(
          "the server keeps no log of what it is told (appendonly no): requests and results are "
          "lost if it dies; set appendonly yes and appendfsync always");
    const auto policy = line_of(memory->text, "maxmemory_policy");
    if (line_of(memory->text, "maxmemory") != "0" && policy != "noeviction")
      made.push_back(
          fmt::format("the server may throw requests away when its memory is full "
                      "(maxmemory-policy {}): set noeviction",
                      clean(policy)));
    return made;
  }

 private:
  static std::string clean(std::string_view text) { return std::string(text.substr(0, 40)); }

  Result<Texts> run(RedisScript script, const Texts& arguments) {
    const std::lock_guard lock(mutex_);
    const auto ask = [&] { return connection_->script(script, arguments, redis_keys()); };
    auto said = connection_->run(ask());
    // A server that was started anew, or flushed, has forgotten the scripts.
    if (!said && said.error().message.contains("NOSCRIPT")) {
      if (auto loaded = connection_->load_scripts(redis_scripts()); !loaded)
        return tl::unexpected(loaded.error());
      said = connection_->run(ask());
    }
    if (!said) return tl::unexpected(said.error());
    Texts texts;
    for (auto& each : said->list) texts.push_back(std::move(each.text));
    return texts;
  }
  /// Of a script that answers with one.
  Result<std::string> word(RedisScript script, const Texts& arguments) {
    auto said = run(script, arguments);
    if (!said) return tl::unexpected(said.error());
    return said->size() == 1 ? said->front() : std::string();
  }

  std::mutex mutex_;
  std::unique_ptr<store::RedisConnection> connection_;
  QueueOptions options_;
};

}  // namespace

Result<std::unique_ptr<Queue>> open_redis(const std::string& where, const QueueOptions& options) {
  auto connection = store::RedisConnection::open(where, options.server);
  if (!connection) return tl::unexpected(connection.error());
  if (auto loaded = (*connection)->load_scripts(redis_scripts()); !loaded)
    return tl::unexpected(loaded.error());
  return std::make_unique<RedisQueue>(std::move(*connection), options);
}

}  // namespace schedmate::workers
