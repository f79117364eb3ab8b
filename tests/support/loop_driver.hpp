// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Carries out what a live loop asks for, at once and in order.

#include <deque>
#include <functional>
#include <schedmate/connector.hpp>
#include <utility>
#include <vector>

#include "live/loop.hpp"

namespace schedmate::testing {

class LoopDriver {
 public:
  using Journal = std::function<Result<void>(const journal::Batch&)>;
  LoopDriver(live::Loop& loop, Connector& cluster, Journal journal)
      : loop_(loop), cluster_(cluster), journal_(std::move(journal)) {}

  /// What they find; nothing: no answer comes.
  using Studies = std::function<std::optional<Result<live::Finding>>(const live::Study& study)>;
  Studies studies{};  ///< empty: nothing can be read

  /// The event, and all that follows from it.
  void tell(const live::Event& event, SimTime now) {
    take(loop_.step(event, now));
    while (!effects_.empty()) {
      const live::Effect effect = std::move(effects_.front());
      effects_.pop_front();
      std::visit([&](const auto& each) { carry_out(each, now); }, effect);
    }
  }
  [[nodiscard]] bool over() const { return over_; }
  /// What operators were told, newest last.
  [[nodiscard]] const std::vector<live::Answer>& answers() const { return answers_; }

 private:
  static constexpr Connector::Deadline within{10'000};

  void take(std::vector<live::Effect> effects) {
    for (live::Effect& effect : effects) effects_.push_back(std::move(effect));
  }
  void carry_out(const live::Append& append, SimTime now) {
    take(loop_.step(live::Appended{journal_(append.batch)}, now));
  }
  void carry_out(const live::MakeCall& call, SimTime now) {
    take(loop_.step(live::Returned{call.action, cluster_.call(call.call, within)}, now));
  }
  void carry_out(const live::EndTest& end, SimTime /*now*/) {
    (void)cluster_.end_test(end.token, within);
  }
  void carry_out(const live::List& list, SimTime now) {
    take(loop_.step(live::Listed{list.number, cluster_.list(list.ended_since, within)}, now));
  }
  void carry_out(const live::Examine& examine, SimTime now) {
    std::optional<Result<live::Finding>> found =
        studies ? studies(examine.study) : fail(ErrorCode::unsupported, "nobody reads here");
    if (found) take(loop_.step(live::Studied{examine.study.number, std::move(*found)}, now));
  }
  void carry_out(const live::Answer& answer, SimTime /*now*/) { answers_.push_back(answer); }
  void carry_out(const live::Noted& /*noted*/, SimTime /*now*/) {}
  void carry_out(const live::Stop& /*stop*/, SimTime /*now*/) { over_ = true; }

  live::Loop& loop_;
  Connector& cluster_;
  Journal journal_;
  std::deque<live::Effect> effects_;
  std::vector<live::Answer> answers_;
  bool over_ = false;
};

}  // namespace schedmate::testing
