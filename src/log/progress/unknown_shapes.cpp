// SPDX-License-Identifier: Apache-2.0
#include "log/progress/unknown_shapes.hpp"

#include <algorithm>

#include "log/progress/line_meaning.hpp"

namespace schedmate::progress {
namespace {

constexpr std::size_t most_open_shapes = 24;
constexpr std::size_t most_shape_lines = 200;
constexpr std::size_t most_prompt_text = 400;
constexpr std::size_t most_shape_questions = 4;  ///< about one log
constexpr std::size_t most_shown = 12;
constexpr std::size_t least_following = 3;  ///< lines that are not shown and confirm the answer

bool has_open_times(const Progress& progress) {
  return !progress.step || !progress.step_time_s || !progress.loss;
}

/// The rules know whose line it is, or all that it could say.
bool is_settled(const Reading& reading) {
  using Kind = Reading::Kind;
  const bool times = !reading.times.empty() || reading.bar_step_s;
  return reading.kind == Kind::held_out || reading.kind == Kind::closing ||
         reading.kind == Kind::epoch || reading.bar || (reading.step && reading.loss && times);
}

bool put(std::optional<double>& here, std::optional<double> there, const char* name,
         Progress& progress) {
  if (here || !there) return false;
  here = there;
  progress.by_model.emplace_back(name);
  return true;
}

void put_all(const ShapeProgress& found, Progress& progress) {
  const bool step = put(progress.step, found.step, "step", progress);
  if (step) put(progress.total_steps, found.total, "total_steps", progress);
  put(progress.epoch, found.epoch, "epoch", progress);
  put(progress.loss, found.loss, "loss", progress);
  if (!progress.step_time_s && found.step_time) {
    put(progress.step_time_s, found.step_time->seconds, "step_time_s", progress);
    progress.by = "model, " + found.step_time->by;
  }
  const bool whole_run = progress.step && progress.total_steps && !progress.epoch;
  if (!progress.remaining_s && whole_run && progress.step_time_s)
    progress.remaining_s = (*progress.total_steps - *progress.step) * *progress.step_time_s;
}

template <class Lines>
std::vector<ShapeLine> places_in(const Lines& lines) {
  std::vector<ShapeLine> made;
  for (const auto& line : lines) made.push_back({places_of(line.text), line.time, line.step});
  return made;
}

}  // namespace

void UnknownShapes::add(std::uint64_t hash, const lines::PrefixedLine& line,
                        const Reading* reading) {
  if (reading != nullptr && is_settled(*reading)) return;
  Shape* const held = shape(hash);
  held->newest = ++lines_;
  const bool counts = reading != nullptr && reading->kind == Reading::Kind::training;
  held->lines.push_back({std::string(line.body.substr(0, most_prompt_text)), line.time,
                         counts ? reading->step : std::nullopt});
  if (held->lines.size() > most_shape_lines) held->lines.pop_front();
}

/// Where there are too many, what came least often and longest ago goes.
UnknownShapes::Shape* UnknownShapes::shape(std::uint64_t hash) {
  const auto known = std::ranges::find(shapes_, hash, &Shape::hash);
  if (known != shapes_.end()) return &*known;
  if (shapes_.size() < most_open_shapes) {
    shapes_.push_back({hash, {}, 0, false, {}});
    return &shapes_.back();
  }
  const auto worth = [](const Shape& each) { return std::pair(each.lines.size(), each.newest); };
  const auto least = std::ranges::min_element(shapes_, {}, worth);
  *least = {hash, {}, 0, false, {}};
  return &*least;
}

std::vector<const UnknownShapes::Shape*> UnknownShapes::by_size() const {
  std::vector<const Shape*> order;
  for (const Shape& shape : shapes_)
    if (shape.lines.size() >= least_lines_) order.push_back(&shape);
  std::ranges::stable_sort(order, std::greater{},
                           [](const Shape* each) { return each->lines.size(); });
  return order;
}

template <class Stop>
const UnknownShapes::Shape* UnknownShapes::fill_until(Progress& progress, const Stop& stop) const {
  for (const Shape* const shape : by_size()) {
    if (!has_open_times(progress)) return nullptr;
    if (stop(*shape)) return shape;
    if (shape->meaning.empty()) continue;
    const auto before = progress.by_model.size();
    put_all(check_meaning(places_in(shape->lines), shape->meaning, *words_), progress);
    if (progress.by_model.size() > before) progress.evidence.push_back(shape->lines.back().text);
  }
  return nullptr;
}

void UnknownShapes::fill(Progress& progress) const {
  fill_until(progress, [](const Shape&) { return false; });
}

std::optional<LineShape> UnknownShapes::open_question(Progress progress) const {
  const bool may_ask = questions_ < most_shape_questions;
  const Shape* const open =
      fill_until(progress, [&](const Shape& shape) { return may_ask && !shape.asked; });
  return open == nullptr ? std::nullopt : std::optional(question_of(*open));
}

LineShape UnknownShapes::question_of(const Shape& shape) const {
  LineShape question;
  question.hash = shape.hash;
  const auto shown = std::min(most_shown, shape.lines.size() - least_following);
  for (const KeptLine& line : shape.lines) {
    if (question.lines.size() >= shown) break;
    question.lines.push_back(line.text);
    auto& numbers = question.numbers.emplace_back();
    for (const LinePlace& place : places_of(line.text)) numbers.push_back(place.value);
  }
  return question;
}

std::optional<CheckedMeaning> UnknownShapes::answer(std::uint64_t hash,
                                                    const std::optional<LineMeaning>& given) {
  const auto asked = std::ranges::find(shapes_, hash, &Shape::hash);
  if (asked == shapes_.end() || asked->asked) return std::nullopt;
  asked->asked = true;
  ++questions_;
  if (!given) return std::nullopt;
  auto checked = check_meaning(places_in(asked->lines), *given, *words_).checked;
  asked->meaning = checked.kept;
  return checked;
}

}  // namespace schedmate::progress
