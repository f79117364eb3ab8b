// SPDX-License-Identifier: Apache-2.0
#include "store/redis_connection.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <signal.h>

#include <algorithm>

#include "base/text.hpp"
#include "store/admit.hpp"

namespace schedmate::store {
namespace {

timeval timeval_of(std::chrono::milliseconds time) {
  return {time.count() / 1000, 1000 * (time.count() % 1000)};
}

/// Writing to a server that has gone would end the process by SIGPIPE; it shall be an error.
class PipeSignalOff {
 public:
  PipeSignalOff() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  PipeSignalOff(const PipeSignalOff&) = delete;
  PipeSignalOff& operator=(const PipeSignalOff&) = delete;
  ~PipeSignalOff() {
    const timespec at_once{};
    sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
};

RedisReply read_reply(const redisReply& from) {
  RedisReply reply;
  switch (from.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = RedisReply::Kind::number;
      reply.number = from.integer;
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = RedisReply::Kind::list;
      for (std::size_t i = 0; i < from.elements; ++i) {
        reply.list.push_back(read_reply(*from.element[i]));
      }
      break;
    case REDIS_REPLY_NIL:
      break;
    default:
      reply.kind =
          from.type == REDIS_REPLY_ERROR ? RedisReply::Kind::error : RedisReply::Kind::text;
      reply.text.assign(from.str, static_cast<std::size_t>(from.len));
  }
  return reply;
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
  return ErrorCode::invalid;
}

}  // namespace

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const std::string& where,
                                                               const StoreOptions& options) {
  auto connection = std::make_unique<RedisConnection>(Key());
  connection->where_ = where;
  connection->patience_ = options.busy_timeout;
  if (options.environment) {
    connection->password_ = options.environment(options.password_variable).value_or("");
  }
  if (auto connected = connection->connect(); !connected) return tl::unexpected(connected.error());
  return connection;
}

RedisConnection::~RedisConnection() {
  if (context_ != nullptr) redisFree(context_);
}

tl::unexpected<Error> RedisConnection::broken(const std::string& what) const {
  return fail(ErrorCode::unavailable,
              fmt::format("store redis:{}: {}; is the server running there?", where_, what));
}

Result<void> RedisConnection::connect() {
  if (context_ != nullptr) redisFree(context_);
  const auto patience = timeval_of(patience_);
  if (where_.starts_with("unix:")) {
    context_ = redisConnectUnixWithTimeout(where_.c_str() + 5, patience);
  } else {
    const auto colon = where_.rfind(':');
    const auto port = parse_number<int>(
        std::string_view(where_).substr(colon == std::string::npos ? where_.size() : colon + 1));
    if (!port || *port < 1 || *port > 65535) {
      context_ = nullptr;
      return fail(ErrorCode::invalid,
                  fmt::format("store redis:{}: write redis:unix:PATH or redis:HOST:PORT", where_));
    }
    context_ = redisConnectWithTimeout(where_.substr(0, colon).c_str(), *port, patience);
  }
  if (context_ == nullptr) return broken("out of memory");
  if (context_->err != 0) return broken(context_->errstr);
  redisSetTimeout(context_, patience);
  std::vector<Command> greeting;
  if (!password_.empty()) greeting.push_back({"AUTH", password_});
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

RedisConnection::Command RedisConnection::script(std::size_t number,
                                                 const Command& arguments) const {
  Command command{"EVALSHA", hashes_.at(number), "0"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Result<std::vector<RedisReply>> RedisConnection::run_once(std::span<const Command> commands) {
  if (is_lost()) return broken("not connected");
  const PipeSignalOff quiet;
  for (const auto& command : commands) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const auto& part : command) {
      texts.push_back(part.data());
      sizes.push_back(part.size());
    }
    redisAppendCommandArgv(context_, static_cast<int>(texts.size()), texts.data(), sizes.data());
  }
  std::vector<RedisReply> replies;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    void* raw = nullptr;
    if (redisGetReply(context_, &raw) != REDIS_OK) return broken(context_->errstr);
    const std::unique_ptr<void, void (*)(void*)> guard(raw, freeReplyObject);
    replies.push_back(read_reply(*static_cast<const redisReply*>(raw)));
  }
  for (const auto& reply : replies) {
    const auto* const error = error_in(reply);
    if (error == nullptr) continue;
    return fail(code_of(error->text), fmt::format("store redis:{}: the server says: {}", where_,
                                                  clean_text(error->text, 300)));
  }
  return replies;
}

bool RedisConnection::is_lost() const { return context_ == nullptr || context_->err != 0; }

Result<std::vector<RedisReply>> RedisConnection::run(std::span<const Command> commands) {
  auto replies = run_once(commands);
  if (replies || !is_lost()) return replies;
  if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  return run_once(commands);
}

Result<RedisReply> RedisConnection::run(Command command) {
  auto replies = run(std::span<const Command>(&command, 1));
  if (!replies) return tl::unexpected(replies.error());
  return std::move(replies->front());
}

}  // namespace schedmate::store
