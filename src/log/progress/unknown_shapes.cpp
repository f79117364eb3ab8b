// SPDX-License-Identifier: Apache-2.0
#include "log/progress/unknown_shapes.hpp"

#include <algorithm>

#include "log/progress/line_meaning.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_open_shapes = 24;
constexpr std::size_t most_shape_lines = 200;
constexpr std::size_t most_asked_text = 400;
constexpr std::size_t most_shape_questions = 4;  ///< about one log
constexpr std::size_t most_shown = 12;
constexpr std::size_t least_following = 3;  ///< lines that are not shown and bear the answer out

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

}  // namespace

void UnknownShapes::add(std::uint64_t hash, const Said& said, const Reading* reading) {
  if (reading != nullptr && is_settled(*reading)) return;
  Shape* const held = shape(hash);
  held->newest = ++lines_;
  const bool counts = reading != nullptr && reading->kind == Reading::Kind::training;
  held->lines.push_back({std::string(said.body.substr(0, most_asked_text)), said.time,
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

void UnknownShapes::ask(Shape& shape) {
  shape.asked = true;
  ++questions_;
  LineShape question;
  question.hash = shape.hash;
  std::vector<ShapeLine> lines;
  const auto shown = std::min(most_shown, shape.lines.size() - least_following);
  for (const KeptLine& line : shape.lines) {
    lines.push_back({places_of(line.text), line.time, line.step});
    if (question.lines.size() >= shown) continue;
    question.lines.push_back(line.text);
    auto& numbers = question.numbers.emplace_back();
    for (const LinePlace& place : lines.back().places) numbers.push_back(place.value);
  }
  const auto said = reader_->read(question);
  if (!said) return;
  const auto found = check_meaning(lines, *said, words_);
  reader_->settle(question, found.checked);
  shape.meaning = found.checked.kept;
}

void UnknownShapes::fill(Progress& progress) {
  std::vector<Shape*> order;
  for (Shape& shape : shapes_)
    if (shape.lines.size() >= least_lines_) order.push_back(&shape);
  std::ranges::stable_sort(order, std::greater{},
                           [](const Shape* each) { return each->lines.size(); });
  for (Shape* const shape : order) {
    if (!has_open_times(progress)) return;
    if (!shape->asked && questions_ < most_shape_questions) ask(*shape);
    if (shape->meaning.empty()) continue;
    std::vector<ShapeLine> lines;
    for (const KeptLine& line : shape->lines)
      lines.push_back({places_of(line.text), line.time, line.step});
    const auto before = progress.by_model.size();
    put_all(check_meaning(lines, shape->meaning, words_), progress);
    if (progress.by_model.size() > before) progress.evidence.push_back(shape->lines.back().text);
  }
}

}  // namespace schedmate
