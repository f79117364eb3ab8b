// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Commands to a Redis server, sent together and answered together. A connection that broke is made
/// again and the commands are sent once more, so they must do no harm when they run twice. Every
/// reply is checked (redis_replies.hpp), and a call ends at a deadline, whatever the server does.

#include <chrono>
#include <functional>
#include <memory>
#include <schedmate/store.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "store/redis_replies.hpp"

struct redisContext;  // NOLINT(readability-identifier-naming): of hiredis

namespace schedmate::store {

class RedisConnection {
  struct Key {};

 public:
  using Command = RedisCommand;

  /// `where` is "unix:PATH" or "HOST:PORT". Errors: invalid, unavailable, refused (password).
  static Result<std::unique_ptr<RedisConnection>> open(const std::string& where,
                                                       const StoreOptions& options);
  explicit RedisConnection(Key) {}  ///< by open() only
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;
  ~RedisConnection();

  /// One reply for each command, of the kind and length that the command has. The first error reply
  /// is the error of the whole, also one within a transaction. Errors: unavailable, refused,
  /// invalid; timeout and bad_reply, after which the connection is made again by the next call.
  Result<std::vector<RedisReply>> run(std::span<const Command> commands);
  Result<RedisReply> run(Command command);
  /// The same without sending twice, for what depends on an earlier command of this connection.
  Result<std::vector<RedisReply>> run_once(std::span<const Command> commands);
  /// Did the last call end because the connection broke?
  [[nodiscard]] bool is_lost() const;
  /// Runs a script of `scripts`, by its number. One without keys answers yes or no, one with keys a
  /// list of texts.
  [[nodiscard]] Command script(std::size_t number, const Command& arguments,
                               const Command& keys = {}) const;
  /// Loads the scripts into the server, now and after each new connection.
  Result<void> load_scripts(std::vector<std::string> scripts);

 private:
  Result<void> connect();
  Result<void> greet();
  Result<std::vector<RedisReply>> exchange(std::span<const Command> commands);
  Result<RedisReply> next_reply(const Deadline& deadline, ReplyLimits& limits);
  Result<void> send_all(const Deadline& deadline);
  tl::unexpected<Error> drop(ErrorCode code, const std::string& what);
  [[nodiscard]] tl::unexpected<Error> broken(const std::string& what) const;

  std::string where_, password_, user_;
  std::chrono::milliseconds patience_{0};
  redisContext* context_ = nullptr;
  std::vector<std::string> scripts_, hashes_;
};

}  // namespace schedmate::store
