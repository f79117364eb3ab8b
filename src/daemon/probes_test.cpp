// SPDX-License-Identifier: Apache-2.0
#include "daemon/probes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/probe_desk.hpp"
#include "live/jobs.hpp"
#include "tests/support/near.hpp"

namespace schedmate::daemon {
namespace {

constexpr std::int64_t wall_s = 1'790'000'000;
const SimTime now = at(5000);
constexpr Probes::Now both{wall_s, at(5000)};

SeenJob running(const std::string& id, const std::string& node, std::vector<std::int32_t> gpus) {
  SeenJob job;
  job.id = id;
  job.user = "ann";
  job.gpus = static_cast<std::int32_t>(gpus.size());
  job.submitted = at(1000);
  job.phase = JobPhase::running;
  job.started = at(4000);
  job.nodes = {{node, std::move(gpus)}};
  return job;
}

probe::GpuSample gpu(unsigned index, double used_pct) {
  probe::GpuSample made;
  made.index = index;
  made.used_pct = used_pct;
  made.memory_busy_pct = used_pct / 2;
  made.memory_used_mib = 1000;
  made.memory_total_mib = 4000;
  made.ecc_uncorrected = 0;
  return made;
}

probe::Report report(std::vector<probe::GpuSample> gpus, std::int64_t at_s = wall_s) {
  probe::Report made;
  made.samples.push_back({at_s, "", std::move(gpus)});
  return made;
}

std::string says(const std::vector<live::NodeWitness>& witnesses) {
  std::string all;
  for (const auto& each : witnesses) all += fmt::format("{} {}; ", each.source, each.says);
  return all;
}

}  // namespace

TEST_CASE("samples go to the job that holds the GPU") {
  Probes probes;
  probes.follow(running("7", "n1", {0, 1}), now);
  probes.follow(running("8", "n1", {2}), now);
  (void)probes.take("n1", report({gpu(0, 80), gpu(1, 60), gpu(2, 10), gpu(3, 99)}), both);
  const auto* const use = probes.use_of(running("7", "n1", {0, 1}));
  REQUIRE(use != nullptr);
  CHECK(testing::near(use->summary().gpu_pct_mean, 70, 1e-9, 0));
  CHECK(use->series().at(0).at_s == 1000);
  CHECK(probes.use_of(running("8", "n1", {2}))->summary().gpu_pct_mean == 10.0);
  CHECK(probes.use_of(running("9", "n1", {3})) == nullptr);
}

TEST_CASE(
    "time between samples that follow each other is measured, and idle if both show nothing") {
  Probes probes;
  SeenJob job = running("7", "n1", {0, 1});
  probes.follow(job, now);
  const auto tell = [&](double first, double second, std::int64_t ago_s) {
    (void)probes.take("n1", report({gpu(0, first), gpu(1, second)}, wall_s - ago_s), both);
    const probe::GpuSpans spans = probes.spans(job);
    return std::pair{spans.measured_s, spans.idle_s};
  };
  using Spans = std::pair<std::int64_t, std::int64_t>;
  CHECK(tell(0, 90, 900) == Spans{0, 0});
  CHECK(tell(0, 90, 890) == Spans{20, 10});
  CHECK(tell(0, 90, 890) == Spans{20, 10});  // the same once more
  CHECK(tell(40, 0, 870) == Spans{60, 10});  // one was missed
  CHECK(tell(0, 0, 840) == Spans{60, 10});   // two were: who knows
  CHECK(tell(0, 0, 830) == Spans{80, 30});
  SeenJob next = job;
  next.restarts = 1;
  CHECK(probes.spans(next).measured_s == 0);  // it is of another run
  next.started = now - Seconds(825);
  probes.follow(next, now);
  job = next;
  CHECK(tell(0, 0, 820) == Spans{0, 0});  // the last sample was before its start
  CHECK(tell(0, 0, 810) == Spans{20, 20});
}

TEST_CASE("a sample that comes late goes to the job of its time") {
  Probes probes;
  SeenJob first = running("7", "n1", {0});
  probes.follow(first, now);
  first.phase = JobPhase::ended;
  first.ended = at(4500);
  probes.follow(first, now);
  SeenJob second = running("8", "n1", {0});
  second.started = at(4600);
  probes.follow(second, now);
  (void)probes.take("n1", report({gpu(0, 80)}, wall_s - 600), both);  // at 4400
  (void)probes.take("n1", report({gpu(0, 20)}, wall_s - 450), both);  // at 4550: nobody
  (void)probes.take("n1", report({gpu(0, 40)}, wall_s - 300), both);  // at 4700
  CHECK(probes.use_of(first)->summary().gpu_pct_max == 80.0);
  CHECK(probes.use_of(first)->summary().readings == 1);
  CHECK(probes.use_of(second)->summary().gpu_pct_max == 40.0);
  CHECK(probes.use_of(second)->summary().readings == 1);
}

TEST_CASE("a profile is what a job did alone, and stays for its next attempt") {
  Probes probes;
  SeenJob job = running("7", "n1", {0});
  probes.follow(job, now);
  CHECK(probes.profile(job) == nullptr);
  for (int i = 0; i < 5; ++i)
    (void)probes.take("n1", report({gpu(0, 70)}, wall_s - std::int64_t{10} * i), both);
  const Profile* const profile = probes.profile(job);
  REQUIRE(profile != nullptr);
  CHECK(profile->gpu_util_pct == 70);
  CHECK(profile->memory_util_pct == 35);
  CHECK(profile->memory_mib >= 1000);
  CHECK(profile->sharing_score == 2);
  // Another job comes onto its GPU: what is measured now is of both.
  probes.follow(running("8", "n1", {0}), now);
  for (int i = 0; i < 50; ++i) (void)probes.take("n1", report({gpu(0, 100)}), both);
  CHECK(probes.profile(job) == profile);
  CHECK(probes.profile(running("8", "n1", {0})) == nullptr);
  // Sent back and started again: nothing is measured yet, but it was.
  job.phase = JobPhase::queued;
  job.restarts = 1;
  probes.follow(job, now);
  CHECK(probes.profile(job) == profile);
  job.phase = JobPhase::running;
  job.started = at(4990);
  probes.follow(job, now);
  CHECK(probes.use_of(job) == nullptr);
  CHECK(probes.profile(job) == profile);
}

TEST_CASE("who was sent back shares nothing with those who come after") {
  Probes probes;
  SeenJob job = running("7", "n1", {0});
  probes.follow(job, at(4000));
  job.phase = JobPhase::queued;
  job.restarts = 1;
  probes.follow(job, at(4500));
  SeenJob next = running("8", "n1", {0});
  next.started = at(4500);
  probes.follow(next, at(4501));
  job.phase = JobPhase::running;
  job.started = at(4500);
  job.nodes = {{"n2", {0}}};
  probes.follow(job, at(4502));
  for (int i = 0; i < 5; ++i) (void)probes.take("n1", report({gpu(0, 70)}), both);
  CHECK(probes.use_of(next)->summary().shared_pct == 0);
  CHECK(probes.profile(next) != nullptr);
  CHECK(probes.use_of(job) == nullptr);
}

TEST_CASE("a job of the same id is another job") {
  Probes probes;
  SeenJob job = running("7", "n1", {0});
  probes.follow(job, now);
  for (int i = 0; i < 5; ++i) (void)probes.take("n1", report({gpu(0, 70)}), both);
  job.submitted = at(4900);
  CHECK(probes.use_of(job) == nullptr);
  CHECK(probes.profile(job) == nullptr);
  job.started = at(4950);
  probes.follow(job, now);
  CHECK(probes.use_of(job) == nullptr);
}

TEST_CASE("jobs that are gone are forgotten") {
  Probes probes;
  probes.follow(running("7", "n1", {0}), now);
  (void)probes.take("n1", report({gpu(0, 70)}), both);
  probes.keep_only(live::Jobs());
  CHECK(probes.use_of(running("7", "n1", {0})) == nullptr);
  (void)probes.take("n1", report({gpu(0, 70)}), both);  // it holds nothing any more
}

TEST_CASE("what speaks against a node") {
  Probes probes;
  auto sick = gpu(3, 50);
  sick.ecc_uncorrected = 5;
  sick.nvlink_recoveries = 2;
  CHECK(says(probes.take("n1", report({sick}, wall_s - 30), both)).empty());  // since when?
  CHECK(says(probes.take("n1", report({sick}, wall_s - 20), both)).empty());
  sick.ecc_uncorrected = 6;
  auto witnesses = probes.take("n1", report({sick}, wall_s - 10), both);
  REQUIRE(witnesses.size() == 1);
  CHECK(witnesses[0].source == "gpu");
  CHECK(witnesses[0].node == "n1");
  CHECK(witnesses[0].when == now - Seconds(10));
  CHECK(witnesses[0].says.contains("GPU 3: new uncorrectable"));
  CHECK(witnesses[0].is_weak());  // it was counted; who knows whom it harmed
  sick.ecc_uncorrected = 0;       // the driver was loaded again
  CHECK(says(probes.take("n1", report({sick}, wall_s - 9), both)).empty());
  sick.lost = true;
  sick.nvlink_recoveries = 3;
  const auto text = says(probes.take("n1", report({sick}, wall_s - 8), both));
  CHECK(text.contains("GPU 3 does not answer"));
  CHECK(text.contains("NVLink"));
  probe::Report hanging;
  hanging.samples.push_back({wall_s, "the driver hangs", {}});
  CHECK(says(probes.take("n1", hanging, both)).contains("the driver hangs"));
  CHECK(
      probes.state_of("n1", wall_s)["gpus_state"].is_null());  // what was there is no present state
  CHECK(says(probes.take("n2", hanging, both)).empty());       // it never had GPUs
}

TEST_CASE("kernel events: faults are witnesses, an application's Xids are not") {
  Probes probes;
  probe::Report told;
  told.samples.push_back({wall_s, "", {gpu(3, 1)}});
  for (const auto& [xid, severity] :
       {std::pair{79U, probe::Severity::fault}, std::pair{31U, probe::Severity::application}}) {
    probe::KernelEvent event;
    event.at_s = wall_s - 5;
    event.rule = fmt::format("xid {}", xid);
    event.xid = xid;
    event.gpu = 3;
    event.severity = severity;
    told.events.push_back(event);
  }
  const auto witnesses = probes.take("n1", told, both);
  REQUIRE(witnesses.size() == 1);
  CHECK(witnesses[0].source == "kernel");
  CHECK(witnesses[0].says.contains("xid 79 (GPU 3)"));
  const Document state = probes.state_of("n1", wall_s);
  CHECK(state["gpus_state"][0]["xid"].size() == 2);
}

TEST_CASE("a silent probe is no healthy node") {
  Probes probes;
  CHECK(probes.is_silent("n1", wall_s));
  CHECK(probes.state_of("n1", wall_s)["probe"]["silent"] == true);
  CHECK(probes.state_of("n1", wall_s)["probe"]["last_s"].is_null());
  (void)probes.take("n1", report({gpu(0, 70)}), both);
  CHECK_FALSE(probes.is_silent("n1", wall_s + 30));
  CHECK(probes.state_of("n1", wall_s)["gpus_state"][0]["used_pct"] == 70.0);
  CHECK(probes.state_of("n1", wall_s)["gpus_state"][0]["memory_pct"] == 25.0);
  CHECK(probes.is_silent("n1", wall_s + 60));
  CHECK(probes.state_of("n1", wall_s + 60)["gpus_state"].is_null());
  CHECK(probes.state_of("n1", wall_s + 60)["probe"]["last_s"] == wall_s);
}

TEST_CASE("a clock that lies in a sample does not blind the rest") {
  Probes probes;
  (void)probes.take("n1", report({gpu(0, 1)}, INT64_MAX), both);
  (void)probes.take("n1", report({gpu(0, 2)}, INT64_MIN), both);
  (void)probes.take("n1", report({gpu(0, 70)}), both);
  CHECK(probes.state_of("n1", wall_s)["gpus_state"][0]["used_pct"] == 70.0);
}

TEST_CASE("10,000 nodes of 8 GPUs") {
  Probes probes;
  const auto name = [](int i) { return fmt::format("n{}", i); };
  for (int i = 0; i < 10'000; ++i)
    probes.follow(running(std::to_string(i), name(i), {0, 1, 2, 3, 4, 5, 6, 7}), now);
  std::vector<probe::GpuSample> gpus;
  for (unsigned i = 0; i < 8; ++i) gpus.push_back(gpu(i, 50));
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 10'000; ++i)
      CHECK(probes.take(name(i), report(gpus, wall_s - 10 + round), both).empty());
  CHECK(probes.use_of(running("9999", name(9999), {0}))->summary().readings == 24);
}

TEST_CASE("the desk takes what is proved, of nodes that are there, once") {
  const std::string secret(40, 's');
  ProbeDesk desk(secret, "abcd");
  const ProbeDesk::Nodes nodes{{"n1", {.name = "n1", .partition = "p", .gpus = 8, .reason = ""}}};
  const auto send = [&](const std::string& node, const std::string& signer, std::uint64_t counter,
                        const std::string& body) {
    http::Request request;
    request.body =
        probe::sealed({node, wall_s, "abcd", counter, body}, probe::derive_key(secret, signer).key);
    auto checked = desk.check(request, wall_s);
    if (auto* const refused = std::get_if<http::Reply>(&checked)) return refused->status;
    return desk.take(std::get<ProbeMessage>(checked), nodes, both).reply.status;
  };
  const std::string good = probe::report_text(report({gpu(0, 70)}));
  CHECK(send("n1", "n1", 1, good) == 200);
  CHECK(send("n1", "n1", 1, good) == 409);
  CHECK(send("n1", "n2", 2, good) == 401);
  CHECK(send("n2", "n2", 1, good) == 404);
  CHECK(send("n1", "n1", 2, "{") == 400);
  CHECK(send("n1", "n1", 2, std::string(300'000, '[')) == 400);
  http::Request garbage;
  garbage.body = std::string(1000, '\xff');
  CHECK(std::get<http::Reply>(desk.check(garbage, wall_s)).status == 400);
  ProbeDesk closed("", "abcd");
  CHECK(std::get<http::Reply>(closed.check(garbage, wall_s)).status == 501);
  const auto metrics = desk.metrics(nodes, wall_s);
  REQUIRE(metrics.size() == 3);
  CHECK(metrics[0].values.at(0).second == 0);  // n1 speaks
  CHECK(desk.metrics(nodes, wall_s + 100)[0].values.at(0).second == 1);
  double refused = 0;
  for (const auto& [verdict, count] : metrics[1].values)
    if (verdict != "taken") refused += count;
  CHECK(refused == 6);
}

TEST_CASE("uses of jobs go on after a restart, and those of other attempts do not") {
  Probes probes;
  const SeenJob job = running("1", "a", {0}), other = running("2", "a", {1});
  for (const SeenJob& each : {job, other}) probes.follow(each, now);
  probes.take("a", report({gpu(0, 60), gpu(1, 80)}), both);
  Document kept = Document::parse(probes.kept().dump());
  for (const char* text : {"1", "{}", R"({"job": 7})", R"({"job": "3", "submitted_s": 1})"})
    kept.push_back(Document::parse(text));
  Probes again;
  again.restore(kept);
  SeenJob second = other;
  second.restarts = 1;
  for (const SeenJob& each : {job, second}) again.follow(each, now);
  REQUIRE(again.use_of(job) != nullptr);
  CHECK(use_document(*again.use_of(job)) == use_document(*probes.use_of(job)));
  CHECK((again.use_of(second) == nullptr || again.use_of(second)->summary().readings == 0));
  again.take("a", report({gpu(0, 60)}), both);
  CHECK(again.use_of(job)->summary().readings == 2);
  again.restore(Document());
}

}  // namespace schedmate::daemon
