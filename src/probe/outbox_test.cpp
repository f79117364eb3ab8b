// SPDX-License-Identifier: Apache-2.0
#include "probe/outbox.hpp"

#include <doctest/doctest.h>

namespace schedmate::probe {
namespace {

Sample sample_at(std::int64_t at_s) {
  Sample made;
  made.at_s = at_s;
  made.gpus.resize(8);
  return made;
}

KernelEvent event_of(Severity severity, std::int64_t at_s) {
  KernelEvent made;
  made.severity = severity;
  made.at_s = at_s;
  return made;
}

}  // namespace

TEST_CASE("with the daemon gone for hours it keeps the last hour and the errors") {
  Outbox outbox;
  for (std::int64_t i = 0; i < 10'000; ++i) outbox.add(sample_at(i));
  constexpr std::uint64_t kept = Outbox::most_gpu_samples / 8;
  CHECK(outbox.dropped_samples() == 10'000 - kept);
  outbox.add(event_of(Severity::fault, 1));
  for (std::int64_t i = 0; i < 10'000; ++i) outbox.add(event_of(Severity::note, i));
  outbox.add(event_of(Severity::application, 2));
  CHECK(outbox.dropped_events() == 10'002 - Outbox::most_kept_events);
  std::uint64_t samples = 0;
  std::int64_t last = 0;
  bool has_fault = false;
  bool has_application = false;
  while (!outbox.empty()) {
    const Report report = outbox.next();
    CHECK(report_text(report).size() < 400'000);
    for (const Sample& each : report.samples) {
      CHECK(each.at_s > last);
      last = each.at_s;
    }
    samples += report.samples.size();
    for (const KernelEvent& each : report.events) {
      has_fault = has_fault || each.severity == Severity::fault;
      has_application = has_application || each.severity == Severity::application;
    }
    outbox.sent(report);
  }
  CHECK(samples == kept);
  CHECK(last == 9999);
  CHECK(has_fault);
  CHECK(has_application);
}

TEST_CASE("what was not sent stays") {
  Outbox outbox;
  outbox.add(sample_at(1));
  CHECK(outbox.next().samples.size() == 1);
  CHECK(outbox.next().samples.size() == 1);
  outbox.sent(outbox.next());
  CHECK(outbox.empty());
}

TEST_CASE("waits grow, end at a minute, and differ") {
  Backoff one(1);
  Backoff other(2);
  bool differ = false;
  for (int i = 0; i < 20; ++i) {
    const auto wait = one.failed();
    const double longest_ms = 1000.0 * (1 << std::min(i, 6));
    CHECK(static_cast<double>(wait.count()) >= longest_ms / 2 - 1);
    CHECK(static_cast<double>(wait.count()) <= longest_ms);
    differ = differ || wait != other.failed();
  }
  CHECK(differ);
  one.succeeded();
  CHECK(one.failed().count() <= 1000);
}

}  // namespace schedmate::probe
