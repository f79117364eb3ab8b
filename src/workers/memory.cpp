// SPDX-License-Identifier: Apache-2.0
/// The queue of one process, by the clock that it is given: what the others promise, without a
/// server.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/text.hpp"
#include "workers/rows.hpp"

namespace schedmate::workers {
namespace {

struct Kept {
  Operation operation;
  Status status;
  std::string fault{};             ///< the last reason to give it up
  std::int64_t receipt = 0;        ///< of the claim that holds it
  std::chrono::nanoseconds at{0};  ///< running: last sign of life; done and dead: since when
};

class MemoryQueue final : public Queue {
 public:
  explicit MemoryQueue(const QueueOptions& options) : options_(options) {}

  Result<Put> put(const Operation& operation) override {
    if (auto fine = check(operation); !fine) return tl::unexpected(fine.error());
    const std::lock_guard lock(mutex_);
    forget_old();
    if (const auto found = all_.find(operation.id); found != all_.end()) {
      if (found->second.operation.request != operation.request)
        return another_request(operation.id);
      return Put::there;
    }
    auto& order = order_of(operation.priority);
    if (std::ssize(order) >= options_.most_waiting) {
      ++counts_["refused"];
      return full(operation.priority, options_.most_waiting);
    }
    ++counts_["put"];
    all_[operation.id] = {operation, {.state = State::waiting}};
    order.push_back(operation.id);
    return Put::put;
  }

  Result<std::optional<Claim>> claim(const std::string& worker) override {
    const std::lock_guard lock(mutex_);
    workers_[worker] = now();
    for (auto* const order : {&orders_[0], &orders_[1]})
      for (const State wanted : {State::running, State::waiting})
        for (const std::string& id : std::deque(*order)) {
          Kept& kept = all_.at(id);
          const bool free = kept.status.state == wanted &&
                            (wanted == State::waiting || now() - kept.at > options_.lease);
          if (!free) continue;
          if (auto taken = take(kept, worker)) return taken;
        }
    return std::nullopt;
  }

  Result<std::vector<bool>> keep(const std::string& worker,
                                 std::span<const Claim> claims) override {
    const std::lock_guard lock(mutex_);
    std::vector<bool> held;
    if (claims.empty()) return held;
    workers_[worker] = now();
    for (const Claim& claim : claims) {
      Kept* const kept = held_by(worker, claim);
      held.push_back(kept != nullptr);
      if (kept != nullptr) kept->at = now();
    }
    return held;
  }

  Result<bool> finish(const std::string& worker, const Claim& claim,
                      const std::string& result) override {
    if (auto fine = check_result(result); !fine) return tl::unexpected(fine.error());
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(claim.operation.id);
    if (found == all_.end() || is_over(found->second.status.state)) {
      const bool same = found != all_.end() && found->second.status.worker == worker &&
                        found->second.status.result == result;
      if (!same) ++counts_["late"];
      return same;
    }
    Kept& kept = found->second;
    kept.status.worker = worker;
    end(kept, State::done, result);
    ++counts_["done"];
    return true;
  }

  Result<void> give_up(const std::string& worker, const Claim& claim,
                       const std::string& why) override {
    if (auto fine = check_result(why); !fine) return fine;
    const std::lock_guard lock(mutex_);
    if (Kept* const kept = held_by(worker, claim)) {
      kept->fault = why;
      kept->at = now();
    }
    return {};
  }

  Result<Status> look(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return tl::unexpected(fine.error());
    const std::lock_guard lock(mutex_);
    forget_old();
    const auto found = all_.find(id);
    return found == all_.end() ? Status{} : found->second.status;
  }

  Result<void> forget(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return fine;
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end()) return {};
    std::erase(order_of(found->second.operation.priority), id);
    std::erase(dead_, id);
    all_.erase(found);
    return {};
  }

  Result<std::vector<std::string>> dead() override {
    const std::lock_guard lock(mutex_);
    forget_old();
    return std::vector<std::string>(dead_.begin(), dead_.end());
  }

  Result<void> revive(const std::string& id) override {
    if (auto fine = check_id(id); !fine) return fine;
    const std::lock_guard lock(mutex_);
    forget_old();
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.status.state != State::dead) return not_dead(id);
    found->second.status = {.state = State::waiting};
    found->second.fault.clear();
    std::erase(dead_, id);
    order_of(found->second.operation.priority).push_back(id);
    return {};
  }

  Result<void> leave(const std::string& worker) override {
    const std::lock_guard lock(mutex_);
    workers_.erase(worker);
    return {};
  }

  Result<Figures> figures() override {
    const std::lock_guard lock(mutex_);
    forget_old();
    Figures made = counts_;
    for (const auto& [id, kept] : all_) {
      if (kept.status.state == State::running) ++made["running"];
      if (kept.status.state == State::waiting)
        ++made[kept.operation.priority == Priority::urgent ? "waiting_urgent" : "waiting_usual"];
    }
    made["workers"] = std::ranges::count_if(
        workers_, [&](const auto& each) { return now() - each.second <= options_.lease; });
    made["dead"] = std::ssize(dead_);
    return made;
  }

  Result<std::vector<std::string>> doubts() override { return std::vector<std::string>(); }

 private:
  [[nodiscard]] std::chrono::nanoseconds now() const { return options_.clock.now(); }
  std::deque<std::string>& order_of(Priority priority) {
    return orders_.at(static_cast<std::size_t>(priority));
  }

  /// Nothing: it has died of being delivered too often.
  std::optional<Claim> take(Kept& kept, const std::string& worker) {
    if (++kept.status.deliveries > 1) ++counts_["redelivered"];
    if (kept.status.deliveries > options_.most_deliveries) {
      end(kept, State::dead,
          kept.fault.empty() ? death_notice(options_.most_deliveries) : kept.fault);
      ++counts_["buried"];
      dead_.push_front(kept.operation.id);
      if (std::ssize(dead_) > most_dead) dead_.pop_back();
      return std::nullopt;
    }
    ++counts_["claimed"];
    kept.status.state = State::running;
    kept.status.worker = worker;
    kept.receipt = ++receipts_;
    kept.at = now();
    return Claim{kept.operation, fmt::format("{}", kept.receipt), kept.status.deliveries};
  }

  void end(Kept& kept, State state, const std::string& result) {
    kept.status.state = state;
    kept.status.result = result;
    kept.at = now();
    std::erase(order_of(kept.operation.priority), kept.operation.id);
  }

  Kept* held_by(const std::string& worker, const Claim& claim) {
    const auto found = all_.find(claim.operation.id);
    if (found == all_.end()) return nullptr;
    Kept& kept = found->second;
    const bool held = kept.status.state == State::running && kept.status.worker == worker &&
                      parse_number<std::int64_t>(claim.receipt) == kept.receipt;
    return held ? &kept : nullptr;
  }

  void forget_old() {
    std::erase_if(all_, [&](const auto& each) {
      return is_over(each.second.status.state) && now() - each.second.at > options_.keep;
    });
    std::erase_if(dead_, [&](const std::string& id) { return !all_.contains(id); });
  }

  QueueOptions options_;
  std::mutex mutex_;
  std::map<std::string, Kept> all_;
  std::array<std::deque<std::string>, 2> orders_;  ///< waiting and running ones, as they were put
  std::deque<std::string> dead_;
  std::map<std::string, std::chrono::nanoseconds> workers_;  // when each was last heard of
  std::int64_t receipts_ = 0;
  Figures counts_;
};

}  // namespace

Result<std::unique_ptr<Queue>> open_memory(const std::string& where, const QueueOptions& options) {
  if (!where.empty()) return fail(ErrorCode::invalid, "memory is a place without a name");
  return std::make_unique<MemoryQueue>(options);
}

}  // namespace schedmate::workers
