// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "tests/scenarios/scenario.hpp"
#include "tests/support/small.hpp"

namespace schedmate::scenario {
namespace {

/// The words of one line: `kind plain... key=value...`. Keeps the first complaint.
class Words {
 public:
  explicit Words(std::string_view line) {
    for (const std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      const std::size_t sign = word.find('=');
      if (kind.empty()) {
        kind = word;
      } else if (sign == std::string_view::npos || kind == "policy") {
        plain_.push_back(word);
      } else {
        named_[word.substr(0, sign)] = word.substr(sign + 1);
      }
    }
  }

  std::string_view kind;

  std::string_view next() {
    if (taken_ == plain_.size()) complain("a word is missing");
    return taken_ == plain_.size() ? std::string_view() : plain_[taken_++];
  }
  [[nodiscard]] bool more() const { return taken_ < plain_.size(); }

  std::string_view text(std::string_view key, std::string_view fallback) {
    const auto found = named_.find(key);
    if (found == named_.end()) return fallback;
    const std::string_view value = found->second;
    named_.erase(found);
    return value;
  }
  template <class Number>
  Number number(std::string_view key, Number fallback) {
    const std::string_view value = text(key, "");
    return value.empty() ? fallback : parsed<Number>(value);
  }
  template <class Number>
  Number parsed(std::string_view value) {
    const auto number = parse_number<Number>(value);
    if (!number) complain(fmt::format("'{}' is not a number", value));
    return number.value_or(Number{});
  }
  std::vector<double> list(std::string_view key) {
    std::vector<double> values;
    for (const std::string_view part : split(text(key, "0"), ','))
      values.push_back(parsed<double>(part));
    return values;
  }

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }
  /// Nothing may be left over.
  std::string complaint() {
    if (more()) complain(fmt::format("'{}' is one word too many", plain_[taken_]));
    if (!named_.empty()) complain(fmt::format("{} has no {}=", kind, named_.begin()->first));
    return complaint_;
  }

 private:
  std::vector<std::string_view> plain_;
  std::map<std::string_view, std::string_view> named_;
  std::size_t taken_ = 0;
  std::string complaint_;
};

class Reader {
 public:
  explicit Reader(Scenario& scenario) : scenario_(scenario) { scenario_.trace.users = {""}; }

  /// What is wrong with the line, or "".
  std::string read(std::string_view line) {
    Words words(line);
    if (words.kind.empty() || words.kind.starts_with('#')) return {};
    static const std::map<std::string_view, void (Reader::*)(Words&)> kinds{
        {"cluster", &Reader::cluster}, {"profile", &Reader::profile},
        {"pair", &Reader::pair},       {"forecast", &Reader::forecast},
        {"job", &Reader::job},         {"policy", &Reader::policy}};
    const auto found = kinds.find(words.kind);
    if (found == kinds.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, reader] : kinds) names.push_back(name);
      return unknown_name("line", words.kind, names);
    }
    (this->*found->second)(words);
    return words.complaint();
  }

  std::string finish() {
    if (scenario_.cluster.partitions.empty()) return "there is no `cluster` line";
    if (scenario_.policies.empty()) return "there is no `policy` line";
    scenario_.trace.columns["estimate_s"] = estimates_;
    if (!tables_.profiles.empty()) {
      scenario_.trace.packing = std::make_shared<const PackingTables>(std::move(tables_));
    }
    return {};
  }

 private:
  void cluster(Words& words) {
    PartitionSpec vc;
    vc.name = words.next();
    vc.nodes = words.number("nodes", 1);
    vc.gpus_per_node = words.number("gpus_per_node", 8);
    vc.round = Seconds(words.number<std::int64_t>("round_s", 1));
    if (vc.gpus_per_node < 1 || vc.gpus_per_node > 64) words.complain("1 to 64 GPUs per node");
    if (vc.round < Seconds(1)) words.complain("round_s is at least 1");
    scenario_.cluster.partitions.push_back(vc);
    scenario_.trace.vcs.push_back(vc.name);
  }

  void profile(Words& words) {
    Profile profile;
    profile.model = words.next();
    profile.gpu_util_pct = words.number("gpu_util_pct", 50.0);
    profile.memory_mib = words.number("memory_mib", 4000.0);
    profile.sharing_score = words.number("score", 0);
    tables_.profiles.push_back(profile);
    tables_.pairs.assign(tables_.profiles.size() * tables_.profiles.size(), PairRate());
  }

  std::uint32_t profile_index(Words& words, std::string_view name) {
    const auto found = std::ranges::find(tables_.profiles, name, &Profile::model);
    if (found == tables_.profiles.end()) words.complain(fmt::format("no profile '{}'", name));
    return static_cast<std::uint32_t>(found - tables_.profiles.begin());
  }

  void pair(Words& words) {
    const std::uint32_t newcomer = profile_index(words, words.next());
    const std::uint32_t resident = profile_index(words, words.next());
    const PairRate rate{words.parsed<double>(words.next()), words.parsed<double>(words.next())};
    const std::size_t count = tables_.profiles.size();
    if (newcomer < count && resident < count) tables_.pairs[newcomer * count + resident] = rate;
  }

  void forecast(Words& words) {
    ForecastTable table;
    table.first = at(words.number<std::int64_t>("first_s", 0));
    table.jobs = words.list("jobs");
    table.gpus = words.list("gpus");
    table.gpus.resize(table.jobs.size());
    scenario_.trace.forecast = std::make_shared<const ForecastTable>(std::move(table));
  }

  void job(Words& words) {
    Trace& trace = scenario_.trace;
    Job job;
    job.id = testing::keep(trace, words.next());
    job.submit = at(words.number<std::int64_t>("submit_s", 0));
    job.duration = Seconds(words.number<std::int64_t>("duration_s", 0));
    job.gpus = words.number("gpus", 1);
    const std::string_view first = trace.vcs.empty() ? std::string_view() : trace.vcs.front();
    const std::string_view vc = words.text("vc", first);
    job.vc = static_cast<std::uint32_t>(std::ranges::find(trace.vcs, vc) - trace.vcs.begin());
    if (job.vc == trace.vcs.size()) words.complain(fmt::format("no cluster line of VC '{}'", vc));
    const std::string user(words.text("user", ""));
    job.user =
        static_cast<std::uint32_t>(std::ranges::find(trace.users, user) - trace.users.begin());
    if (job.user == trace.users.size()) trace.users.push_back(user);
    if (const auto name = words.text("profile", ""); !name.empty()) {
      job.profile = profile_index(words, name);
    }
    if (job.gpus < 1 || job.duration < Seconds(0)) words.complain("gpus >= 1 and duration_s >= 0");
    if (!trace.jobs.empty() && job.submit < trace.jobs.back().submit) {
      words.complain("jobs go by submit_s");
    }
    estimates_.push_back(words.number("estimate_s", static_cast<double>(job.duration.count())));
    trace.jobs.push_back(job);
  }

  void policy(Words& words) {
    PolicyLine line;
    line.text = line.spec = words.next();
    while (words.more()) {
      const std::string_view word = words.next();
      line.text += fmt::format(" {}", word);
      if (word == "mode=reference" || word == "mode=repaired") {
        line.mode = word.substr(5);
      } else if (word == "placer=first_fit") {
        line.placer = Placer::first_fit;
      } else if (word == "placer=spread") {
        line.placer = Placer::spread;
      } else {
        words.complain(
            fmt::format("'{}': mode=reference, placer=first_fit or placer=spread", word));
      }
    }
    scenario_.policies.push_back(line);
  }

  Scenario& scenario_;
  PackingTables tables_;
  std::vector<double> estimates_;
};

}  // namespace

Result<Scenario> read_scenario(const std::string& name, std::string_view text) {
  Scenario scenario;
  Reader reader(scenario);
  int number = 0;
  const auto complain = [&](const std::string& what) {
    return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", name, number, what));
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = trim(text.substr(0, end));
    scenario.situation += text.substr(0, end);
    text.remove_prefix(end);
    if (line == "----") {
      scenario.expected = text;
      if (const auto wrong = reader.finish(); !wrong.empty()) return complain(wrong);
      return scenario;
    }
    if (const auto wrong = reader.read(line); !wrong.empty()) return complain(wrong);
  }
  return complain("there is no line of four dashes");
}

}  // namespace schedmate::scenario
