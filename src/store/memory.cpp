// SPDX-License-Identifier: Apache-2.0
/// The store for tests, demonstrations and runs that shall leave nothing behind.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <ranges>
#include <set>
#include <unordered_map>

#include "store/admit.hpp"
#include "store/lists.hpp"
#include "store/rows.hpp"

namespace schedmate::store {
namespace {

using Order = std::pair<SimTime, std::string>;

class CacheSpace {
 public:
  void put(const CacheEntry& entry, std::uint64_t most_bytes) {
    drop(entry.key);
    order_.push_back(entry.key);
    bytes_ += entry.value.size();
    entries_[entry.key] = entry;
    while (bytes_ > most_bytes) drop(std::string(order_.front()));
  }
  void drop_group(const std::string& group) {
    for (const auto& key : std::deque<std::string>(order_)) {
      if (entries_.at(key).group == group) drop(key);
    }
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.value);
  }

 private:
  void drop(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    bytes_ -= found->second.value.size();
    std::erase(order_, key);
    entries_.erase(found);
  }
  std::unordered_map<std::string, CacheEntry> entries_;
  std::deque<std::string> order_;  ///< oldest first
  std::uint64_t bytes_ = 0;
};

class MemoryStore final : public Store {
 public:
  Result<void> put_many(std::span<const JobRecord> records) override {
    std::vector<JobRecord> admitted;
    for (const auto& record : records) {
      auto clean = admit(record);
      if (!clean) return tl::unexpected(clean.error());
      admitted.push_back(std::move(*clean));
    }
    const std::scoped_lock lock(mutex_);
    std::map<std::string_view, std::string_view> users;
    for (const auto& record : admitted) {
      const auto old = jobs_.find(record.id);
      const auto& user = old != jobs_.end() ? old->second.user : record.user;
      if (user != record.user || users.try_emplace(record.id, user).first->second != record.user) {
        return fail(ErrorCode::conflict, held_by_another(record.id));
      }
    }
    for (auto& record : admitted) write(std::move(record));
    return {};
  }

  Result<void> finish(const std::string& id, const Outcome& outcome) override {
    auto clean = admit(outcome);
    if (!clean) return tl::unexpected(clean.error());
    const std::scoped_lock lock(mutex_);
    const auto job = jobs_.find(clean_name(id));
    if (job == jobs_.end()) return fail(ErrorCode::not_found, no_such_job(id));
    unlist(job->second);
    job->second.outcome = std::move(*clean);
    enlist(job->second);
    ++version_;
    return {};
  }

  Result<std::optional<JobRecord>> get(const std::string& id) override {
    const std::scoped_lock lock(mutex_);
    const auto job = jobs_.find(clean_name(id));
    if (job == jobs_.end()) return std::nullopt;
    return job->second;
  }

  Result<void> each(const JobFilter& wanted, const Visit& visit) override {
    const auto filter = admit(wanted);
    const std::scoped_lock lock(mutex_);
    const auto list = lists_.find(narrowest_list(filter));
    if (list == lists_.end()) return {};
    std::size_t left = filter.limit;
    for (const auto& [submit, id] : list->second | std::views::reverse) {
      if (left == 0 || (filter.since && submit < *filter.since)) break;
      const auto& job = jobs_.at(id);
      if (!matches(filter, job)) continue;
      auto copy = job;
      if (filter.brief) make_brief(copy);
      if (!visit(std::move(copy))) break;
      --left;
    }
    return {};
  }

  Result<void> forget(const std::string& id) override {
    const std::scoped_lock lock(mutex_);
    const auto job = jobs_.find(clean_name(id));
    if (job == jobs_.end()) return fail(ErrorCode::not_found, no_such_job(id));
    for (auto& [name, space] : caches_) space.drop_group(job->second.root);
    const auto text_id = job->second.text_id;
    unlist(job->second);
    jobs_.erase(job);
    drop_unused(text_id);
    ++version_;
    return {};
  }

  Result<std::vector<StoredText>> texts(std::uint64_t after, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::vector<StoredText> found;
    for (auto at = texts_.upper_bound(after); at != texts_.end() && found.size() < limit; ++at) {
      found.push_back({at->first, at->second});
    }
    return found;
  }

  Result<std::uint64_t> last_text() override {
    const std::scoped_lock lock(mutex_);
    return texts_.empty() ? 0 : texts_.rbegin()->first;
  }

  Result<std::vector<ForgottenText>> forgotten(std::uint64_t after, std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::vector<ForgottenText> found;
    for (auto i = after; i < forgotten_.size() && found.size() < limit; ++i) {
      found.push_back({i + 1, forgotten_[i]});
    }
    return found;
  }

  Result<void> put_vectors(const std::string& embedder,
                           std::span<const StoredVector> vectors) override {
    const std::scoped_lock lock(mutex_);
    for (const auto& vector : vectors) {
      if (texts_.contains(vector.text_id)) vectors_[embedder][vector.text_id] = vector.values;
    }
    return {};
  }

  Result<std::vector<StoredVector>> vectors(const std::string& embedder, std::uint64_t after,
                                            std::size_t limit) override {
    const std::scoped_lock lock(mutex_);
    std::vector<StoredVector> found;
    const auto& all = vectors_[embedder];
    for (auto at = all.upper_bound(after); at != all.end() && found.size() < limit; ++at) {
      found.push_back({at->first, at->second});
    }
    return found;
  }

  Result<std::optional<std::string>> cached(const std::string& space,
                                            const std::string& key) override {
    const std::scoped_lock lock(mutex_);
    const auto found = caches_.find(space);
    return found == caches_.end() ? std::nullopt : found->second.get(key);
  }

  Result<void> cache(const CacheEntry& entry, std::uint64_t most_bytes) override {
    if (auto checked = check(entry); !checked) return checked;
    const std::scoped_lock lock(mutex_);
    caches_[entry.space].put(entry, most_bytes);
    return {};
  }

  Result<std::uint64_t> version() override {
    const std::scoped_lock lock(mutex_);
    return version_;
  }
  [[nodiscard]] std::string identity() const override { return ""; }
  Result<void> flush() override { return {}; }

 private:
  void write(JobRecord record) {
    std::uint64_t old_text = 0;
    if (const auto old = jobs_.find(record.id); old != jobs_.end()) {
      old_text = old->second.text_id;
      unlist(old->second);
    }
    record.text_id = intern(record.text);
    enlist(record);
    auto id = record.id;
    jobs_.insert_or_assign(std::move(id), std::move(record));
    drop_unused(old_text);
    ++version_;
  }

  std::uint64_t intern(const std::string& text) {
    if (text.empty()) return 0;
    const auto [at, fresh] = text_ids_.try_emplace(text, last_text_ + 1);
    if (fresh) texts_[++last_text_] = text;
    return at->second;
  }

  static std::vector<std::string> all_lists_of(const JobRecord& record) {
    const auto lists = lists_of(record);
    std::vector<std::string> all(lists.begin(), lists.end());
    if (record.outcome && !record.outcome->fingerprint.empty())
      all.push_back(failure_list(record.outcome->fingerprint));
    return all;
  }

  void enlist(const JobRecord& record) {
    for (const auto& list : all_lists_of(record)) lists_[list].emplace(record.submit, record.id);
  }

  void unlist(const JobRecord& record) {
    for (const auto& name : all_lists_of(record)) {
      const auto list = lists_.find(name);
      list->second.erase({record.submit, record.id});
      if (list->second.empty()) lists_.erase(list);
    }
  }

  void drop_unused(std::uint64_t text_id) {
    if (text_id == 0 || lists_.contains(narrowest_list({.text_id = text_id}))) return;
    text_ids_.erase(texts_.at(text_id));
    texts_.erase(text_id);
    for (auto& [embedder, vectors] : vectors_) vectors.erase(text_id);
    forgotten_.push_back(text_id);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, JobRecord> jobs_;
  std::unordered_map<std::string, std::set<Order>> lists_;
  std::map<std::uint64_t, std::string> texts_;
  std::unordered_map<std::string, std::uint64_t> text_ids_;
  std::vector<std::uint64_t> forgotten_;
  std::map<std::string, std::map<std::uint64_t, std::vector<float>>> vectors_;
  std::map<std::string, CacheSpace> caches_;
  std::uint64_t last_text_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace

Result<std::unique_ptr<Store>> open_memory(const std::string& where, const StoreOptions&) {
  if (!where.empty()) {
    return fail(ErrorCode::invalid,
                fmt::format("store memory:{}: takes no path; write 'memory'", where));
  }
  return std::make_unique<MemoryStore>();
}

}  // namespace schedmate::store
