// SPDX-License-Identifier: Apache-2.0
#include "store/redis_connection.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <utility>

#include "base/pipe_signal.hpp"
#include "base/text.hpp"
#include "store/admit.hpp"

namespace schedmate::store {
namespace {

/// A name of the server's access list; unset = its default user.
constexpr const char* user_variable = "SCHEDMATE_REDIS_USER";

/// Beyond the patience for a call, for each of its commands.
constexpr std::chrono::milliseconds most_a_command{20};

timeval timeval_of(std::chrono::milliseconds time) {
  return {time.count() / 1000, 1000 * (time.count() % 1000)};
}

/// The first error in a reply or in the results of its transaction.
const RedisReply* error_in(const RedisReply& reply) {
  if (reply.kind == RedisReply::Kind::error) return &reply;
  for (const auto& element : reply.list) {
    if (const auto* const error = error_in(element)) return error;
  }
  return nullptr;
}

ErrorCode code_of(std::string_view message) {
  for (const std::string_view word : {"NOAUTH", "WRONGPASS", "NOPERM"}) {
    if (message.starts_with(word)) return ErrorCode::refused;
  }
  for (const std::string_view word :
       {"OOM", "MISCONF", "LOADING", "READONLY", "BUSY", "MASTERDOWN", "EXECABORT", "NOSCRIPT"}) {
    if (message.starts_with(word)) return ErrorCode::unavailable;
  }
  return ErrorCode::bad_reply;
}

}  // namespace

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const std::string& where,
                                                               const StoreOptions& options) {
  if (where.contains('@') && !where.starts_with("unix:"))  // not shown
    return fail(ErrorCode::invalid,
                "a password in an address can be read by all users of this machine (ps): put it "
                "into the variable SCHEDMATE_REDIS_PASSWORD, and a name into SCHEDMATE_REDIS_USER");
  auto connection = std::make_unique<RedisConnection>(Key());
  connection->where_ = where;
  connection->patience_ = options.busy_timeout;
  if (options.environment) {
    connection->password_ = options.environment(options.password_variable).value_or("");
    connection->user_ = options.environment(user_variable).value_or("");
  }
  if (auto connected = connection->connect(); !connected) return tl::unexpected(connected.error());
  return connection;
}

RedisConnection::~RedisConnection() {
  if (context_ != nullptr) redisFree(context_);
}

tl::unexpected<Error> RedisConnection::broken(const std::string& what) const {
  return fail(ErrorCode::unavailable,
              fmt::format("redis:{}: {}; is the server running there?", where_, what));
}

/// Ends a connection whose next bytes would answer nothing that is asked later.
tl::unexpected<Error> RedisConnection::drop(ErrorCode code, const std::string& what) {
  redisFree(std::exchange(context_, nullptr));
  return fail(code, fmt::format("redis:{}: {}; is a Redis server running there?", where_,
                                clean_text(what, 300)));
}

Result<void> RedisConnection::connect() {
  if (context_ != nullptr) redisFree(std::exchange(context_, nullptr));
  const auto patience = timeval_of(patience_);
  if (where_.starts_with("unix:")) {
    context_ = redisConnectUnixWithTimeout(where_.c_str() + 5, patience);
  } else {
    const auto colon = where_.rfind(':');
    const auto port = parse_number<int>(
        std::string_view(where_).substr(colon == std::string::npos ? where_.size() : colon + 1));
    if (!port || *port < 1 || *port > 65535 || where_.starts_with("//")) {
      return fail(ErrorCode::invalid,
                  fmt::format("redis:{}: write redis:unix:PATH or redis:HOST:PORT", where_));
    }
    context_ = redisConnectWithTimeout(where_.substr(0, colon).c_str(), *port, patience);
  }
  if (context_ == nullptr) return broken("out of memory");
  if (context_->err != 0) return broken(context_->errstr);
  redisSetTimeout(context_, patience);
  context_->reader->fn = const_cast<redisReplyObjectFunctions*>(&reply_makers());  // NOLINT: C
  auto greeted = greet();
  // Without its scripts it is of no use: the next who asks connects anew.
  if (!greeted && context_ != nullptr) redisFree(std::exchange(context_, nullptr));
  return greeted;
}

/// Password and scripts.
Result<void> RedisConnection::greet() {
  std::vector<Command> greeting;
  if (!password_.empty())
    greeting.push_back(user_.empty() ? Command{"AUTH", password_}
                                     : Command{"AUTH", user_, password_});
  for (const auto& script : scripts_) greeting.push_back({"SCRIPT", "LOAD", script});
  const auto replies = run_once(greeting);
  if (!replies) return tl::unexpected(replies.error());
  hashes_.clear();
  for (std::size_t i = password_.empty() ? 0 : 1; i < replies->size(); ++i) {
    hashes_.push_back((*replies)[i].text);
  }
  return {};
}

Result<void> RedisConnection::load_scripts(std::vector<std::string> scripts) {
  scripts_ = std::move(scripts);
  return connect();
}

RedisConnection::Command RedisConnection::script(std::size_t number, const Command& arguments,
                                                 const Command& keys) const {
  Command command{"EVALSHA", hashes_.at(number), fmt::format("{}", keys.size())};
  command.insert(command.end(), keys.begin(), keys.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

/// Sends what was appended, also to a server that reads slowly.
Result<void> RedisConnection::send_all(const Deadline& deadline) {
  for (int done = 0; done == 0;) {
    if (deadline.passed()) return drop(ErrorCode::timeout, "it takes no commands");
    if (redisBufferWrite(context_, &done) != REDIS_OK) return broken(context_->errstr);
  }
  return {};
}

Result<RedisReply> RedisConnection::next_reply(const Deadline& deadline, ReplyLimits& limits) {
  while (true) {
    void* raw = nullptr;
    if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK)
      return drop(ErrorCode::bad_reply, context_->reader->errstr);
    if (raw != nullptr)
      return std::move(*std::unique_ptr<RedisReply>(static_cast<RedisReply*>(raw)));
    if (!deadline.wait_readable(context_->fd))
      return drop(ErrorCode::timeout, "no complete answer in time");
    const std::size_t before = context_->reader->len;
    if (redisBufferRead(context_) != REDIS_OK) return broken(context_->errstr);
    const std::size_t got = context_->reader->len - before;
    if (got > limits.bytes) return drop(ErrorCode::bad_reply, "the answer is too long");
    limits.bytes -= got;
  }
}

/// All replies as they came.
Result<std::vector<RedisReply>> RedisConnection::exchange(std::span<const Command> commands) {
  const NoBrokenPipe quiet;
  for (const auto& command : commands) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const auto& part : command) {
      texts.push_back(part.data());
      sizes.push_back(part.size());
    }
    redisAppendCommandArgv(context_, static_cast<int>(texts.size()), texts.data(), sizes.data());
  }
  const Deadline deadline(patience_ + most_a_command * commands.size());
  if (auto sent = send_all(deadline); !sent) return tl::unexpected(sent.error());
  ReplyLimits limits = limits_of(commands);
  context_->reader->privdata = &limits;
  std::vector<RedisReply> replies;
  while (replies.size() < commands.size()) {
    auto reply = next_reply(deadline, limits);
    if (!reply) return tl::unexpected(reply.error());
    replies.push_back(std::move(*reply));
  }
  return replies;
}

Result<std::vector<RedisReply>> RedisConnection::run_once(std::span<const Command> commands) {
  if (is_lost()) return broken("not connected");
  auto replies = exchange(commands);
  if (!replies) return replies;
  for (const auto& reply : *replies) {
    const auto* const error = error_in(reply);
    if (error == nullptr) continue;
    return fail(code_of(error->text),
                fmt::format("redis:{}: the server says: {}", where_, clean_text(error->text, 300)));
  }
  if (auto checked = check_replies(commands, *replies); !checked)
    return drop(ErrorCode::bad_reply, checked.error().message);
  return replies;
}

bool RedisConnection::is_lost() const { return context_ == nullptr || context_->err != 0; }

Result<std::vector<RedisReply>> RedisConnection::run(std::span<const Command> commands) {
  if (context_ == nullptr) {
    if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  }
  auto replies = run_once(commands);
  if (replies || !is_lost() || replies.error().code != ErrorCode::unavailable) return replies;
  if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  return run_once(commands);
}

Result<RedisReply> RedisConnection::run(Command command) {
  auto replies = run(std::span<const Command>(&command, 1));
  if (!replies) return tl::unexpected(replies.error());
  return std::move(replies->front());
}

}  // namespace schedmate::store
