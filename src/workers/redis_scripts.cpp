// SPDX-License-Identifier: Apache-2.0
#include "workers/redis_scripts.hpp"

namespace schedmate::workers {
namespace {

// A stream is made by what is put there, and again where it was lost with its group (FLUSHALL);
// what only looks makes none. The server itself does not note that a worker asked and got nothing,
// so a set has when each was last heard of. An entry is given up together with its place among the
// pending ones: what is deleted alone stays pending.
//
// A server without memory refuses commands that may need some, until the script has given another
// one that needs none. So what puts begins with one that is refused, before anything was changed;
// what takes away begins with one that is not.
constexpr const char* common = R"(
local urgent, usual, dead, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function op_of(id) return 'schedmate:work:op:' .. id end
local function stream_of(priority) return priority == '1' and urgent or usual end
local function count(name) redis.call('HINCRBY', counts, name, 1) end
local function is_there(stream) return redis.call('EXISTS', stream) == 1 end
local function ready(stream)
  if is_there(stream) then return end
  redis.call('XGROUP', 'CREATE', stream, 'workers', '0', 'MKSTREAM')
end
local function drop(stream, receipt)
  redis.call('XACK', stream, 'workers', receipt)
  redis.call('XDEL', stream, receipt)
end
local function is_over(state) return state == 'done' or state == 'dead' end
local function now_s()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end
local heard = 'schedmate:work:workers'
local function hear(worker, seldom_s)
  local last = tonumber(redis.call('ZSCORE', heard, worker) or '0')
  if now_s() - last < seldom_s then return end
  redis.call('ZREMRANGEBYSCORE', heard, '-inf', now_s() - 86400)
  redis.call('ZADD', heard, now_s(), worker)
end
local function holds(stream, worker, receipt)
  return is_there(stream) and
    #redis.call('XPENDING', stream, 'workers', receipt, receipt, 1, worker) == 1
end
)";

constexpr const char* put = R"(
local id, priority, request, most = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local there = redis.call('HGET', op_of(id), 'request')
if there then return {there == request and 'there' or 'conflict'} end
local stream = stream_of(priority)
ready(stream)
if redis.call('XLEN', stream) >= most then count('refused') return {'full'} end
count('put')
redis.call('HSET', op_of(id), 'request', request, 'priority', priority, 'state', 'waiting')
redis.call('HSET', op_of(id), 'receipt', redis.call('XADD', stream, '*', 'id', id))
return {'put'}
)";

// What a worker has already is found to be nobody's when it ends.
constexpr const char* forget = R"(
local known = redis.call('HMGET', op_of(ARGV[1]), 'state', 'priority', 'receipt')
if known[1] == 'waiting' and known[3] then drop(stream_of(known[2]), known[3]) end
redis.call('DEL', op_of(ARGV[1]))
redis.call('ZREM', dead, ARGV[1])
return {}
)";

constexpr const char* claim = R"(
local worker, lease, most, keep_s, notice = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local most_dead = tonumber(ARGV[6])
local function bury(stream, receipt, id)
  count('buried')
  local fault = redis.call('HGET', op_of(id), 'fault') or notice
  redis.call('HSET', op_of(id), 'state', 'dead', 'result', fault)
  redis.call('EXPIRE', op_of(id), keep_s)
  redis.call('ZREMRANGEBYSCORE', dead, '-inf', now_s())
  redis.call('ZADD', dead, now_s() + keep_s, id)
  redis.call('ZREMRANGEBYRANK', dead, 0, -1 - most_dead)
  drop(stream, receipt)
end
local function take(priority, stream, entry)
  local receipt, id = entry[1], entry[2][2]
  local state = redis.call('HGET', op_of(id), 'state')
  if not state or is_over(state) then drop(stream, receipt) return nil end
  local deliveries = redis.call('HINCRBY', op_of(id), 'deliveries', 1)
  if deliveries > 1 then count('redelivered') end
  if deliveries > most then bury(stream, receipt, id) return nil end
  count('claimed')
  redis.call('HSET', op_of(id), 'state', 'running', 'worker', worker)
  return {id, priority, receipt, tostring(deliveries), redis.call('HGET', op_of(id), 'request')}
end
local function next_of(priority, stream)
  local from = '0-0'
  repeat
    local got = redis.call('XAUTOCLAIM', stream, 'workers', worker, lease, from, 'COUNT', 1)
    from = got[1]
    local taken = got[2][1] and take(priority, stream, got[2][1])
    if taken then return taken end
  until from == '0-0'
  while true do
    local got =
      redis.call('XREADGROUP', 'GROUP', 'workers', worker, 'COUNT', 1, 'STREAMS', stream, '>')
    if not got then return nil end
    local taken = take(priority, stream, got[1][2][1])
    if taken then return taken end
  end
end
hear(worker, lease / 4000)
for _, priority in ipairs({'1', '2'}) do
  local stream = stream_of(priority)
  local taken = is_there(stream) and next_of(priority, stream)
  if taken then return taken end
end
return {}
)";

// Only what it still holds: a claim of somebody else is not taken away again.
constexpr const char* keep = R"(
local held = {}
hear(ARGV[1], 0)
for i = 2, #ARGV, 2 do
  local stream, receipt = stream_of(ARGV[i]), ARGV[i + 1]
  local mine = holds(stream, ARGV[1], receipt)
  if mine then redis.call('XCLAIM', stream, 'workers', ARGV[1], 0, receipt, 'JUSTID') end
  held[#held + 1] = mine and '1' or '0'
end
return held
)";

constexpr const char* finish = R"(
local worker, stream, receipt = ARGV[1], stream_of(ARGV[2]), ARGV[3]
local op, result = op_of(ARGV[4]), ARGV[5]
local known = redis.call('HMGET', op, 'state', 'worker', 'result')
drop(stream, receipt)
if not known[1] or is_over(known[1]) then
  if known[2] == worker and known[3] == result then return {'kept'} end
  count('late')
  return {'late'}
end
redis.call('HSET', op, 'state', 'done', 'worker', worker, 'result', result)
redis.call('EXPIRE', op, ARGV[6])
count('done')
return {'kept'}
)";

constexpr const char* give_up = R"(
local worker, stream, receipt = ARGV[1], stream_of(ARGV[2]), ARGV[3]
if not holds(stream, worker, receipt) then return {'lost'} end
redis.call('XCLAIM', stream, 'workers', worker, 0, receipt, 'JUSTID')
redis.call('HSET', op_of(ARGV[4]), 'fault', ARGV[5])
return {'given up'}
)";

constexpr const char* look = R"(
local known = redis.call('HMGET', op_of(ARGV[1]), 'state', 'result', 'worker', 'deliveries')
return {known[1] or 'unknown', known[2] or '', known[3] or '', known[4] or '0'}
)";

constexpr const char* dead_ones = R"(
return redis.call('ZREVRANGEBYSCORE', dead, '+inf', now_s())
)";

constexpr const char* revive = R"(
local op = op_of(ARGV[1])
local known = redis.call('HMGET', op, 'state', 'priority')
if known[1] ~= 'dead' then return {'unknown'} end
local stream = stream_of(known[2])
ready(stream)
redis.call('HSET', op, 'state', 'waiting')
redis.call('HDEL', op, 'result', 'deliveries', 'fault', 'worker')
redis.call('PERSIST', op)
redis.call('ZREM', dead, ARGV[1])
redis.call('HSET', op, 'receipt', redis.call('XADD', stream, '*', 'id', ARGV[1]))
return {'put'}
)";

// A consumer that is deleted takes what it holds with it, so only one that holds nothing goes; so
// do those that nobody has heard of for a day.
constexpr const char* leave = R"(
local day_ms = 86400000
redis.call('ZREM', heard, ARGV[1])
for _, stream in ipairs({urgent, usual}) do
  local workers = is_there(stream) and redis.call('XINFO', 'CONSUMERS', stream, 'workers') or {}
  for _, each in ipairs(workers) do
    local name, pending, idle = each[2], each[4], each[6]
    if pending == 0 and (name == ARGV[1] or idle > day_ms) then
      redis.call('XGROUP', 'DELCONSUMER', stream, 'workers', name)
    end
  end
end
return {}
)";

constexpr const char* figures = R"(
local made, running = {}, 0
local function add(name, number)
  made[#made + 1] = name
  made[#made + 1] = tostring(number)
end
local function look_into(name, stream)
  local pending = redis.call('XPENDING', stream, 'workers')[1]
  running = running + pending
  add('waiting_' .. name, redis.call('XLEN', stream) - pending)
end
for name, stream in pairs({urgent = urgent, usual = usual}) do
  if is_there(stream) then look_into(name, stream) end
end
add('running', running)
add('workers', redis.call('ZCOUNT', heard, now_s() - ARGV[1] / 1000, '+inf'))
add('dead', redis.call('ZCOUNT', dead, now_s(), '+inf'))
for _, each in ipairs(redis.call('HGETALL', counts)) do made[#made + 1] = each end
return made
)";

}  // namespace

std::vector<std::string> redis_scripts() {
  std::vector<std::string> scripts;
  for (const char* const body :
       {put, claim, keep, finish, give_up, look, forget, dead_ones, revive, leave, figures}) {
    scripts.push_back(std::string(common) + body);
  }
  return scripts;
}

std::vector<std::string> redis_keys() {
  std::vector<std::string> keys;
  for (const char* const name : {"urgent", "usual", "dead", "counts"})
    keys.push_back(std::string("schedmate:work:") + name);
  return keys;
}

}  // namespace schedmate::workers
