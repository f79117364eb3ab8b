// SPDX-License-Identifier: Apache-2.0
/// The static chain in its five stages: command, launchers, program, rules, choice.
#include "facts/extract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/input.hpp"
#include "facts/choose.hpp"
#include "facts/outlook.hpp"
#include "facts/safe.hpp"
#include "facts/started.hpp"

namespace schedmate {
namespace embedded {
extern const std::string_view keys_toml;
}
namespace {

constexpr std::size_t max_programs = 6;  ///< of one command that are read to find the training

constexpr std::array<Rule, 10> field_rules{
    find_batch_size, find_length,  find_precision,  find_optimizer, find_distributed,
    find_model,      find_dataset, find_pretrained, find_framework, find_shape};

/// Fields that a job without training does not have.
constexpr std::array training_only{"length", "optimizer", "learning_rate", "augmentation"};

void add_launches(Tree& tree, const Commands& commands, const CommandSource& source,
                  std::vector<Launch>& launches) {
  for (const Invocation& invocation : commands.invocations) {
    if (auto launch = read_launch(tree, invocation, source)) launches.push_back(std::move(*launch));
  }
}

/// Programs that are handed to another program as one word: `benchmark --command "python a.py"`.
void add_quoted(Tree& tree, const CommandSource& source, std::vector<Launch>& launches) {
  const std::size_t direct = launches.size();
  for (std::size_t i = 0; i < direct; ++i) {
    for (const Word& word : std::vector<Word>(launches[i].args)) {
      const bool command = word.known && word.text.contains(".py") && word.text.contains(' ');
      if (!command) continue;
      const CommandSource quoted{word.text, source.workdir, source.gpus, source.nodes};
      if (const auto inner = read_command(tree, quoted))
        add_launches(tree, *inner, quoted, launches);
    }
  }
}

std::vector<Launch> launches_of(Tree& tree, const Commands& commands, const CommandSource& source) {
  std::vector<Launch> launches;
  add_launches(tree, commands, source, launches);
  add_quoted(tree, source, launches);
  return launches;
}

/// The program that trains, among those that the command starts.
std::optional<Scene> training_of(Tree& tree, const JobSource& job, const FactRules& rules,
                                 std::vector<Launch>& launches) {
  std::optional<Scene> best;
  int signs = -1;
  const std::size_t direct = launches.size();
  std::vector<Launch> seen;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto same = [&](const Launch& other) { return same_program(other, launches[i]); };
    const bool again = !launches[i].itself && std::ranges::any_of(seen, same);
    if (again || seen.size() == max_programs) continue;
    seen.push_back(launches[i]);
    Scene scene = read_scene(tree, job, seen.back());
    auto started = started_by(tree, scene);
    std::ranges::move(started, std::back_inserter(launches));
    scene.keys = &rules.keys;
    scene.tables = &rules.tables;
    const int here = training_signs(scene);
    // Of two that show as little, the one that the other starts.
    if (here < signs || (here == signs && i < direct)) continue;
    signs = here;
    best = std::move(scene);
  }
  return best;
}

/// What is only evaluated has been trained before, whoever did it.
void weigh_loaded_checkpoint(const Scene& scene, Facts& facts) {
  for (const auto& [setting, meaning, trust] : scene.meant("pretrained")) {
    const std::string* path = setting->value.text();
    if (setting->standing != Standing::given || path == nullptr || path->empty()) continue;
    Findings found;
    add(found, {"pretrained", true, confidence::strong}, setting->value.place, "evaluates weights");
    facts.facts["pretrained"] = found.front().fact;
    return;
  }
}

std::int64_t count_runs(const std::vector<Launch>& launches, const Scene& scene) {
  std::int64_t runs = 0;
  for (const Launch& launch : launches) {
    if (same_program(launch, scene.launch) && !launch.itself) runs += launch.runs;
  }
  return std::max<std::int64_t>(1, runs) * std::max<std::int64_t>(1, scene.seen.runs);
}

/// That nothing switches something on or loads weights says much only of a program whose training
/// was read: at least its optimiser or its length is known then.
void weigh_absence(Findings& findings) {
  const bool trained = std::ranges::any_of(findings, [](const Finding& finding) {
    const bool is_useful = finding.field == "optimizer" || finding.field == "length";
    return is_useful && finding.fact.confidence >= confidence::weak;
  });
  for (Finding& finding : findings) {
    const bool by_absence = finding.why.starts_with("nothing ");
    if (by_absence && !trained) finding.fact.confidence = confidence::hint;
  }
}

void apply_rules(const Scene& scene, const std::vector<Launch>& launches, Facts& facts) {
  Findings findings;
  for (const Rule rule : field_rules) rule(scene, findings);
  weigh_absence(findings);
  choose(std::move(findings), facts);
  const Expectation expected = expect(scene);
  facts.expect = expected.outlook;
  facts.expect_reason = expected.reason;
  facts.runs = count_runs(launches, scene);
  if (facts.expect != Outlook::evaluation_only) return;
  weigh_loaded_checkpoint(scene, facts);
  for (const auto* field : training_only) facts.facts.erase(field);
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
    if (const auto alone = Keys::parse(*text); !alone)
      return fail(ErrorCode::invalid, fmt::format("{}: {}", own, alone.error().message));
    names = *text + "\n" + names;
  }
  auto keys = Keys::parse(names);
  if (!keys) return tl::unexpected(keys.error());
  const std::vector<std::string> extra(folder.empty() ? 0 : 1, folder);
  auto tables = Tables::load(extra);
  if (!tables) return tl::unexpected(tables.error());
  return FactRules{std::move(*keys), std::move(*tables)};
}

}  // namespace

Result<std::shared_ptr<const FactRules>> load_fact_rules(const std::string& folder) {
  auto rules = load_rules(folder);
  if (!rules) return fail(ErrorCode::invalid, rules.error().message);
  return std::make_shared<const FactRules>(*std::move(rules));
}

Result<Facts> extract_facts_in(Tree& tree, const JobSource& job, const FactRules& rules) {
  const CommandSource source{job.command, job.workdir, job.gpus, job.nodes};
  const auto commands = read_command(tree, source);
  if (!commands) return tl::unexpected(commands.error());
  for (const std::string& note : commands->degraded) tree.degrade(note);
  std::vector<Launch> launches = launches_of(tree, *commands, source);
  Facts facts;
  if (const auto scene = training_of(tree, job, rules, launches)) {
    apply_rules(*scene, launches, facts);
  } else {
    Findings findings;
    find_request(job, findings);
    choose(std::move(findings), facts);
    tree.degrade("the command starts no program that could be read");
  }
  facts.files_read = tree.files_read();
  facts.tree = closure_hash(tree.versions());
  facts.degraded = tree.degraded();
  redact_facts(tree, job.command, facts);
  return facts;
}

}  // namespace schedmate
