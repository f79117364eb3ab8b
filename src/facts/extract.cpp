// SPDX-License-Identifier: Apache-2.0
/// The static chain in its five stages: command, launchers, program, rules, choice.
#include "facts/extract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/input.hpp"
#include "facts/confidence.hpp"
#include "facts/outlook.hpp"
#include "facts/request.hpp"
#include "facts/safe.hpp"
#include "facts/started.hpp"

namespace schedmate {
namespace embedded {
extern const std::string_view keys_toml, confidence_toml;
}
namespace {

constexpr std::size_t max_programs = 6;  ///< of one command that are read to find the training

constexpr std::array<facts::Rule, 10> field_rules{
    facts::find_batch_size,  facts::find_length, facts::find_precision, facts::find_optimizer,
    facts::find_distributed, facts::find_model,  facts::find_dataset,   facts::find_pretrained,
    facts::find_framework,   facts::find_shape};

/// Fields that a job without training does not have.
constexpr std::array training_only{"length", "optimizer", "learning_rate", "augmentation"};

void add_launches(tree::Tree& tree, const command::Commands& commands,
                  const command::CommandSource& source, std::vector<command::Launch>& launches) {
  for (const command::Invocation& invocation : commands.invocations) {
    if (auto launch = command::read_launch(tree, invocation, source))
      launches.push_back(std::move(*launch));
  }
}

/// Programs that are handed to another program as one word: `benchmark --command "python a.py"`.
void add_quoted(tree::Tree& tree, const command::CommandSource& source,
                std::vector<command::Launch>& launches) {
  const std::size_t direct = launches.size();
  for (std::size_t i = 0; i < direct; ++i) {
    for (const command::Word& word : std::vector<command::Word>(launches[i].args)) {
      const bool command = word.known && word.text.contains(".py") && word.text.contains(' ');
      if (!command) continue;
      const command::CommandSource quoted{word.text, source.workdir, source.gpus, source.nodes};
      if (const auto inner = command::read_command(tree, quoted))
        add_launches(tree, *inner, quoted, launches);
    }
  }
}

std::vector<command::Launch> launches_of(tree::Tree& tree, const command::Commands& commands,
                                         const command::CommandSource& source) {
  std::vector<command::Launch> launches;
  add_launches(tree, commands, source, launches);
  add_quoted(tree, source, launches);
  return launches;
}

struct Candidates {
  std::vector<command::Launch>& launches;  ///< grows by what these start
  std::function<void(const std::optional<facts::Scene>&)> before_each;  ///< with the best so far
};

/// The program that trains, among those that the command starts.
std::optional<facts::Scene> training_of(tree::Tree& tree, const JobSource& job,
                                        const FactRules& rules, const Candidates& candidates) {
  auto& launches = candidates.launches;
  std::optional<facts::Scene> best;
  int signs = -1;
  const std::size_t direct = launches.size();
  std::vector<command::Launch> seen;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto same = [&](const command::Launch& other) {
      return command::same_program(other, launches[i]);
    };
    const bool again = !launches[i].itself && std::ranges::any_of(seen, same);
    if (again || seen.size() == max_programs) continue;
    candidates.before_each(best);
    seen.push_back(launches[i]);
    facts::Scene scene =
        facts::read_scene(tree, facts::with_request(job, seen.back()), seen.back());
    auto started = facts::started_by(tree, scene);
    std::ranges::move(started, std::back_inserter(launches));
    scene.keys = &rules.keys;
    scene.tables = &rules.tables;
    const int here = facts::training_signs(scene);
    // Of two that show as little, the one that the other starts.
    if (here < signs || (here == signs && i < direct)) continue;
    signs = here;
    best = std::move(scene);
  }
  return best;
}

/// What is only evaluated has been trained before, whoever did it.
void weigh_loaded_checkpoint(const facts::Scene& scene, facts::GroundsByField& grounds,
                             Facts& facts) {
  for (const auto& [setting, meaning, trust] : scene.meant("pretrained")) {
    const std::string* path = setting->value.text();
    if (setting->precedence != facts::Precedence::given || path == nullptr || path->empty())
      continue;
    facts::Findings found;
    facts::add(found, {"pretrained", true, facts::confidence::strong}, setting->value.place,
               "evaluates weights");
    facts.facts["pretrained"] = found.front().fact;
    grounds["pretrained"] = {
        .rank = found.front().fact.confidence, .rules = 1, .why = found.front().why};
    return;
  }
}

std::int64_t count_runs(const std::vector<command::Launch>& launches, const facts::Scene& scene) {
  std::int64_t runs = 0;
  for (const command::Launch& launch : launches) {
    if (command::same_program(launch, scene.launch) && !launch.itself) runs += launch.runs;
  }
  return std::max<std::int64_t>(1, runs) * std::max<std::int64_t>(1, scene.seen.runs);
}

/// That nothing switches something on or loads weights says much only of a program whose training
/// was read: at least its optimiser or its length is known then.
void weigh_absence(facts::Findings& findings) {
  const bool trained = std::ranges::any_of(findings, [](const facts::Finding& finding) {
    const bool is_useful = finding.field == "optimizer" || finding.field == "length";
    return is_useful && finding.fact.confidence >= facts::confidence::weak;
  });
  for (facts::Finding& finding : findings) {
    const bool by_absence = finding.why.starts_with("nothing ");
    if (by_absence && !trained) finding.fact.confidence = facts::confidence::hint;
  }
}

struct JobRead {
  tree::Tree& tree;
  const FactRules& rules;
  const std::vector<command::Launch>& launches;
};

void apply_rules(const JobRead& read, const facts::Scene& scene, Facts& facts) {
  facts::Findings findings;
  for (const facts::Rule rule : field_rules) rule(scene, findings);
  weigh_absence(findings);
  auto grounds = facts::choose(std::move(findings), facts);
  const facts::Expectation expected = facts::expect_of_job(read.tree, scene);
  facts.expect = expected.outlook;
  facts.expect_reason = expected.reason;
  facts.runs = count_runs(read.launches, scene);
  if (facts.expect == Outlook::evaluation_only) {
    weigh_loaded_checkpoint(scene, grounds, facts);
    for (const auto* field : training_only) facts.facts.erase(field);
  }
  facts.degraded = read.tree.degraded();
  facts::calibrate(scene, grounds, read.rules.confidence, facts);
}

/// An operator's key names are more relevant than the built-in ones: they come first.
Result<FactRules> load_rules(const std::string& folder) {
  std::string names(embedded::keys_toml);
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    return fail(ErrorCode::not_found, fmt::format("{}: no such folder (setting rules)", folder));
  const std::string own = folder + "/keys.toml";
  if (!folder.empty() && std::filesystem::exists(own, error)) {
    const auto text = read_file(own);
    if (!text) return tl::unexpected(text.error());
    if (const auto alone = facts::Keys::parse(*text); !alone)
      return fail(ErrorCode::invalid, fmt::format("{}: {}", own, alone.error().message));
    names = *text + "\n" + names;
  }
  auto keys = facts::Keys::parse(names);
  if (!keys) return tl::unexpected(keys.error());
  const std::vector<std::string> extra(folder.empty() ? 0 : 1, folder);
  auto tables = facts::Tables::load(extra);
  if (!tables) return tl::unexpected(tables.error());
  auto confidence = read_confidence(embedded::confidence_toml, "rules/confidence.toml");
  if (!confidence) return tl::unexpected(confidence.error());
  return FactRules{std::move(*keys), std::move(*tables), std::move(*confidence)};
}

}  // namespace

Result<std::shared_ptr<const FactRules>> load_fact_rules(const std::string& folder) {
  auto rules = load_rules(folder);
  if (!rules) return fail(ErrorCode::invalid, rules.error().message);
  return std::make_shared<const FactRules>(*std::move(rules));
}

double careful_confidence(const FactRules& rules) { return rules.confidence.careful; }

namespace {

/// What both readings begin with. Errors: those of the command.
Result<command::Commands> read_job_command(tree::Tree& tree, const JobSource& job) {
  for (const RootName& root : job.roots) tree.add_root(root.as, root.folder);
  auto commands = command::read_command(tree, {job.command, job.workdir, job.gpus, job.nodes});
  if (!commands) return commands;
  for (const std::string& note : commands->degraded) tree.degrade(note);
  return commands;
}

/// Nothing that trains was found among what the command starts.
void say_nothing_started(tree::Tree& tree, const command::Commands& commands, Facts& facts) {
  facts.expect = Outlook::unknown;
  if (commands.unread.empty()) {
    facts.expect_reason = "the command starts no program that could be read";
    tree.degrade(facts.expect_reason);
  } else {
    facts.expect_reason = fmt::format("submission by {} is not read; give the command it runs",
                                      commands.unread.front());
  }
}

Facts finished(tree::Tree& tree, const JobSource& job, Facts facts) {
  facts.files_read = tree.files_read();
  facts.tree = tree::closure_hash(tree.versions());
  facts.degraded = tree.degraded();
  facts::redact_facts(tree, job.command, facts);
  return facts;
}

}  // namespace

Result<Facts> facts::extract_request_in(tree::Tree& tree, const JobSource& job) {
  const auto commands = read_job_command(tree, job);
  if (!commands) return tl::unexpected(commands.error());
  const auto launches =
      launches_of(tree, *commands, {job.command, job.workdir, job.gpus, job.nodes});
  Facts facts;
  facts.expect = Outlook::unknown;
  find_request(tree, {job, *commands, launches.empty() ? nullptr : &launches.front()}, facts);
  return finished(tree, job, std::move(facts));
}

Result<Facts> facts::extract_facts_in(tree::Tree& tree, const JobSource& job,
                                      const FactRules& rules, const KeepFacts& keep) {
  const command::CommandSource source{job.command, job.workdir, job.gpus, job.nodes};
  const auto commands = read_job_command(tree, job);
  if (!commands) return tl::unexpected(commands.error());
  std::vector<command::Launch> launches = launches_of(tree, *commands, source);
  const auto keep_so_far = [&](const std::optional<Scene>& best) {
    if (!keep) return;
    Facts so_far;
    if (best) apply_rules({tree, rules, launches}, *best, so_far);
    const command::Launch* const first = launches.empty() ? nullptr : &launches.front();
    find_request(tree, {job, *commands, best ? &best->launch : first}, so_far);
    keep(finished(tree, job, std::move(so_far)));
  };
  Facts facts;
  const auto scene = training_of(tree, job, rules, {launches, keep_so_far});
  if (scene)
    apply_rules({tree, rules, launches}, *scene, facts);
  else
    say_nothing_started(tree, *commands, facts);
  find_request(tree, {job, *commands, scene ? &scene->launch : nullptr}, facts);
  return finished(tree, job, std::move(facts));
}

}  // namespace schedmate
