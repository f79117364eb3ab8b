// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/interpreter.hpp"

namespace schedmate::python {
namespace {

/// Positions that text[first:last:step] takes, as Python counts them.
std::vector<std::size_t> positions(std::int64_t size, const SliceEnds& ends) {
  const auto within = [size](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  std::vector<std::size_t> taken;
  const std::int64_t step = ends.step;
  if (step > 0) {
    const auto last = ends.last ? within(*ends.last, 0, size) : size;
    for (auto at = ends.first ? within(*ends.first, 0, size) : 0; at < last;) {
      taken.push_back(static_cast<std::size_t>(at));
      if (step >= size) break;
      at += step;
    }
  } else if (step < 0) {
    const auto last = ends.last ? within(*ends.last, -1, size - 1) : -1;
    for (auto at = ends.first ? within(*ends.first, -1, size - 1) : size - 1; at > last;) {
      taken.push_back(static_cast<std::size_t>(at));
      if (-step >= size) break;
      at += step;
    }
  }
  return taken;
}

}  // namespace

Value sliced(const Value& of, const SliceEnds& ends) {
  if (const auto* text = of.text()) {
    std::string part;
    for (const auto at : positions(static_cast<std::int64_t>(text->size()), ends))
      part += (*text)[at];
    return {std::move(part), of.place};
  }
  if (const List* list = of.items()) {
    List part;
    for (const auto at : positions(static_cast<std::int64_t>(list->size()), ends))
      part.push_back((*list)[at]);
    return Value::list(std::move(part), of.place);
  }
  return {Unknown{}, of.place};
}

}  // namespace schedmate::python
