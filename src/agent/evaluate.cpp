// SPDX-License-Identifier: Apache-2.0
#include "agent/evaluate.hpp"

#include <algorithm>
#include <array>

#include "agent/fields.hpp"
#include "base/text.hpp"
#include "secrets/redact.hpp"

namespace schedmate::agent {
namespace {

/// One model that cites a proving line; a log shows what ran, not what will.
constexpr double code_confidence = 0.7;
constexpr double log_confidence = 0.5;
constexpr std::size_t longest_evidence = 240;

constexpr const char* not_set = "the line does not set this field";

tl::unexpected<std::string> no(const char* why) { return tl::unexpected(std::string(why)); }

/// Training and evaluation side by side ("train_and_evaluate") is training.
bool is_evaluation(const Binding& binding) {
  bool evaluates = false;
  for (const std::string& word :
       name_words(binding.where + ' ' + binding.owner + ' ' + binding.key)) {
    if (word.starts_with("train")) return false;
    constexpr std::array<std::string_view, 9> words = {"test",       "eval",      "evaluate",
                                                       "evaluation", "val",       "valid",
                                                       "validation", "inference", "predict"};
    evaluates = evaluates || std::ranges::find(words, word) != words.end();
    for (const std::string_view prefix : {"test", "val", "eval"}) {
      evaluates = evaluates ||
                  (word.starts_with(prefix) && (word.ends_with("loader") || word.ends_with("set")));
    }
  }
  return evaluates;
}

/// The text of one line without margins, and cut: an unchanged part of it.
std::string evidence_text(std::string_view line) {
  std::string_view text = trim(line);
  if (text.size() > longest_evidence) {
    std::size_t end = longest_evidence;
    while (end > 0 && (text[end] & '\xC0') == '\x80') --end;
    text = text.substr(0, end);
  }
  return std::string(text);
}

bool at_line(const Binding& binding, int line) {
  return binding.key_line == line || binding.value_line == line;
}

bool extra_sets(const Claim& claim, const Binding& binding) {
  return squeezed(last_part(binding.key)) == squeezed(claim.field);
}

bool extra_holds(const Claim& claim, const Binding& binding) {
  constexpr Field number{.name = "", .kind = FieldKind::number, .keys = "", .meaning = ""};
  constexpr Field name{.name = "", .kind = FieldKind::name, .keys = "", .meaning = ""};
  if (std::holds_alternative<bool>(claim.value)) {
    const std::string wanted = shown(claim.value);
    return binding.values.size() == 1 && squeezed(binding.values[0]) == wanted;
  }
  const bool is_text = std::holds_alternative<std::string>(claim.value);
  return holds_value(is_text ? name : number, binding, claim.value);
}

}  // namespace

Evaluator::Evaluator(const AgentTask& task, std::vector<std::string> gaps)
    : task_(task), gaps_(std::move(gaps)), closure_(task), log_(config_bindings(task.log)) {}

tl::expected<Fact, std::string> Evaluator::check(const Claim& claim) {
  auto value = typed_value(claim);
  if (!value) return tl::unexpected(value.error());
  Claim typed = claim;
  typed.value = *value;
  const auto source = source_of(typed);
  if (!source) return tl::unexpected(source.error());
  const auto binding = proof_in(*source, typed);
  if (!binding) return tl::unexpected(binding.error());
  if (std::string why = contradiction(typed); !why.empty()) return tl::unexpected(why);
  if (contested(typed)) return no("other lines of the job contradict it");
  // A key and its value may stand on two lines of one call: the value's line is the proof.
  const int line = source->text != nullptr ? (*binding)->value_line : typed.line;
  const auto clean =
      source->text != nullptr ? task_.tree.read_redacted(source->file) : tl::unexpected(Error());
  const std::string_view text = clean ? (*clean)->line(line) : source->line_text;
  return Fact{
      .value = *std::move(value),
      .confidence = source->confidence,
      .source = FactSource::model,
      .evidence = {{source->file, source->file == "<command>" ? 0 : line, evidence_text(text)}}};
}

tl::expected<const Binding*, std::string> Evaluator::proof_in(const Source& source,
                                                              const Claim& claim) {
  std::string why = "the line sets nothing: it is not code or configuration";
  bool sets = false;
  for (const Binding& binding : *source.bindings) {
    if (!at_line(binding, claim.line)) continue;
    std::string objected = objection(claim, binding);
    if (objected.empty() && source.text != nullptr) objected = overridden(claim, binding);
    if (objected.empty()) return &binding;
    if (!sets) why = objected;  // what the field's own key says counts for more than its neighbours
    sets = sets || objected != not_set;
  }
  return tl::unexpected(why);
}

tl::expected<FactValue, std::string> Evaluator::typed_value(const Claim& claim) const {
  if (claim.extra) {
    const auto* text = std::get_if<std::string>(&claim.value);
    const bool fixed = find_field(claim.field) != nullptr;
    const bool plain =
        !claim.field.empty() && claim.field.size() <= 60 &&
        std::ranges::all_of(claim.field, [](char c) { return c > ' ' && c < '\x7f'; });
    if (fixed || !plain) return no("no name for an extra field");
    if (claim.value.index() == 0 || std::holds_alternative<Length>(claim.value) ||
        (text != nullptr && (text->size() > 120 || squeezed(*text).empty()))) {
      return no("no value for an extra field");
    }
    if (task_.found.extra.contains(claim.field)) return no("resolved already");
    return claim.value;
  }
  const Field* field = find_field(claim.field);
  if (field == nullptr) return no("no such field");
  if (std::ranges::find(gaps_, claim.field) == gaps_.end()) {
    return no("resolved already");
  }
  const auto value = value_for(*field, claim.value);
  if (!value) return no("wrong type or outside the vocabulary");
  return *value;
}

tl::expected<Evaluator::Source, std::string> Evaluator::whole_text(std::string_view name,
                                                                   std::string_view text,
                                                                   const Claim& claim) {
  const std::string clean = secrets::redact(text);
  const auto lines = split(clean, '\n');
  if (claim.line < 1 || static_cast<std::size_t>(claim.line) > lines.size()) {
    return no("no such line");
  }
  const bool is_log = name == "<log>";
  return Source{.file = std::string(name),
                .bindings = is_log ? &log_ : &closure_.command(),
                .text = nullptr,
                .line_text = std::string(lines[static_cast<std::size_t>(claim.line) - 1]),
                .confidence = is_log ? log_confidence : code_confidence};
}

tl::expected<Evaluator::Source, std::string> Evaluator::source_of(const Claim& claim) {
  if (claim.file == "<command>") return whole_text("<command>", task_.job.command, claim);
  if (claim.file == "<log>") return whole_text("<log>", task_.log, claim);
  const auto path = tree::join_path("", claim.file);
  if (!path) return no("the file is not in the tree");
  if (text_kind(*path) == TextKind::other) {
    return no("the file is not code or configuration");
  }
  if (!closure_.contains(*path)) return no("the file is not part of the job");
  const auto file = task_.tree.read(*path);
  if (!file) return no("the file cannot be read");
  if (claim.line < 1 || claim.line > (*file)->lines()) return no("no such line");
  return Source{.file = *path,
                .bindings = &closure_.bindings(*path),
                .text = *file,
                .line_text = {},
                .confidence = code_confidence};
}

std::string Evaluator::objection(const Claim& claim, const Binding& binding) const {
  const Field* field = claim.extra ? nullptr : find_field(claim.field);
  const bool sets = field != nullptr ? sets_field(*field, binding) : extra_sets(claim, binding);
  if (!sets) return not_set;
  const bool holds =
      field != nullptr ? holds_value(*field, binding, claim.value) : extra_holds(claim, binding);
  if (!holds) return "the line does not hold the value";
  if (binding.dead) return "the line never runs";
  if (field != nullptr && is_evaluation(binding)) return "the line is about evaluation";
  if (!selectable(binding)) return "nothing selects the branch of the line";
  return {};
}

/// The same key elsewhere, where it wins: in the command, or, for a line of code, in a file that
/// configures the job.
std::string Evaluator::overridden(const Claim& claim, const Binding& binding) {
  const std::string key = squeezed(last_part(binding.key));
  const Field* field = claim.extra ? nullptr : find_field(claim.field);
  if (key.empty() || field == nullptr) return {};
  const auto differs = [&](const Binding& other) {
    return squeezed(last_part(other.key)) == key && !other.values.empty() &&
           !is_evaluation(other) && !holds_value(*field, other, claim.value);
  };
  if (std::ranges::any_of(closure_.command(), differs)) return "the command says otherwise";
  if (closure_.overrides_code(claim.file)) return {};
  for (const std::string& file : closure_.files()) {
    if (!closure_.overrides_code(file)) continue;
    if (std::ranges::any_of(closure_.bindings(file), differs)) {
      return "a configuration says otherwise";
    }
  }
  return {};
}

/// "Not pretrained" and "full precision" are what most lines say: nothing else may be said anywhere
/// in the job.
bool Evaluator::contested(const Claim& claim) {
  std::vector<FactValue> rivals;
  if (claim.field == "pretrained" && claim.value == FactValue(false)) rivals = {true};
  if (claim.field == "precision" && claim.value == FactValue(std::string("fp32"))) {
    rivals = {std::string("fp16-amp"), std::string("bf16"), std::string("fp16"),
              std::string("fp8")};
  }
  if (rivals.empty()) return false;
  const Field& field = *find_field(claim.field);
  const auto rival = [&](const Binding& binding) {
    if (!sets_field(field, binding) || binding.dead || is_evaluation(binding)) return false;
    // A loader that stands somewhere is not yet called; a key that is set is.
    if (binding.key.empty() && field.kind == FieldKind::flag) return false;
    return std::ranges::any_of(
        rivals, [&](const FactValue& value) { return holds_value(field, binding, value); });
  };
  if (std::ranges::any_of(closure_.command(), rival)) return true;
  const auto files = closure_.files();
  return std::ranges::any_of(files, [&](const std::string& file) {
    return std::ranges::any_of(closure_.bindings(file), rival);
  });
}

/// `if args.arch == "vgg": net = VGG()` counts only when the job says vgg somewhere.
bool Evaluator::selectable(const Binding& binding) const {
  const auto names_it = [&](const std::string& literal) {
    const std::string wanted = squeezed(literal);
    if (wanted.empty()) return true;
    const auto in = [&](std::string_view text) {
      return squeezed(text).find(wanted) != std::string::npos;
    };
    if (in(task_.job.command)) return true;
    return std::ranges::any_of(task_.found.facts, [&](const auto& entry) {
      const auto proves = [&](const Evidence& one) { return in(one.text); };
      return in(shown(entry.second.value)) || std::ranges::any_of(entry.second.evidence, proves);
    });
  };
  return binding.chosen_by.empty() || std::ranges::any_of(binding.chosen_by, names_it);
}

/// What the command itself sets, and what cannot be true of this job.
std::string Evaluator::contradiction(const Claim& claim) const {
  const Field* field = claim.extra ? nullptr : find_field(claim.field);
  if (field == nullptr) return {};
  const bool counted = field->kind == FieldKind::whole || field->kind == FieldKind::length ||
                       field->kind == FieldKind::number;
  for (const Binding& binding : closure_.command()) {
    if (!counted || binding.values.empty() || !number_of(binding.values[0])) continue;
    if (!sets_field(*field, binding) || is_evaluation(binding)) continue;
    if (!holds_value(*field, binding, claim.value)) return "the command says otherwise";
  }
  const int gpus = std::max(task_.job.gpus, 1);
  if (claim.field == "batch_size" && std::get<std::int64_t>(claim.value) > 10'000'000 / gpus) {
    return "implausible: batch times GPUs";
  }
  if (claim.field == "learning_rate" && *number_of(shown(claim.value)) > 100) {
    return "implausible: learning rate";
  }
  if (claim.field == "distributed" && gpus == 1 && claim.value != FactValue(std::string("none"))) {
    return "the job has one GPU";
  }
  if (claim.field == "model_name" || claim.field == "params_scale") {
    // Two bytes a parameter in no more than 200 GB a GPU.
    const auto parameters = parameters_named(shown(claim.value));
    if (parameters && *parameters * 2 > gpus * 200e9) return "implausible: size against memory";
  }
  return {};
}

}  // namespace schedmate::agent
