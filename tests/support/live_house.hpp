// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The live loop in its house: a made cluster, a journal in memory, and a policy that starts in
/// order of arrival whatever fits.

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/loop.hpp"
#include "tests/support/acting_desk.hpp"
#include "tests/support/loop_driver.hpp"
#include "tests/support/made_site.hpp"

namespace schedmate::testing {

/// The first that waits, again and again, as long as it fits.
class FirstComeFirst {
 public:
  void operator()(const View& view, Plan& plan) {
    for (const JobId id : view.withdrawn) std::erase(queue_, id);
    for (const JobId id : view.arrived) queue_.push_back(id);
    while (!queue_.empty() && plan.start(queue_.front(), view.job(queue_.front()).gpus))
      queue_.pop_front();
  }

 private:
  std::deque<JobId> queue_;
};

class LiveHouse {
 public:
  using Fate = MadeSite::Fate;
  enum class Pools : std::uint8_t { none, in_order };

  explicit LiveHouse(int nodes, live::Settings settings = ActingDesk::all_act(),
                     Pools pools = Pools::in_order)
      : site(nodes) {
    options.settings = std::move(settings);
    if (pools == Pools::in_order)
      options.pool = [](const std::string& name) {
        live::VirtualCluster::Setup setup;
        setup.name = name;
        setup.policy = FirstComeFirst();
        return setup;
      };
    restart();
  }
  LiveHouse(const LiveHouse&) = delete;
  LiveHouse& operator=(const LiveHouse&) = delete;
  ~LiveHouse() = default;

  MadeSite site;
  live::LoopOptions options;
  std::vector<journal::Event> events{};  ///< of the journal
  std::vector<journal::Remark> remarks{};
  std::size_t batches = 0;
  bool disk_fails = false;
  std::function<Result<live::Finding>(const live::Study& study)> studies{};
  std::vector<live::Study> examined{};  ///< all that was asked for
  bool deaf = false;                    ///< no study is answered

  /// A new process. What was told is told no more in `events`, which starts anew.
  void restart() {
    live::Past past{.open = {}, .next_action = last_ + 1, .kept = kept_};
    for (const auto& [id, action] : book_)
      if (!is_end(action.call.kind, action.state())) past.open.push_back(action);
    events.clear();
    loop_ = std::make_unique<live::Loop>(options, std::move(past), site.now());
    driver_ = std::make_unique<LoopDriver>(
        *loop_, site, [this](const journal::Batch& batch) { return append(batch); });
    driver_->studies = [this](const live::Study& study) -> std::optional<Result<live::Finding>> {
      examined.push_back(study);
      if (deaf) return std::nullopt;
      if (!studies) return fail(ErrorCode::unsupported, "nobody reads here");
      return studies(study);
    };
  }
  /// Time passes, and it is time to read.
  void turn(Seconds time = Seconds(1)) {
    site.pass(time);
    tell(live::Ticked{});
  }
  void turns(int count, Seconds time = Seconds(1)) {
    for (int i = 0; i < count; ++i) turn(time);
  }
  void tell(const live::Event& event) { driver_->tell(event, site.now()); }
  Result<std::int64_t> decide(live::Decided::What what, std::int64_t action = 0) {
    tell(live::Decided{what, action, "olga", 1});
    return driver_->answers().back().result;
  }

  /// Somebody asks for it; the last answer that was given.
  live::Answer request(const live::Requested& asked) {
    tell(asked);
    return driver_->answers().back();
  }
  [[nodiscard]] std::size_t answers() const { return driver_->answers().size(); }

  [[nodiscard]] live::Loop& loop() { return *loop_; }
  [[nodiscard]] bool over() const { return driver_->over(); }
  [[nodiscard]] const std::map<std::int64_t, Action>& book() const { return book_; }
  [[nodiscard]] const std::map<std::string, std::string>& kept() const { return kept_; }
  /// "arrived 1, started 1" of the journal's events.
  [[nodiscard]] std::string told() const {
    std::string words;
    for (const journal::Event& each : events)
      words += (words.empty() ? "" : ", ") + each.kind.substr(4) + " " + each.subject;
    return words;
  }
  /// "start verified, drain_node waiting".
  [[nodiscard]] std::string actions() const {
    std::string words;
    for (const auto& [id, each] : book_)
      words += (words.empty() ? "" : ", ") + std::string(name_of(each.call.kind)) + " " +
               std::string(name_of(each.state()));
    return words;
  }

 private:
  Result<void> append(const journal::Batch& batch) {
    if (disk_fails) return fail(ErrorCode::unavailable, "the disk is full");
    ++batches;
    for (const journal::NewStep& each : batch.steps) {
      Action& action = book_.at(each.action);
      CHECK(may_become(action, each.step.state));
      action.steps.push_back(each.step);
    }
    for (const Action& each : batch.actions) {
      CHECK(each.id == last_ + 1);
      last_ = each.id;
      book_[each.id] = each;
    }
    for (const journal::Event& each : batch.events) events.push_back(each);
    for (const journal::Remark& each : batch.remarks) remarks.push_back(each);
    for (const journal::Kept& each : batch.kept) {
      if (each.value.empty())
        kept_.erase(each.name);
      else
        kept_[each.name] = each.value;
    }
    return {};
  }

  std::unique_ptr<live::Loop> loop_;
  std::unique_ptr<LoopDriver> driver_;
  std::map<std::int64_t, Action> book_;
  std::map<std::string, std::string> kept_;
  std::int64_t last_ = 0;
};

}  // namespace schedmate::testing
