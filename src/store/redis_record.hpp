// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Job records as Redis hashes, with the names of the columns of the `sqlite` store.

#include <schedmate/job_record.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/redis_connection.hpp"

namespace schedmate::store {

/// Names and values in turn, as HSET takes them.
[[nodiscard]] std::vector<std::string> record_to_hash(const JobRecord& record);
[[nodiscard]] std::vector<std::string> outcome_to_hash(const Outcome& outcome);

/// HMGET of all fields, or of all but the long ones, and the record of its reply; nothing when
/// there is no such job. The text is left for the caller, who knows text_id.
[[nodiscard]] RedisConnection::Command hash_query(const std::string& key, bool brief);
[[nodiscard]] Result<std::optional<JobRecord>> record_of_reply(const RedisReply& reply);

/// The names of its lists, but for that of its text, as JSON.
[[nodiscard]] std::string lists_json(const JobRecord& record);

}  // namespace schedmate::store
