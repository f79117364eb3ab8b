// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <schedmate/workload.hpp>
#include <set>
#include <tuple>

#include "base/random.hpp"
#include "base/sha256.hpp"
#include "core/facts_json.hpp"
#include "tests/support/near.hpp"
#include "tests/support/places.hpp"

namespace schedmate::workload {
namespace {

using testing::data;
using testing::near;

struct Files {
  Recipe recipe;
  InterferenceModel interference = read_interference(data + "interference.toml").value();
  ExtractionErrors errors = read_extraction_errors(data + "extraction_errors.toml").value();
  explicit Files(const std::string& name = "heavy")
      : recipe(read_recipe(data + "recipes/" + name + ".toml").value()) {}
  Workload make(const Trace& trace, const WorkloadOptions& options = {}) const {
    return make_workload(trace, {recipe, interference, errors}, options).value();
  }
};

/// Users submit in bursts, with pauses of hours between.
Trace random_trace(std::uint64_t seed, std::size_t rows = 3000) {
  Random random(seed);
  Trace trace;
  for (int user = 0; user < 20; ++user) trace.users.push_back(fmt::format("u{}", user));
  trace.vcs = {"a", "b"};
  std::int64_t now_s = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    now_s += random.below(200);
    Job job;
    job.user = static_cast<std::uint32_t>(random.below(20));
    job.vc = static_cast<std::uint32_t>(random.below(2));
    job.gpus = 1 << random.below(6);
    job.submit = at(now_s);
    job.duration = Seconds(1 + random.below(100'000));
    trace.jobs.push_back(job);
  }
  return trace;
}

std::string text_of(const Workload& workload, std::size_t row) {
  const JobPlace place = place_at(workload, workload.place_of_row[row]);
  std::string text = place.root + " " + place.command;
  for (const auto& [name, fact] : facts_at(workload, workload.facts_of_row[row]).facts)
    text += fmt::format(" {}={}", name, value_text(fact.value));
  return text;
}

std::string value_at(const Workload& workload, std::size_t row, std::string_view field) {
  const Facts facts = facts_at(workload, workload.facts_of_row[row]);
  return value_text(facts.facts.find(field)->second.value);
}

TEST_CASE("a trace with profiles of its own says what its jobs are, once for equal ones") {
  Trace trace = random_trace(5, 4);
  PackingTables tables;
  tables.profiles.resize(2);
  tables.profiles[0].model = "ResNet-18";
  tables.profiles[0].dataset = "CIFAR-10";
  tables.profiles[0].batch_size = 64;
  tables.profiles[1].model = "BERT";
  tables.profiles[1].mixed_precision = true;
  trace.packing = std::make_shared<const PackingTables>(tables);
  for (Job& job : trace.jobs) job.gpus = 16;
  trace.jobs[0].user = trace.jobs[1].user = 3;
  trace.jobs[0].profile = trace.jobs[1].profile = 0;
  trace.jobs[2].profile = 1;
  const Workload workload = workload_of_profiles(trace);
  CHECK(workload.tables == nullptr);
  CHECK(workload.facts.size() == 3);
  CHECK(text_of(workload, 0) == text_of(workload, 1));
  CHECK(text_of(workload, 0)
            .starts_with(
                "/trace/u3/resnet-18 python resnet-18.py --dataset CIFAR-10 --batch-size 64 "));
  CHECK(text_of(workload, 0).find("precision=fp32") != std::string::npos);
  CHECK(text_of(workload, 2).find("model_name=BERT") != std::string::npos);
  CHECK(text_of(workload, 2).find("--amp") != std::string::npos);
  CHECK(text_of(workload, 3).find("gpus=16") != std::string::npos);
  CHECK(text_of(workload, 3).find("model_name=BERT") == std::string::npos);
}

TEST_CASE("of a trace with more values than there are numbers the rest is not known") {
  constexpr std::uint32_t most = 65'535;
  Trace trace = random_trace(5, most + 2);
  PackingTables tables;
  tables.profiles.resize(most + 2);
  for (std::uint32_t i = 0; i < most + 2; ++i) {
    tables.profiles[i].dataset = fmt::format("d{}", i);
    trace.jobs[i].profile = i;
  }
  trace.packing = std::make_shared<const PackingTables>(tables);
  const Workload workload = workload_of_profiles(trace);
  CHECK(value_at(workload, 0, "dataset") == "d0");
  CHECK(value_at(workload, most - 1, "dataset") == "d65534");
  CHECK(value_at(workload, most, "dataset").empty());
  CHECK(value_at(workload, most + 1, "dataset").empty());
}

}  // namespace

TEST_CASE("a template ends after an hour without a submission, or when durations differ") {
  Trace trace;
  const auto add = [&](std::int64_t submit_s, std::int64_t duration_s, int gpus) {
    Job job;
    job.gpus = gpus;
    job.submit = at(submit_s);
    job.duration = Seconds(duration_s);
    trace.jobs.push_back(job);
  };
  add(0, 100, 1);
  add(3600, 1000, 1);  // an hour is not over one
  add(3700, 1000, 2);  // another shape
  add(7201, 1000, 1);  // an hour and a second after the last of this shape
  add(7301, 500, 1);   // half as long
  add(7401, 1001, 1);  // over twice as long
  CHECK(cut_templates(trace, TemplateCut::by_gap) == std::vector<std::uint32_t>{0, 0, 1, 2, 2, 2});
  CHECK(cut_templates(trace, TemplateCut::by_duration) ==
        std::vector<std::uint32_t>{0, 1, 2, 1, 1, 3});
}

TEST_CASE("the same seed gives the same workload, another seed another one") {
  const Files files;
  const Trace trace = random_trace(1);
  WorkloadOptions other;
  other.seed = 2;
  const Workload one = files.make(trace);
  const Workload two = files.make(trace);
  const Workload three = files.make(trace, other);
  CHECK(one.profile_of_row == two.profile_of_row);
  CHECK(one.profile_of_row != three.profile_of_row);
  for (std::size_t row = 0; row < trace.jobs.size(); row += 7)
    CHECK(text_of(one, row) == text_of(two, row));
}

TEST_CASE("models are drawn by GPU count and kept by the template") {
  const Files files;
  const Trace trace = random_trace(2);
  const Workload workload = files.make(trace);
  std::map<std::uint32_t, std::uint32_t> profile_of_template;
  std::set<std::uint32_t> used;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const std::uint32_t profile = workload.profile_of_row[row];
    const RecipeModel& model = workload.models[workload.times[profile].model];
    CHECK(trace.jobs[row].gpus >= model.gpus_min);
    CHECK(trace.jobs[row].gpus <= model.gpus_max);
    CHECK(workload.tables->profiles[profile].model == model.name);
    const auto [kept, fresh] =
        profile_of_template.try_emplace(workload.template_of_row[row], profile);
    CHECK(kept->second == profile);
    used.insert(profile);
  }
  CHECK(used.size() > workload.tables->profiles.size() * 3 / 4);
}

TEST_CASE("by gap, nothing of a workload depends on durations") {
  const Files files("light");
  Trace trace = random_trace(3);
  const Workload before = files.make(trace);
  Random random(9);
  for (Job& job : trace.jobs) job.duration = Seconds(random.below(1'000'000));
  const Workload after = files.make(trace);
  CHECK(before.template_of_row == after.template_of_row);
  CHECK(before.profile_of_row == after.profile_of_row);
  CHECK(before.facts_of_row == after.facts_of_row);
  CHECK(before.facts == after.facts);
  CHECK(before.place_of_row == after.place_of_row);
  CHECK(before.places == after.places);
}

TEST_CASE("without errors the Advisor reads what the job is") {
  const Files files;
  const Trace trace = random_trace(4);
  WorkloadOptions options;
  options.errors = 0;
  const Workload workload = files.make(trace, options);
  for (std::size_t row = 0; row < trace.jobs.size(); row += 11) {
    const Profile& profile = workload.tables->profiles[workload.profile_of_row[row]];
    CHECK(value_at(workload, row, "model_name") == profile.model);
    CHECK(value_at(workload, row, "dataset") == profile.dataset);
    CHECK(value_at(workload, row, "batch_size") == fmt::format("{}", profile.batch_size));
    CHECK(value_at(workload, row, "gpus") == fmt::format("{}", trace.jobs[row].gpus));
    CHECK(value_at(workload, row, "nodes") == fmt::format("{}", (trace.jobs[row].gpus + 7) / 8));
    CHECK((value_at(workload, row, "distributed") == "none") == (trace.jobs[row].gpus == 1));
    const JobPlace place = place_at(workload, workload.place_of_row[row]);
    const std::string length = value_at(workload, row, "length");
    CHECK(place.command.find("--epochs " + length.substr(0, length.find(' '))) !=
          std::string::npos);
    CHECK(place.command.find(" --lr " + value_at(workload, row, "learning_rate") + " ") !=
          std::string::npos);
    CHECK(place.root.starts_with(fmt::format("/syn/u{}/", trace.jobs[row].user)));
  }
}

TEST_CASE("a resubmission changes seed, learning rate and length as often as the recipe says") {
  const Files files("light");
  const Trace trace = random_trace(5, 20'000);
  WorkloadOptions options;
  options.errors = 0;
  const Workload workload = files.make(trace, options);
  std::map<std::uint32_t, std::size_t> last;
  double again = 0;
  double seed = 0;
  double length = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const auto [at, fresh] = last.try_emplace(workload.template_of_row[row], row);
    const PlaceCode& now = workload.places[workload.place_of_row[row]];
    const PlaceCode& before = workload.places[workload.place_of_row[at->second]];
    at->second = row;
    if (fresh) continue;
    CHECK(now.user == before.user);
    CHECK(now.project == before.project);
    CHECK(now.profile == before.profile);
    ++again;
    seed += now.seed != before.seed ? 1 : 0;
    length += now.length != before.length ? 1 : 0;
  }
  CHECK(near(seed / again, files.recipe.resubmission.seed, 0.05, 0));
  CHECK(length / again > 0.5 * files.recipe.resubmission.length);
  CHECK(length / again < 1.2 * files.recipe.resubmission.length);
}

TEST_CASE("equal metadata is kept once") {
  const Files files;
  const Trace trace = random_trace(6);
  const Workload workload = files.make(trace);
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const std::pair numbers(workload.facts_of_row[row], workload.place_of_row[row]);
    const auto [at, fresh] = seen.try_emplace(text_of(workload, row), numbers);
    CHECK(at->second == numbers);
  }
  CHECK(seen.size() > 500);
  CHECK(workload.facts.size() < seen.size());
}

TEST_CASE("a template is misread in one way") {
  const Files files;
  const Trace trace = random_trace(7);
  const Workload workload = files.make(trace);
  std::map<std::uint32_t, std::size_t> first;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const auto [at, fresh] = first.try_emplace(workload.template_of_row[row], row);
    if (fresh) continue;
    for (const char* field : {"model_name", "dataset", "batch_size", "precision", "optimizer"})
      CHECK(value_at(workload, row, field) == value_at(workload, at->second, field));
  }
}

TEST_CASE("errors come at the measured rates, and twice as often when doubled") {
  const Files files("light");
  const Trace trace = random_trace(8, 40'000);
  WorkloadOptions options;
  options.cut = TemplateCut::by_duration;  // many templates
  options.errors = 0;
  const Workload truth = files.make(trace, options);
  for (const double factor : {1.0, 2.0}) {
    options.errors = factor;
    const Workload seen = files.make(trace, options);
    std::set<std::uint32_t> templates;
    double count = 0;
    double missing = 0;
    double wrong = 0;
    for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
      if (!templates.insert(seen.template_of_row[row]).second) continue;
      const FactCodes& ours = seen.facts[seen.facts_of_row[row]];
      const FactCodes& real = truth.facts[truth.facts_of_row[row]];
      constexpr std::size_t dataset = 5;
      REQUIRE(workload_fields[dataset] == "dataset");
      ++count;
      missing += ours[dataset] == 0 ? 1 : 0;
      wrong += ours[dataset] != 0 && ours[dataset] != real[dataset] ? 1 : 0;
    }
    REQUIRE(count > 5000);
    const auto rates = std::ranges::find(files.errors.fields, "dataset", &FieldErrors::field);
    CHECK(near(missing / count, factor * rates->missing, 0.08, 0));
    CHECK(near(wrong / (count - missing), factor * rates->wrong, 0.25, 0));
  }
}

TEST_CASE("with all noise every fact that has another value is another one") {
  const Files files("light");
  const Trace trace = random_trace(9);
  WorkloadOptions options;
  options.errors = 0;
  const Workload truth = files.make(trace, options);
  options.noise = 1;
  const Workload seen = files.make(trace, options);
  for (std::size_t row = 0; row < trace.jobs.size(); row += 3) {
    CHECK(value_at(seen, row, "model_name") != value_at(truth, row, "model_name"));
    CHECK(value_at(seen, row, "dataset") != value_at(truth, row, "dataset"));
    CHECK(value_at(seen, row, "gpus") == value_at(truth, row, "gpus"));
  }
  CHECK(seen.profile_of_row == truth.profile_of_row);
}

TEST_CASE("a shuffle keeps what there is for each GPU count, and the true profiles") {
  const Files files;
  const Trace trace = random_trace(10);
  const Workload plain = files.make(trace);
  for (const MetadataShuffle shuffle : {MetadataShuffle::metadata, MetadataShuffle::all}) {
    WorkloadOptions options;
    options.shuffle = shuffle;
    const Workload mixed = files.make(trace, options);
    using Seen = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;
    std::map<int, Seen> before;
    std::map<int, Seen> after;
    std::size_t moved = 0;
    for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
      // Facts alone lose their place; facts, directory and command stay together.
      const bool all = shuffle == MetadataShuffle::all;
      before[trace.jobs[row].gpus].emplace(plain.facts_of_row[row],
                                           all ? plain.place_of_row[row] : 0);
      after[trace.jobs[row].gpus].emplace(mixed.facts_of_row[row],
                                          all ? mixed.place_of_row[row] : 0);
      moved += plain.facts_of_row[row] != mixed.facts_of_row[row] ? 1 : 0;
    }
    CHECK(before == after);
    CHECK(moved > trace.jobs.size() * 3 / 4);
    CHECK(mixed.profile_of_row == plain.profile_of_row);
    CHECK(mixed.template_of_row == plain.template_of_row);
    CHECK((mixed.place_of_row == plain.place_of_row) == (shuffle == MetadataShuffle::metadata));
  }
}

TEST_CASE("a shuffle among a user's own jobs leaves to each what was the user's") {
  const Files files;
  const Trace trace = random_trace(10);
  const Workload plain = files.make(trace);
  WorkloadOptions options;
  options.shuffle = MetadataShuffle::own;
  const Workload mixed = files.make(trace, options);
  using Owner = std::tuple<std::uint32_t, std::uint32_t, int>;
  using Seen = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;
  std::map<Owner, std::pair<Seen, Seen>> seen;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const Job& job = trace.jobs[row];
    auto& [before, after] = seen[{job.user, job.vc, job.gpus}];
    before.emplace(plain.facts_of_row[row], plain.place_of_row[row]);
    after.emplace(mixed.facts_of_row[row], mixed.place_of_row[row]);
  }
  for (const auto& [owner, both] : seen) CHECK(both.first == both.second);
  CHECK(mixed.place_of_row != plain.place_of_row);
}

/// Of the variance of log durations, what a straight line over log lengths explains.
double explained(const Trace& trace, const Workload& workload) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const PlaceCode& place = workload.places[workload.place_of_row[row]];
    const RecipeModel& model = workload.models[workload.times[place.profile].model];
    const double length = std::log(model.length[place.length]);
    const double run =
        std::log(std::max(1.0, static_cast<double>(trace.jobs[row].duration.count())));
    n += 1, x += length, y += run, xx += length * length, yy += run * run, xy += length * run;
  }
  const double covariance = xy - x * y / n;
  return covariance * covariance / ((xx - x * x / n) * (yy - y * y / n));
}

TEST_CASE("lengths explain as much of the durations as they are asked to") {
  const Files files;
  Trace trace = random_trace(10);
  Random random(3);
  for (Job& job : trace.jobs)
    job.duration = Seconds(static_cast<std::int64_t>(std::exp(6 + 1.5 * random.normal())));
  CHECK(explained(trace, files.make(trace)) < 0.05);
  for (const double share : {0.3, 0.6, 0.9}) {
    WorkloadOptions options;
    options.length_share = share;
    CHECK(near(explained(trace, files.make(trace, options)), share, 0, 0.06));
  }
  WorkloadOptions none;
  none.length_share = 1.5;
  CHECK_FALSE(make_workload(trace, {files.recipe, files.interference, files.errors}, none));
}

TEST_CASE("which sizes may share is a matter of the profile, and a setting") {
  const Files files;
  WorkloadOptions options;
  for (const int gpus : {8, 16}) {
    options.packed_gpus = gpus;
    const Workload workload = files.make(Trace(), options);
    CHECK(std::ranges::all_of(workload.tables->profiles,
                              [&](const Profile& each) { return each.packed_gpus == gpus; }));
  }
}

TEST_CASE("the fingerprint is that of the files") {
  const Files files;
  const WorkloadParts parts{files.recipe, files.interference, files.errors};
  CHECK(fingerprint_of(parts) ==
        sha256(files.recipe.text + files.interference.text + files.errors.text));
  Recipe other = files.recipe;
  other.text += "#";
  CHECK(fingerprint_of({other, files.interference, files.errors}) != fingerprint_of(parts));
}

TEST_CASE("factors that make no sense are refused") {
  const Files files;
  const Trace trace = random_trace(12, 10);
  const auto error = [&](const WorkloadOptions& options) {
    const auto made =
        make_workload(trace, {files.recipe, files.interference, files.errors}, options);
    return made ? "" : made.error().message;
  };
  CHECK(error({.errors = -1}).find("errors of a workload is -1") != std::string::npos);
  CHECK(error({.noise = 1.5}).find("a share from 0 to 1") != std::string::npos);
  CHECK(error({.interference = std::numeric_limits<double>::quiet_NaN()}).find("interference") !=
        std::string::npos);
  CHECK(error({.packed_gpus = -2}).find("packed_gpus") != std::string::npos);
  CHECK(error({}).empty());
}

TEST_CASE("a trace without rows makes an empty workload") {
  const Workload workload = Files().make(Trace());
  CHECK(workload.facts.empty());
  CHECK(workload.profile_of_row.empty());
  CHECK_FALSE(workload.tables->profiles.empty());
}

}  // namespace schedmate::workload
