// SPDX-License-Identifier: Apache-2.0
#include "live/ordering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "core/entering_job.hpp"

namespace schedmate::live {
namespace {

constexpr std::int64_t steps = 50;    // of the span
constexpr std::int64_t looks = 1008;  // while a job waits until it is raised by all of it

}  // namespace

void Ordering::restore(std::string_view key, std::string_view text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const std::string prefix = Ordering::key("");
  if (!document.is_object() || !key.starts_with(prefix)) return;
  const auto whole = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  own_[std::string(key.substr(prefix.size()))] = {at(whole("submitted_s")), whole("last"),
                                                  whole("before"), whole("left_alone") != 0};
}

void Ordering::keep(const std::string& id) {
  const Own& own = own_.at(id);
  const nlohmann::json document{{"submitted_s", seconds_of(own.submitted)},
                                {"last", own.last},
                                {"before", own.before},
                                {"left_alone", own.left_alone ? 1 : 0}};
  kept_.emplace_back(key(id), document.dump());
}

Ordering::Own& Ordering::own(const std::string& id, SimTime submitted) {
  Own& own = own_[id];
  if (own.submitted != submitted) own = {.submitted = submitted};  // ids come again
  return own;
}

Ordering::Pool& Ordering::pool(const std::string& name) {
  const auto [found, fresh] = pools_.try_emplace(name);
  if (fresh) found->second.estimator = setup_.estimator;
  return found->second;
}

void Ordering::enter(const KnownJob& job, const SeenJob& seen, SimTime now) {
  const auto [found, fresh] = waiting_.try_emplace(job.number);
  if (!fresh) return;
  Waiting& waiting = found->second;
  waiting.id = seen.id;
  waiting.pool = seen.partition;
  waiting.job = job;
  waiting.job.id = waiting.id;
  waiting.seen = seen.order;
  waiting.fixed = seen.fixed;
  due_.emplace(now, job.number);
  const auto own = own_.find(seen.id);
  const bool is_known = own != own_.end() && own->second.submitted == seen.submitted;
  if (!waiting.fixed && is_left_alone(waiting) && !(is_known && own->second.left_alone))
    leave_alone({.kind = ActionKind::set_order, .job = seen.id, .submitted = seen.submitted});
}

void Ordering::alter(std::uint64_t number, const SeenJob& before, const SeenJob& seen) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  found->second.fixed = seen.fixed;
  if (before.order == seen.order || seen.fixed || before.fixed) {
    found->second.seen = seen.order;
    return;
  }
  found->second.seen = seen.order;
  Own& own = this->own(seen.id, seen.submitted);
  if (own.left_alone || seen.order == own.last || seen.order == own.before) return;
  own.left_alone = true;
  keep(seen.id);
}

void Ordering::leave_alone(const ActionCall& call) {
  own(call.job, call.submitted).left_alone = true;
  keep(call.job);
}

void Ordering::sets(const std::string& id, SimTime submitted, std::int64_t order) {
  Own& own = this->own(id, submitted);
  own.before = std::exchange(own.last, order);
  keep(id);
}

void Ordering::forget(const std::string& id) {
  if (own_.erase(id) > 0) kept_.emplace_back(key(id), "");
}

void Ordering::learn(const std::string& pool, const FinishedJob& job) {
  Pool& learning = this->pool(pool);
  if (!learning.estimator) return;
  learning.estimator.learn(job);
  learning.users.insert(job.job.user);
}

/// 0 is nobody's.
bool Ordering::is_left_alone(const Waiting& job) const {
  if (job.fixed) return true;
  const auto own = own_.find(job.id);
  if (own == own_.end() || own->second.submitted != job.job.submit) return job.seen != 0;
  return own->second.left_alone ||
         (job.seen != 0 && job.seen != own->second.last && job.seen != own->second.before);
}

std::int64_t Ordering::step() const { return std::max<std::int64_t>(1, setup_.span / steps); }

std::int64_t Ordering::by_work(double work) const {
  const double least = setup_.least_work;
  const double share =
      1 - std::log(std::max(work, least) / least) / std::log(setup_.most_work / least);
  return static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(setup_.span));
}

/// Of the known ones that wait there; -1: there is none.
std::int64_t Ordering::middle(const std::string& pool) const {
  std::vector<std::int64_t> known;
  for (const auto& [number, job] : waiting_)
    if (job.pool == pool && job.by_work >= 0) known.push_back(job.by_work);
  if (known.empty()) return -1;
  const auto half = known.begin() + std::ssize(known) / 2;
  std::ranges::nth_element(known, half);
  return *half;
}

/// Nothing where nobody knows.
std::optional<Prediction> Ordering::expected(const Waiting& job, SimTime now,
                                             const Prediction* advice) {
  if (advice != nullptr) return *advice;
  Pool& pool = this->pool(job.pool);
  if (!pool.users.contains(job.job.user)) return std::nullopt;
  return pool.estimator({job.job, now});
}

void Ordering::expect(Waiting& job, SimTime now, const Prediction* advice) {
  job.by_work = -1;
  const auto prediction = expected(job, now, advice);
  if (!prediction) return;
  const JobInfo info = entering_job(job.job, *prediction, now);
  job.by_work = by_work(setup_.work(info));
  job.why = fmt::format("expected to run for {} on {}", in_words(info.estimate),
                        counted(info.gpus, "GPU"));
}

void Ordering::look(Waiting& job, SimTime now, Middles& middles) {
  const std::int64_t before = std::exchange(job.wish, job.seen);
  job.looked_at = true;
  if (is_left_alone(job)) return;
  if (job.by_work < 0) {
    const auto [found, fresh] = middles.try_emplace(job.pool);
    if (fresh) found->second = middle(job.pool);
    if (found->second < 0) return;
    job.why = "nothing is known of it yet: the middle of those that wait";
  }
  const double waited = static_cast<double>((now - job.job.submit).count()) /
                        static_cast<double>(setup_.ageing.count());
  std::int64_t order = job.by_work >= 0 ? job.by_work : middles.at(job.pool);
  order +=
      static_cast<std::int64_t>(std::clamp(waited, 0.0, 1.0) * static_cast<double>(setup_.span));
  order = std::max(before, std::min(order, setup_.span) / step() * step());
  if (order >= job.seen + step()) job.wish = order;
}

std::vector<Ordering::Wish> Ordering::wishes(SimTime now, const Advice& advice) {
  const Seconds look_again = std::max(setup_.ageing / looks, Seconds(1));
  std::vector<std::uint64_t> looked_at;
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::uint64_t number = due_.begin()->second;
    due_.erase(due_.begin());
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) continue;  // it waits no more
    expect(found->second, now, advice ? advice(found->second.id) : nullptr);
    looked_at.push_back(number);
    due_.emplace(now + look_again, number);
  }
  Middles middles;
  for (const std::uint64_t number : looked_at) {
    Waiting& job = waiting_.at(number);
    const std::int64_t before = job.wish;
    look(job, now, middles);
    // What came to nothing, or is only recorded, is not wished for again until it is another wish.
    if (job.wish != job.seen && job.wish != before) fresh_.push_back(number);
  }
  std::vector<Wish> wishes;
  while (!fresh_.empty() && wishes.size() < setup_.most_at_once) {
    const std::uint64_t number = fresh_.front();
    fresh_.pop_front();
    const auto found = waiting_.find(number);
    if (found == waiting_.end() || found->second.wish == found->second.seen) continue;
    const Waiting& job = found->second;
    wishes.push_back({number, job.id, job.wish, job.why, job.by_work >= 0});
  }
  return wishes;
}

std::optional<Ordering::WouldBe> Ordering::would_be(std::uint64_t number) const {
  const auto found = waiting_.find(number);
  if (found == waiting_.end() || !found->second.looked_at) return std::nullopt;
  return WouldBe{found->second.wish, found->second.by_work >= 0};
}

std::optional<Ordering::Place> Ordering::place(std::uint64_t number) const {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return std::nullopt;
  const Waiting& job = found->second;
  Place place{1, 1, 0};
  const auto is_before = [&](const Waiting& other, std::uint64_t its, std::int64_t lead) {
    return lead > 0 ||
           (lead == 0 && std::pair(other.job.submit, its) < std::pair(job.job.submit, number));
  };
  for (const auto& [its, other] : waiting_) {
    if (other.pool != job.pool) continue;
    ++place.of;
    place.now += is_before(other, its, other.seen - job.seen) ? 1 : 0;
    place.would_be += is_before(other, its, other.wish - job.wish) ? 1 : 0;
  }
  return place;
}

}  // namespace schedmate::live
