// SPDX-License-Identifier: Apache-2.0
#include "store/redis_replies.hpp"

#include <fmt/format.h>
#include <hiredis/read.h>

#include <algorithm>
#include <array>
#include <memory>
#include <schedmate/store.hpp>

#include "base/text.hpp"

namespace schedmate::store {
namespace {

using Kind = RedisReply::Kind;
using Fits = bool (*)(const RedisCommand& command, const RedisReply& reply);

bool is_text(const RedisReply& reply) { return reply.kind == Kind::text; }
bool is_text_or_nothing(const RedisReply& reply) { return is_text(reply) || reply.is_nothing(); }

bool is_done(const RedisCommand& /*command*/, const RedisReply& reply) {
  return reply.kind == Kind::status && (reply.text == "OK" || reply.text == "PONG");
}
bool is_yes_or_no(const RedisCommand& /*command*/, const RedisReply& reply) {
  return reply.kind == Kind::number && (reply.number == 0 || reply.number == 1);
}
bool is_value(const RedisCommand& /*command*/, const RedisReply& reply) {
  return is_text_or_nothing(reply);
}
bool is_report(const RedisCommand& /*command*/, const RedisReply& reply) { return is_text(reply); }
bool is_clock(const RedisCommand& /*command*/, const RedisReply& reply) {
  return reply.kind == Kind::list && reply.list.size() == 2 &&
         std::ranges::all_of(reply.list, is_text);
}
bool is_hash(const RedisCommand& /*command*/, const RedisReply& reply) {
  constexpr std::size_t sha1_digits = 40;
  return is_text(reply) && reply.text.size() == sha1_digits;
}
bool is_texts(const RedisCommand& /*command*/, const RedisReply& reply) {
  return reply.kind == Kind::list && std::ranges::all_of(reply.list, is_text);
}
bool is_fields(const RedisCommand& command, const RedisReply& reply) {
  return reply.kind == Kind::list && reply.list.size() == command.size() - 2 &&
         std::ranges::all_of(reply.list, is_text_or_nothing);
}
/// Its elements are held against the commands of the transaction.
bool is_transaction(const RedisCommand& /*command*/, const RedisReply& reply) {
  return reply.kind == Kind::list || reply.is_nothing();
}

constexpr std::size_t short_reply = std::size_t{64} << 10U;
constexpr std::size_t long_reply = std::size_t{256} << 20U;
constexpr std::size_t script_reply = std::size_t{16} << 20U;

struct ReplyRow {
  std::string_view name;
  Fits fits;
  std::size_t bytes = short_reply;
};
constexpr std::array reply_rows{
    ReplyRow{"AUTH", is_done},
    ReplyRow{"EVALSHA", is_yes_or_no},
    ReplyRow{"EXEC", is_transaction},
    ReplyRow{"GET", is_value},
    ReplyRow{"HGET", is_value, StoreLimits::cache_value_bytes + short_reply},
    ReplyRow{"HMGET", is_fields, long_reply},
    ReplyRow{"INFO", is_report},
    ReplyRow{"LRANGE", is_texts, long_reply},
    ReplyRow{"MULTI", is_done},
    ReplyRow{"PING", is_done},
    ReplyRow{"SCRIPT", is_hash},
    ReplyRow{"SETNX", is_yes_or_no},
    ReplyRow{"TIME", is_clock},
    ReplyRow{"UNWATCH", is_done},
    ReplyRow{"WATCH", is_done},
    ReplyRow{"ZRANGEBYSCORE", is_texts, long_reply},
    ReplyRow{"ZREVRANGE", is_texts, long_reply},
    // Of tests that prepare a server.
    ReplyRow{"CONFIG", is_done},
    ReplyRow{"FLUSHALL", is_done},
    ReplyRow{"SET", is_done},
};

/// A script that names the keys that it uses.
constexpr ReplyRow script_with_keys{"EVALSHA", is_texts, script_reply};

const ReplyRow* reply_row_of(const RedisCommand& command) {
  if (command.front() == "EVALSHA" && command.size() > 2 && command[2] != "0")
    return &script_with_keys;
  const auto* const row = std::ranges::find(reply_rows, command.front(), &ReplyRow::name);
  return row == reply_rows.end() ? nullptr : row;
}

bool fits(const RedisCommand& command, const RedisReply& reply) {
  const ReplyRow* const row = reply_row_of(command);
  return row != nullptr && row->fits(command, reply);
}

bool is_queued(const RedisReply& reply) {
  return reply.kind == Kind::status && reply.text == "QUEUED";
}

/// Whether EXEC answers for each command since MULTI, or for none.
bool fits_all(std::span<const RedisCommand> queued, const RedisReply& reply) {
  if (reply.is_nothing()) return true;
  if (reply.list.size() != queued.size()) return false;
  for (std::size_t i = 0; i < queued.size(); ++i)
    if (!fits(queued[i], reply.list[i])) return false;
  return true;
}

/// Puts a reply at its place in the list that is being read.
void* place(const redisReadTask* task, RedisReply reply) {
  if (task->parent == nullptr) return std::make_unique<RedisReply>(std::move(reply)).release();
  auto& list = static_cast<RedisReply*>(task->parent->obj)->list;
  list[static_cast<std::size_t>(task->idx)] = std::move(reply);
  return &list[static_cast<std::size_t>(task->idx)];
}

void* make_text(const redisReadTask* task, char* text, std::size_t size) {
  RedisReply reply;
  reply.kind = task->type == REDIS_REPLY_ERROR    ? Kind::error
               : task->type == REDIS_REPLY_STATUS ? Kind::status
                                                  : Kind::text;
  reply.text.assign(text, size);
  return place(task, std::move(reply));
}

/// A count without elements behind it must not cost memory: refused is what exceeds the limit.
template <class Count>
void* make_list(const redisReadTask* task, Count elements) {
  auto& left = static_cast<ReplyLimits*>(task->privdata)->elements;
  const auto wanted = static_cast<std::size_t>(std::max<Count>(elements, 0));
  if (wanted > left) return nullptr;
  left -= wanted;
  RedisReply reply;
  reply.kind = Kind::list;
  reply.list.resize(wanted);
  return place(task, std::move(reply));
}

void* make_number(const redisReadTask* task, long long number) {
  RedisReply reply;
  reply.kind = Kind::number;
  reply.number = number;
  return place(task, std::move(reply));
}

void* make_nothing(const redisReadTask* task) { return place(task, {}); }

void free_reply(void* reply) { std::unique_ptr<RedisReply>(static_cast<RedisReply*>(reply)); }

}  // namespace

ReplyLimits limits_of(std::span<const RedisCommand> commands) {
  ReplyLimits limits;
  for (const RedisCommand& command : commands) {
    const ReplyRow* const row = reply_row_of(command);
    limits.bytes += row == nullptr ? short_reply : row->bytes;
  }
  limits.bytes = std::min(limits.bytes, long_reply);
  return limits;
}

Result<void> check_replies(std::span<const RedisCommand> commands,
                           std::span<const RedisReply> replies) {
  std::optional<std::size_t> multi;  // where the open transaction began
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const bool ends = multi && commands[i].front() == "EXEC";
    const bool fine = multi && !ends ? is_queued(replies[i]) : fits(commands[i], replies[i]);
    const bool whole = !ends || fits_all(commands.subspan(*multi + 1, i - *multi - 1), replies[i]);
    if (!fine || !whole)
      return fail(ErrorCode::bad_reply,
                  fmt::format("the answer to {} is not one of Redis", commands[i].front()));
    if (commands[i].front() == "MULTI") multi = i;
    if (ends) multi.reset();
  }
  return {};
}

Result<std::uint64_t> number_in(const RedisReply& reply, std::uint64_t absent) {
  if (reply.is_nothing()) return absent;
  if (const auto number = parse_number<std::uint64_t>(reply.text)) return *number;
  return fail(ErrorCode::bad_reply, "store redis: the server gave a text where a number belongs");
}

const redisReplyObjectFunctions& reply_makers() {
  static constexpr redisReplyObjectFunctions makers = [] {
    redisReplyObjectFunctions
        made{};  // newer versions have more; those replies are never asked for
    made.createString = make_text;
    made.createArray = make_list;
    made.createInteger = make_number;
    made.createNil = make_nothing;
    made.freeObject = free_reply;
    return made;
  }();
  return makers;
}

}  // namespace schedmate::store
