// SPDX-License-Identifier: Apache-2.0
#include "store/redis_scripts.hpp"

namespace schedmate::store {
namespace {

// A job's lists stand in its hash, so that they can be left whatever the job was then. The list of
// its text is made from the number.
constexpr const char* common = R"(
local p = 'schedmate:'
local function text_list(number) return p .. 'list:text:' .. number .. '\0' end
local function lists_of(job)
  local lists = cjson.decode(redis.call('HGET', job, 'lists'))
  for i = 1, #lists do lists[i] = p .. 'list:' .. lists[i] end
  local number = redis.call('HGET', job, 'text_id')
  lists[#lists + 1] = text_list(number)
  local failure = redis.call('HGET', job, 'fingerprint')
  if failure then lists[#lists + 1] = p .. 'list:failure:' .. failure .. '\0' end
  return lists, number
end
local function unlist(job, id)
  if redis.call('EXISTS', job) == 0 then return nil end
  local lists, number = lists_of(job)
  for _, list in ipairs(lists) do redis.call('ZREM', list, id) end
  return number
end
local function drop_unused(number)
  if number == '0' or redis.call('EXISTS', text_list(number)) == 1 then return end
  local text = redis.call('HGET', p .. 'texts', number)
  redis.call('HDEL', p .. 'texts', number)
  redis.call('HDEL', p .. 'text_ids', redis.sha1hex(text))
  redis.call('ZREM', p .. 'text_order', number)
  for _, embedder in ipairs(redis.call('SMEMBERS', p .. 'embedders')) do
    redis.call('HDEL', p .. 'vectors:' .. embedder, number)
  end
  redis.call('RPUSH', p .. 'forgotten', number)
end
local function set_fields(job, first)
  for i = first, #ARGV, 2 do redis.call('HSET', job, ARGV[i], ARGV[i + 1]) end
end
local function drop_cached(space, key)
  local group = redis.call('HGET', p .. 'cache_groups:' .. space, key)
  if not group then return end
  local bytes = redis.call('HSTRLEN', p .. 'cache:' .. space, key)
  redis.call('HINCRBY', p .. 'cache_bytes', space, -bytes)
  redis.call('HDEL', p .. 'cache:' .. space, key)
  redis.call('HDEL', p .. 'cache_groups:' .. space, key)
  redis.call('ZREM', p .. 'cache_order:' .. space, key)
  redis.call('SREM', p .. 'cache_of:' .. group, space .. '\0' .. key)
end
)";

// Counting the version comes first: a server without memory refuses it before anything was changed.
constexpr const char* put_body = R"(
redis.call('INCR', p .. 'version')
local job, text, number = p .. 'job:' .. ARGV[1], ARGV[3], '0'
local old = unlist(job, ARGV[1])
if text ~= '' then
  local sum = redis.sha1hex(text)
  number = redis.call('HGET', p .. 'text_ids', sum)
  if not number then
    number = tostring(redis.call('INCR', p .. 'last_text'))
    redis.call('HSET', p .. 'text_ids', sum, number)
    redis.call('HSET', p .. 'texts', number, text)
    redis.call('ZADD', p .. 'text_order', number, number)
  end
end
redis.call('DEL', job)
redis.call('HSET', job, 'text_id', number, 'lists', ARGV[4])
set_fields(job, 5)
for _, list in ipairs((lists_of(job))) do redis.call('ZADD', list, ARGV[2], ARGV[1]) end
if old and old ~= number then drop_unused(old) end
return 1
)";

constexpr const char* finish = R"(
local job = p .. 'job:' .. ARGV[1]
if redis.call('EXISTS', job) == 0 then return 0 end
redis.call('INCR', p .. 'version')
unlist(job, ARGV[1])
redis.call('HDEL', job, 'start_s', 'end_s', 'gpu_util_pct', 'gpu_memory_mib', 'log_summary',
  'progress', 'fingerprint', 'use')
set_fields(job, 2)
local submit = redis.call('HGET', job, 'submit_s')
for _, list in ipairs((lists_of(job))) do redis.call('ZADD', list, submit, ARGV[1]) end
return 1
)";

constexpr const char* forget = R"(
local job = p .. 'job:' .. ARGV[1]
if redis.call('EXISTS', job) == 0 then return 0 end
redis.call('INCR', p .. 'version')
local number = unlist(job, ARGV[1])
local of = p .. 'cache_of:' .. redis.call('HGET', job, 'root')
for _, entry in ipairs(redis.call('SMEMBERS', of)) do
  local cut = string.find(entry, '\0', 1, true)
  drop_cached(string.sub(entry, 1, cut - 1), string.sub(entry, cut + 1))
end
redis.call('DEL', job)
drop_unused(number)
return 1
)";

constexpr const char* vector = R"(
if redis.call('HEXISTS', p .. 'texts', ARGV[2]) == 0 then return 0 end
redis.call('SADD', p .. 'embedders', ARGV[1])
redis.call('HSET', p .. 'vectors:' .. ARGV[1], ARGV[2], ARGV[3])
return 1
)";

constexpr const char* cache = R"(
local space, key, group, value, most = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local age = redis.call('INCR', p .. 'cache_count')
drop_cached(space, key)
redis.call('HSET', p .. 'cache:' .. space, key, value)
redis.call('HSET', p .. 'cache_groups:' .. space, key, group)
redis.call('ZADD', p .. 'cache_order:' .. space, age, key)
redis.call('SADD', p .. 'cache_of:' .. group, space .. '\0' .. key)
local bytes = redis.call('HINCRBY', p .. 'cache_bytes', space, #value)
while bytes > most do
  drop_cached(space, redis.call('ZRANGE', p .. 'cache_order:' .. space, 0, 0)[1])
  bytes = tonumber(redis.call('HGET', p .. 'cache_bytes', space))
end
return 1
)";

}  // namespace

std::vector<std::string> redis_scripts() {
  std::vector<std::string> scripts;
  for (const char* const body : {put_body, finish, forget, vector, cache}) {
    scripts.push_back(std::string(common) + body);
  }
  return scripts;
}

}  // namespace schedmate::store
