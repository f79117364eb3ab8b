// SPDX-License-Identifier: Apache-2.0
#include "screen/facts_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/table.hpp"
#include "base/words.hpp"
#include "core/facts_json.hpp"
#include "screen/screen.hpp"

namespace schedmate::screen {
namespace {

using FactRow = std::vector<Cell>;

/// "train.py:12" and the line there, which a screen cuts so that the table stays one.
void add_evidence(const Fact& fact, std::size_t columns, FactRow& row) {
  if (fact.evidence.empty()) return void(row.insert(row.end(), {"", ""}));
  const Evidence& first = fact.evidence.front();
  constexpr std::size_t widest = 60;
  row.emplace_back(first.line > 0 ? fmt::format("{}:{}", printable(first.file), first.line)
                                  : printable(first.file));
  row.emplace_back(columns == 0 ? printable(first.text) : shortened(first.text, widest));
}

/// "time_limit_s", 95400 as "time_limit", "1 d 2 h".
std::pair<std::string, std::string> in_units(std::string_view name, const Fact& fact) {
  constexpr std::string_view seconds = "_s";
  constexpr std::string_view mebibytes = "_mib";
  const auto* whole = std::get_if<std::int64_t>(&fact.value);
  const auto without = [&](std::string_view unit) {
    return std::string(name.substr(0, name.size() - unit.size()));
  };
  if (whole != nullptr && name.ends_with(seconds))
    return {without(seconds), in_words(Seconds(*whole))};
  if (whole != nullptr && name.ends_with(mebibytes))
    return {without(mebibytes), mib_in_words(static_cast<double>(*whole))};
  return {std::string(name), printable(value_text(fact.value))};
}

std::string list_of(std::string_view title, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    text += fmt::format("{}{}\n", text.empty() ? fmt::format("\n{}\n", title) : "",
                        "  " + printable(item));
  return text;
}

bool was_asked(const ModelUse& use) { return use.calls + use.accepted + use.dropped > 0; }

std::string model_line(const ModelUse& use) {
  if (!was_asked(use)) return "model: not asked\n";
  return fmt::format("model: {} calls, {} tokens, {} accepted, {} dropped\n", use.calls, use.tokens,
                     use.accepted, use.dropped);
}

std::string rejected_of(const Facts& facts, std::size_t columns) {
  std::vector<FactRow> rows;
  for (const Rejected& each : facts.rejected) {
    rows.push_back({each.field, printable(value_text(each.fact.value)), printable(each.why)});
    add_evidence(each.fact, columns, rows.back());
  }
  const std::vector<TableColumn> names{{"rejected"},
                                       {"value"},
                                       {"why", 1},
                                       {.name = "where", .too_long = TooLong::cut_in_front},
                                       {.name = "evidence", .rank = 2, .least = 12}};
  return rows.empty() ? "" : "\n" + table_text(names, rows, columns);
}

std::string outlook_of(const Facts& facts) {
  return fmt::format("expect: {}{}{}\n", outlook_word(facts.expect),
                     facts.expect_reason.empty() ? "" : ", " + printable(facts.expect_reason),
                     facts.runs == 1 ? "" : fmt::format("; {} trainings", facts.runs));
}

}  // namespace

std::string job_in_words(const std::function<std::string(std::string_view)>& value) {
  std::string what;
  for (const std::string_view name : {"model_name", "model_family", "model_type", "task"})
    if (what.empty()) what = value(name);
  if (const auto dataset = value("dataset"); !dataset.empty())
    what += (what.empty() ? "training on " : " on ") + dataset;
  std::string framework = value("framework");
  if (const auto spread = value("distributed"); !spread.empty() && spread != "none")
    framework += (framework.empty() ? "" : " ") + spread;
  const std::string batch = value("batch_size");
  std::string text;
  for (const std::string& part :
       {what, value("length"), batch.empty() ? "" : "batch " + batch, framework})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string facts_line(const Facts& facts) {
  double sure = 1;
  const auto value = [&](std::string_view name) {
    const Fact* fact = known_fact(facts, name);
    if (fact == nullptr) return std::string();
    std::string text = printable(value_text(fact->value));
    if (text != "none") sure = std::min(sure, fact->confidence);
    return text;
  };
  std::string text = job_in_words(value);
  const std::string gpus = value("gpus");
  const std::string type = value("gpu_type");
  std::string nodes;
  if (const Fact* fact = known_fact(facts, "nodes");
      fact != nullptr && value_text(fact->value) != "1")
    nodes = value("nodes");
  const std::string certainty =
      text.empty() ? "" : fmt::format(" ({:.0f} % sure)", std::floor(100 * sure));
  if (text.empty()) text = "what it trains is not known";
  if (!gpus.empty()) text += fmt::format(", {} GPU{}", gpus, gpus == "1" ? "" : "s");
  if (!type.empty()) text += fmt::format(" ({})", type);
  if (!nodes.empty()) text += fmt::format(" on {} nodes", nodes);
  return text + certainty;
}

std::string facts_doubts(const Facts& facts) {
  std::string text;
  if (facts.expect != Outlook::runs || facts.runs != 1) text += outlook_of(facts);
  if (was_asked(facts.model)) text += model_line(facts.model);
  if (facts.degraded.empty()) return text;
  text += "could not be read: " + printable(facts.degraded.front());
  if (facts.degraded.size() > 1)
    text += fmt::format(" (and {} more: --explain)", facts.degraded.size() - 1);
  return text + "\n";
}

std::string facts_text(const Facts& facts, bool explain, std::size_t columns) {
  std::vector<FactRow> rows;
  std::string unknown;
  const auto add = [&](std::string_view name, const Fact* fact) {
    if (fact == nullptr || !fact->known()) {
      unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", name);
      return;
    }
    auto [field, value] = in_units(name, *fact);
    rows.push_back({std::move(field), std::move(value), fmt::format("{:.2f}", fact->confidence),
                    std::string(source_word(fact->source))});
    add_evidence(*fact, columns, rows.back());
  };
  for (const std::string_view name : fact_fields()) add(name, facts.find(name));
  for (const auto& [name, fact] : facts.extra) add(name, &fact);
  const std::vector<TableColumn> names{{"fact"},
                                       {"value"},
                                       {"sure", 1},
                                       {"source", 2},
                                       {.name = "where", .too_long = TooLong::cut_in_front},
                                       {.name = "evidence", .rank = 3, .least = 12}};
  std::string text = table_text(names, rows, columns);
  if (!unknown.empty()) text += "\nnot known: " + printable(unknown) + "\n";
  text += "\n" + outlook_of(facts) + model_line(facts.model);
  text += list_of("could not be read", facts.degraded);
  if (explain) text += rejected_of(facts, columns) + list_of("files read", facts.files_read);
  return text;
}

}  // namespace schedmate::screen
