// SPDX-License-Identifier: Apache-2.0
/// The store that several machines share. Each change is one script on the server, so it is whole
/// or absent; a batch of records is one transaction. How long an acknowledged record lives is the
/// server's setting: `appendonly yes` with `appendfsync always` loses none.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/text.hpp"
#include "store/admit.hpp"
#include "store/codec.hpp"
#include "store/lists.hpp"
#include "store/redis_connection.hpp"
#include "store/redis_record.hpp"
#include "store/redis_scripts.hpp"
#include "store/rows.hpp"

namespace schedmate::store {
namespace {

using Command = RedisConnection::Command;
using Replies = std::vector<RedisReply>;

constexpr int newest_redis_schema = 1;
constexpr std::size_t page = 256;
/// Of whole records, whose documents may be long.
constexpr std::size_t page_of_records = 32;
/// A server that goes on listing jobs is none.
constexpr std::size_t most_listed = 50'000'000;
constexpr int most_tries = 20;

std::string key(std::string_view name) { return fmt::format("schedmate:{}", name); }
std::string job_key(const std::string& id) { return key("job:" + id); }

tl::unexpected<Error> odd_answer(std::string_view what) {
  return fail(ErrorCode::bad_reply,
              fmt::format("store redis: the server answers with {}; is it the right one?", what));
}

/// Numbers as texts: each above the one before, the first above `after`.
bool rises(const std::vector<std::string>& ids, std::uint64_t after) {
  for (const std::string& id : ids) {
    const auto number = parse_number<std::uint64_t>(id);
    if (!number || *number <= after) return false;
    after = *number;
  }
  return true;
}

class RedisStore final : public Store {
 public:
  RedisStore(std::unique_ptr<RedisConnection> connection, std::string identity)
      : connection_(std::move(connection)), identity_(std::move(identity)) {}

  Result<void> put_many(std::span<const JobRecord> records) override {
    std::vector<JobRecord> clean;
    for (const auto& record : records) {
      auto admitted = admit(record);
      if (!admitted) return tl::unexpected(admitted.error());
      clean.push_back(std::move(*admitted));
    }
    if (clean.empty()) return {};
    const std::scoped_lock lock(mutex_);
    for (int i = 0; i < most_tries; ++i) {
      const auto written = try_put(clean);
      if (written && *written) return {};
      if (!written && (i > 0 || !connection_->is_lost())) return tl::unexpected(written.error());
    }
    return fail(ErrorCode::unavailable,
                "store redis: other processes are writing the same jobs; try again");
  }

  Result<void> finish(const std::string& id, const Outcome& outcome) override {
    const auto clean = admit(outcome);
    if (!clean) return tl::unexpected(clean.error());
    Command arguments{clean_name(id)};
    const auto hash = outcome_to_hash(*clean);
    arguments.insert(arguments.end(), hash.begin(), hash.end());
    return run_on_job(finish_script, arguments);
  }

  Result<std::optional<JobRecord>> get(const std::string& id) override {
    const std::scoped_lock lock(mutex_);
    auto found = read_jobs({clean_name(id)}, false);
    if (!found) return tl::unexpected(found.error());
    if (found->empty()) return std::nullopt;
    return std::move(found->front());
  }

  Result<void> each(const JobFilter& wanted, const Visit& visit) override {
    const auto filter = admit(wanted);
    const auto list = key("list:" + narrowest_list(filter));
    const std::scoped_lock lock(mutex_);
    std::size_t left = filter.limit;
    const std::size_t step = filter.brief ? page : page_of_records;
    for (std::size_t at = 0; left > 0; at += step) {
      const auto ids = texts_of(connection_->run(
          {"ZREVRANGE", list, fmt::format("{}", at), fmt::format("{}", at + step - 1)}));
      if (!ids) return tl::unexpected(ids.error());
      if (ids->size() > step || at > most_listed)
        return odd_answer("more jobs than were asked for");
      auto jobs = read_jobs(*ids, filter.brief);
      if (!jobs) return tl::unexpected(jobs.error());
      for (auto& job : *jobs) {
        if (filter.since && job.submit < *filter.since) return {};
        if (!matches(filter, job)) continue;
        if (!visit(std::move(job)) || --left == 0) return {};
      }
      if (ids->size() < step) return {};
    }
    return {};
  }

  Result<void> forget(const std::string& id) override {
    return run_on_job(forget_script, {clean_name(id)});
  }

  Result<std::vector<StoredText>> texts(std::uint64_t after, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    const auto ids = text_ids(after, limit);
    if (!ids) return tl::unexpected(ids.error());
    const auto found = fields_of(key("texts"), *ids);
    if (!found) return tl::unexpected(found.error());
    std::vector<StoredText> all;
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (!(*found)[i].is_nothing()) {
        all.push_back({parse_number<std::uint64_t>((*ids)[i]).value_or(0), (*found)[i].text});
      }
    }
    return all;
  }

  Result<std::uint64_t> last_text() override {
    const std::scoped_lock lock(mutex_);
    const auto ids = texts_of(connection_->run({"ZREVRANGE", key("text_order"), "0", "0"}));
    if (!ids) return tl::unexpected(ids.error());
    if (ids->empty()) return 0;
    if (ids->size() > 1 || !rises(*ids, 0)) return odd_answer("no number of a text");
    return parse_number<std::uint64_t>(ids->front()).value_or(0);
  }

  Result<std::vector<ForgottenText>> forgotten(std::uint64_t after, std::size_t limit) override {
    if (limit == 0) return std::vector<ForgottenText>();
    const std::scoped_lock lock(mutex_);
    const auto ids =
        texts_of(connection_->run({"LRANGE", key("forgotten"), fmt::format("{}", after),
                                   fmt::format("{}", after + limit - 1)}));
    if (!ids) return tl::unexpected(ids.error());
    if (ids->size() > limit) return odd_answer("more numbers than were asked for");
    std::vector<ForgottenText> found;
    for (const auto& id : *ids) {
      const auto number = parse_number<std::uint64_t>(id);
      if (!number) return odd_answer("no number of a text");
      found.push_back({++after, *number});
    }
    return found;
  }

  Result<void> put_vectors(const std::string& embedder,
                           std::span<const StoredVector> vectors) override {
    const std::scoped_lock lock(mutex_);
    std::vector<Command> commands;
    for (const auto& vector : vectors) {
      commands.push_back(
          connection_->script(vector_script, {embedder, fmt::format("{}", vector.text_id),
                                              std::string(bytes_of_floats(vector.values))}));
    }
    return without_value(connection_->run(commands));
  }

  Result<std::vector<StoredVector>> vectors(const std::string& embedder, std::uint64_t after,
                                            std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::vector<StoredVector> all;
    while (all.size() < limit) {
      const auto ids = text_ids(after, page);
      if (!ids) return tl::unexpected(ids.error());
      if (ids->empty()) break;
      const auto found = fields_of(key("vectors:" + embedder), *ids);
      if (!found) return tl::unexpected(found.error());
      for (std::size_t i = 0; i < ids->size() && all.size() < limit; ++i) {
        after = parse_number<std::uint64_t>((*ids)[i]).value_or(after);
        if (!(*found)[i].is_nothing()) all.push_back({after, floats_of_bytes((*found)[i].text)});
      }
    }
    return all;
  }

  Result<std::optional<std::string>> cached(const std::string& space,
                                            const std::string& name) override {
    const std::scoped_lock lock(mutex_);
    auto found = connection_->run({"HGET", key("cache:" + space), name});
    if (!found) return tl::unexpected(found.error());
    return found->is_nothing() ? std::nullopt : std::optional(std::move(found->text));
  }

  Result<void> cache(const CacheEntry& entry, std::uint64_t most_bytes) override {
    if (auto checked = check(entry); !checked) return checked;
    const std::scoped_lock lock(mutex_);
    return without_value(connection_->run(connection_->script(
        cache_script,
        {entry.space, entry.key, entry.group, entry.value, fmt::format("{}", most_bytes)})));
  }

  Result<std::uint64_t> version() override {
    const std::scoped_lock lock(mutex_);
    const auto reply = connection_->run({"GET", key("version")});
    if (!reply) return tl::unexpected(reply.error());
    return number_in(*reply, 0);
  }

  [[nodiscard]] std::string identity() const override { return identity_; }

  // With `appendfsync always` whatever was acknowledged is on the disk already.
  Result<void> flush() override {
    const std::scoped_lock lock(mutex_);
    return without_value(connection_->run({"PING"}));
  }

 private:
  template <class T>
  static Result<void> without_value(const Result<T>& result) {
    if (!result) return tl::unexpected(result.error());
    return {};
  }

  static Result<std::vector<std::string>> texts_of(Result<RedisReply> reply) {
    if (!reply) return tl::unexpected(reply.error());
    std::vector<std::string> texts;
    for (auto& element : reply->list) texts.push_back(std::move(element.text));
    return texts;
  }

  Result<std::vector<std::string>> text_ids(std::uint64_t after, std::size_t limit) {
    auto ids =
        texts_of(connection_->run({"ZRANGEBYSCORE", key("text_order"), fmt::format("({}", after),
                                   "+inf", "LIMIT", "0", fmt::format("{}", limit)}));
    if (ids && (ids->size() > limit || !rises(*ids, after)))
      return odd_answer("other numbers than were asked for");
    return ids;
  }

  /// Values of a hash, for any number of names.
  Result<Replies> fields_of(const std::string& hash, const std::vector<std::string>& names) {
    if (names.empty()) return Replies();
    Command command{"HMGET", hash};
    command.insert(command.end(), names.begin(), names.end());
    auto reply = connection_->run(std::move(command));
    if (!reply) return tl::unexpected(reply.error());
    return std::move(reply->list);
  }

  Result<std::vector<JobRecord>> read_jobs(const std::vector<std::string>& ids, bool brief) {
    std::vector<Command> commands;
    for (const auto& id : ids) commands.push_back(hash_query(job_key(id), brief));
    const auto replies = connection_->run(commands);
    if (!replies) return tl::unexpected(replies.error());
    std::vector<JobRecord> jobs;
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto job = record_of_reply((*replies)[i]);
      if (!job) return tl::unexpected(job.error());
      if (!*job) continue;  // forgotten meanwhile
      if ((*job)->id != ids[i]) return odd_answer("another job than was asked for");
      numbers.push_back(fmt::format("{}", (*job)->text_id));
      jobs.push_back(std::move(**job));
    }
    const auto texts = fields_of(key("texts"), numbers);
    if (!texts) return tl::unexpected(texts.error());
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].text = (*texts)[i].text;
    return jobs;
  }

  Result<void> run_on_job(RedisScript script, const Command& arguments) {
    const std::scoped_lock lock(mutex_);
    const auto reply = connection_->run(connection_->script(script, arguments));
    if (!reply) return tl::unexpected(reply.error());
    if (reply->number == 0) return fail(ErrorCode::not_found, no_such_job(arguments.front()));
    return {};
  }

  /// Whether the transaction went through: it does not when another client has changed one of the
  /// jobs since their users were looked at.
  Result<bool> try_put(const std::vector<JobRecord>& records) {
    std::vector<Command> looks{{"WATCH"}};
    for (const auto& record : records) looks.front().push_back(job_key(record.id));
    for (const auto& record : records) looks.push_back({"HGET", job_key(record.id), "user"});
    const auto seen = connection_->run(looks);
    if (!seen) return tl::unexpected(seen.error());
    std::map<std::string_view, std::string_view> users;
    std::vector<Command> commands{{"MULTI"}};
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto& record = records[i];
      // A job without a user has no such field; its hash is there all the same.
      const auto& held = (*seen)[i + 1];
      const bool foreign = !held.is_nothing() && held.text != record.user;
      if (foreign || users.try_emplace(record.id, record.user).first->second != record.user) {
        (void)connection_->run({"UNWATCH"});
        return fail(ErrorCode::conflict, held_by_another(record.id));
      }
      Command arguments{record.id, fmt::format("{}", seconds_of(record.submit)), record.text,
                        lists_json(record)};
      const auto hash = record_to_hash(record);
      arguments.insert(arguments.end(), hash.begin(), hash.end());
      commands.push_back(connection_->script(put_script, arguments));
    }
    commands.push_back({"EXEC"});
    const auto done = connection_->run_once(commands);
    if (!done) return tl::unexpected(done.error());
    return !done->back().is_nothing();
  }

  std::mutex mutex_;
  std::unique_ptr<RedisConnection> connection_;
  std::string identity_;
};

/// Makes the schema and the identity of a new store. Refuses what a newer version has written.
Result<std::string> prepare(RedisConnection& connection, const std::string& where) {
  const auto server = connection.run({"INFO", "server"});
  if (!server) return tl::unexpected(server.error());
  const auto clock = connection.run({"TIME"});
  if (!clock) return tl::unexpected(clock.error());
  const auto run_id = std::string_view(server->text)
                          .substr(std::min(server->text.find("run_id:"), server->text.size()));
  const auto fresh =
      fmt::format("redis-{}-{}{}", run_id.substr(0, std::min<std::size_t>(run_id.find('\r'), 48)),
                  clock->list.at(0).text, clock->list.at(1).text);
  const std::vector<Command> commands{
      {"SETNX", key("schema"), fmt::format("{}", newest_redis_schema)},
      {"SETNX", key("identity"), fresh},
      {"GET", key("schema")},
      {"GET", key("identity")}};
  const auto replies = connection.run(commands);
  if (!replies) return tl::unexpected(replies.error());
  const auto schema = parse_number<int>((*replies)[2].text);
  if (schema == newest_redis_schema) {
    if ((*replies)[3].text.empty()) return odd_answer("no identity");
    return clean_text((*replies)[3].text, StoreLimits::name_bytes);
  }
  return fail(ErrorCode::invalid,
              fmt::format("store redis:{}: has schema '{}', but this program knows {}; left "
                          "unchanged: use the newer program",
                          where, clean_text((*replies)[2].text, 20), newest_redis_schema));
}

}  // namespace

Result<std::unique_ptr<Store>> open_redis(const std::string& where, const StoreOptions& options) {
  auto connection = RedisConnection::open(where, options);
  if (!connection) return tl::unexpected(connection.error());
  auto identity = prepare(**connection, where);
  if (!identity) return tl::unexpected(identity.error());
  if (auto loaded = (*connection)->load_scripts(redis_scripts()); !loaded) {
    return tl::unexpected(loaded.error());
  }
  return std::make_unique<RedisStore>(std::move(*connection), std::move(*identity));
}

}  // namespace schedmate::store
