// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a Redis server may answer. It is another program, perhaps not the one that we think it is:
/// each reply is held against the command that it answers before anything looks into it.

#include <cstdint>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <vector>

struct redisReplyObjectFunctions;  // NOLINT(readability-identifier-naming): of hiredis

namespace schedmate::store {

using RedisCommand = std::vector<std::string>;  ///< name and arguments

struct RedisReply {
  enum class Kind { nothing, status, text, number, list, error };
  Kind kind = Kind::nothing;
  std::string text;  ///< of a status, a text or an error
  std::int64_t number = 0;
  std::vector<RedisReply> list;
  [[nodiscard]] bool is_nothing() const { return kind == Kind::nothing; }
};

/// What is left of the room for the replies to a call.
struct ReplyLimits {
  std::size_t bytes = 0;
  std::size_t elements = 1'000'000;  ///< of lists, together
};
/// The room that the replies to these commands need, from what a store may hold (StoreLimits).
[[nodiscard]] ReplyLimits limits_of(std::span<const RedisCommand> commands);

/// Whether each reply is of the kind and the length that its command has; `replies` are as many as
/// `commands`. Error replies must have been taken out. Errors: bad_reply with the command's name.
[[nodiscard]] Result<void> check_replies(std::span<const RedisCommand> commands,
                                         std::span<const RedisReply> replies);

/// The whole number that a checked text holds; `absent` where there is nothing. Errors: bad_reply.
[[nodiscard]] Result<std::uint64_t> number_in(const RedisReply& reply, std::uint64_t absent);

/// How hiredis builds a RedisReply; the reader's `privdata` is its ReplyLimits, and what exceeds
/// `elements` is refused.
[[nodiscard]] const redisReplyObjectFunctions& reply_makers();

}  // namespace schedmate::store
