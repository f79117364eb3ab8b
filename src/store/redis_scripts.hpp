// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the `redis` store does on the server in one piece. Keys, all below "schedmate:":
///
///   schema, identity, version       texts
///   job:ID                          hash, the columns of the sqlite table by the same names
///   list:NAME                       sorted sets of ids by submission (store/lists.hpp)
///   texts, text_ids, text_order     number -> text, SHA-1 of a text -> number, all numbers
///   forgotten                       list of numbers of texts
///   embedders, vectors:EMBEDDER     set; number of a text -> floats
///   cache:SPACE and the like        the bounded cache

#include <string>
#include <vector>

namespace schedmate::store {

enum RedisScript : std::size_t {
  put_script,     ///< id, submit_s, text, lists as JSON, then names and values of the hash
  finish_script,  ///< id, then names and values; 0 = no such job
  forget_script,  ///< id; 0 = no such job
  vector_script,  ///< embedder, number of the text, floats
  cache_script,   ///< space, key, group, value, most bytes
};

[[nodiscard]] std::vector<std::string> redis_scripts();

}  // namespace schedmate::store
