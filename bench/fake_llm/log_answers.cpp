// SPDX-License-Identifier: Apache-2.0
#include "bench/fake_llm/log_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "bench/fake_llm/shape_guess.hpp"

namespace schedmate::bench {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> classes = {"infrastructure", "framework", "user_script",
                                                     "other"};
constexpr std::array<std::string_view, 6> components = {"gpu",  "nvlink",  "network",
                                                        "node", "storage", "other"};

LabelledLog read_log(const Json& json) {
  LabelledLog log;
  const auto text = json.at("log").get<std::string>();
  for (const auto line : split(text, '\n')) log.lines.emplace_back(line);
  for (const auto& [label, key] : {std::pair{"step", "step"}, std::pair{"total", "total_steps"},
                                   std::pair{"loss", "loss"}, std::pair{"time", "step_time_s"}})
    if (json.contains(key) && json[key].is_number()) log.numbers[label] = json[key].get<double>();
  if (!json.contains("class")) return log;
  log.verdict = json["class"];
  log.component = json["component"].is_string() ? json["component"].get<std::string>() : "none";
  log.root_line = json["root_line"].get<std::int64_t>() + 1;
  log.acceptable.insert(log.verdict);
  for (const auto& other : json.value("also_acceptable", Json()))
    if (other.is_string())
      log.acceptable.insert(other.get<std::string>().substr(0, other.get<std::string>().find(' ')));
  return log;
}

/// What stands between the marks of the request.
std::string shown_in(const testing::FakeCall& call) {
  if (call.texts.size() < 2) return "";
  const std::string& text = call.texts.back();
  const auto from = text.find('\n');
  const auto to = text.find("</data ");
  if (from == std::string::npos || to == std::string::npos || to < from) return "";
  return text.substr(from + 1, to - from - 1);
}

/// "123: text"
struct Numbered {
  std::int64_t number = 0;
  std::string_view text;
};

std::vector<Numbered> numbered_lines(const std::string& shown) {
  std::vector<Numbered> lines;
  for (const auto line : split(shown, '\n')) {
    const auto colon = line.find(": ");
    const auto number = parse_number<std::int64_t>(line.substr(0, colon));
    if (colon != std::string_view::npos && number)
      lines.push_back({*number, line.substr(colon + 2)});
  }
  return lines;
}

/// Secrets are gone from what is shown: the beginning of a line is enough.
bool is_line(const LabelledLog& log, const Numbered& shown) {
  const auto at = static_cast<std::size_t>(shown.number - 1);
  return shown.number >= 1 && at < log.lines.size() &&
         log.lines[at].find(shown.text.substr(0, 30)) != std::string::npos;
}

template <class List>
std::string pick(const List& list, std::uint64_t drawn) {
  return std::string(list[drawn % list.size()]);
}

}  // namespace

std::vector<LabelledLog> read_logs(const std::string& path) {
  std::vector<LabelledLog> logs;
  const auto text = read_file(path);
  if (path.empty() || !text) return logs;
  for (const std::string_view line : split(*text, '\n')) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) logs.push_back(read_log(json));
  }
  return logs;
}

std::string LogWitnesses::answer(const testing::FakeCall& call) {
  const std::lock_guard lock(mutex_);
  const std::string shown = shown_in(call);
  return call.schema.find("\"class\"") == std::string::npos ? shape_answer(shown)
                                                            : cause_answer(shown);
}

LogTotals LogWitnesses::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

std::string LogWitnesses::shape_answer(const std::string& shown) {
  ++totals_.shapes;
  const ShownShape shape = read_shape(shown);
  const LabelledLog* best = nullptr;
  std::size_t most = 0;
  for (const LabelledLog& log : logs_) {
    std::size_t held = 0;
    for (const auto& text : shape.lines)
      held += std::ranges::any_of(log.lines, [&](const auto& line) { return line.contains(text); })
                  ? 1
                  : 0;
    if (held > most) best = &log, most = held;
  }
  ShapeAnswer made;
  if (best == nullptr)
    ++totals_.unknown;
  else
    made = lies_ ? wrong_places(shape, right_places(shape, best->lines, best->numbers))
                 : right_places(shape, best->lines, best->numbers);
  totals_.claims += std::ssize(made.places);
  const auto place = [&](const char* role) {
    const auto held = made.places.find(role);
    return held == made.places.end() ? Json(nullptr) : Json(held->second);
  };
  return Json{{"step", place("step")}, {"total", place("total")}, {"epoch", nullptr},
              {"loss", place("loss")}, {"time", place("time")},   {"time_unit", made.unit},
              {"time_kind", made.kind}}
      .dump();
}

std::string LogWitnesses::cause_answer(const std::string& shown) {
  ++totals_.causes;
  const auto lines = numbered_lines(shown);
  const LabelledLog* best = nullptr;
  std::size_t most = 0;
  for (const LabelledLog& log : logs_) {
    const auto held = static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const Numbered& line) { return is_line(log, line); }));
    if (!log.verdict.empty() && held > most) best = &log, most = held;
  }
  if (best == nullptr) {
    ++totals_.unknown;
    return R"({"reason": "unknown", "line": 0, "class": "other", "component": "none"})";
  }
  ++totals_.claims;
  std::string verdict = best->verdict, component = best->component;
  std::int64_t line = best->root_line;
  if (lies_) {
    std::uint64_t drawn = mix(shown.size() + static_cast<std::uint64_t>(line));
    do {
      drawn = mix(drawn);
      verdict = pick(classes, drawn);
    } while (best->acceptable.contains(verdict));
    component = verdict == "infrastructure" ? pick(components, drawn >> 8U) : "none";
    // The very line of the cause, or any other real one.
    if ((drawn >> 16U) % 2 == 0) line = lines[(drawn >> 20U) % lines.size()].number;
  }
  return Json{{"reason", lies_ ? "it looks so" : "by its label"},
              {"line", line},
              {"class", verdict},
              {"component", component}}
      .dump();
}

}  // namespace schedmate::bench
