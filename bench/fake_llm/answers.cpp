// SPDX-License-Identifier: Apache-2.0
#include "bench/fake_llm/answers.hpp"

#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "base/text.hpp"

namespace schedmate::bench {
namespace {

using Json = nlohmann::json;

/// The properties of the answer in the request's schema.
std::vector<std::string> gaps_of(const std::string& schema) {
  std::vector<std::string> gaps;
  const Json json = Json::parse(schema, nullptr, false);
  for (const char* place :
       {"/properties/answer/properties", "/properties/answer/anyOf/0/properties"}) {
    const Json::json_pointer pointer(place);
    if (!json.is_object() || !json.contains(pointer)) continue;
    for (const auto& [name, property] : json.at(pointer).items()) {
      if (name != "extra") gaps.push_back(name);
    }
  }
  return gaps;
}

Json value_json(const std::string& field, const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (field == "length") {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto amount = parse_number<double>(std::string_view(text).substr(0, blank));
    return {{"amount", amount.value_or(0)}, {"unit", trim(std::string_view(text).substr(blank))}};
  }
  if (field == "batch_size") {
    if (const auto whole = parse_number<std::int64_t>(text)) return *whole;
  }
  return text;
}

}  // namespace

std::string Witnesses::answer(const testing::FakeCall& call) {
  const std::lock_guard lock(mutex_);
  ++totals_.requests;
  const LabelledJob* job = job_of(call);
  if (job == nullptr) {
    ++totals_.unknown_jobs;
    return R"({"thought": "an unknown job", "action": null, "answer": {}})";
  }
  return answer_for(*job, gaps_of(call.schema));
}

Totals Witnesses::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

/// The job with the longest command that the request names.
const LabelledJob* Witnesses::job_of(const testing::FakeCall& call) const {
  const LabelledJob* best = nullptr;
  for (const LabelledJob& job : jobs_) {
    for (const std::string& text : call.texts) {
      const bool named = text.find(job.command) != std::string::npos;
      if (named && (best == nullptr || job.command.size() > best->command.size())) best = &job;
    }
  }
  return best;
}

const Library& Witnesses::library_of(const std::string& tree) {
  auto& library = libraries_[tree];
  if (!library) library = std::make_unique<Library>(tree);
  return *library;
}

std::string Witnesses::answer_for(const LabelledJob& job, const std::vector<std::string>& gaps) {
  const Library& library = library_of(job.tree);
  Json answer = Json::object();
  std::uint64_t drawn = mix(std::hash<std::string>{}(job.id));
  for (const std::string& gap : gaps) {
    drawn = mix(drawn);
    const auto label = job.labels.find(gap);
    std::string value = label == job.labels.end() ? "" : label->second;
    Citation line;
    if (lies_) {
      value = wrong_value(jobs_, job, gap, drawn);
      line = library.trap(job, static_cast<Ruse>((drawn >> 8U) % 4), gap, value);
      if (line.line == 0) line = library.trap(job, Ruse::likely, gap, value);
    } else if (!value.empty()) {
      line = library.proof(job, gap, value);
    }
    if (value.empty()) continue;
    if (line.line == 0) {
      ++totals_.without_line;
      continue;
    }
    ++totals_.claims;
    answer[gap] = {{"value", value_json(gap, value)}, {"file", line.file}, {"line", line.line}};
  }
  return Json{{"thought", "from the labels"}, {"action", nullptr}, {"answer", answer}}.dump();
}

}  // namespace schedmate::bench
