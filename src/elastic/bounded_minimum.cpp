// SPDX-License-Identifier: Apache-2.0
#include "elastic/bounded_minimum.hpp"

#include <algorithm>
#include <cmath>

namespace schedmate::elastic {
namespace {

double inner_product(const SearchPoint& a, const SearchPoint& b) {
  double sum = 0;
  for (std::size_t i = 0; i < most_variables; ++i) sum += a[i] * b[i];
  return sum;
}

/// The variables that may move, in ascending order.
struct FreeVariables {
  std::array<std::size_t, most_variables> index{};
  std::size_t count = 0;

  void add(std::size_t variable) { index[count++] = variable; }
  void remove(std::size_t place) {
    --count;
    for (std::size_t i = place; i < count; ++i) index[i] = index[i + 1];
  }
};

/// The step of the free variables after which a model with this slope here is lowest (Cholesky).
SearchPoint step_to_lowest(const SearchMatrix& curvature, const SearchPoint& slope,
                           const FreeVariables& free) {
  SearchMatrix factor;
  SearchPoint solution{};
  for (std::size_t i = 0; i < free.count; ++i) {
    const SearchPoint& row = curvature[free.index[i]];
    double pivot = row[free.index[i]];
    double rest = -slope[free.index[i]];
    for (std::size_t j = 0; j < i; ++j) {
      double entry = row[free.index[j]];
      for (std::size_t k = 0; k < j; ++k) entry -= factor[i][k] * factor[j][k];
      factor[i][j] = entry * factor[j][j];
      pivot -= factor[i][j] * factor[i][j];
      rest -= factor[i][j] * solution[j];
    }
    factor[i][i] = pivot > 0 ? 1 / std::sqrt(pivot) : 0;  // 0: the variable stays
    solution[i] = rest * factor[i][i];
  }
  SearchPoint step{};
  for (std::size_t i = free.count; i-- > 0;) {
    double rest = solution[i];
    for (std::size_t k = i + 1; k < free.count; ++k) rest -= factor[k][i] * step[free.index[k]];
    step[free.index[i]] = rest * factor[i][i];
  }
  return step;
}

/// How far each variable may move down (negative) and up.
struct SearchRoom {
  SearchPoint down{}, up{};
};

SearchRoom room_around(const BoundedFunction& function, const SearchPoint& at,
                       double largest_step) {
  SearchRoom room;
  for (std::size_t i = 0; i < most_variables; ++i) {
    room.down[i] = std::max(function.lower[i] - at[i], -largest_step);
    room.up[i] = std::min(function.upper[i] - at[i], largest_step);
  }
  return room;
}

FreeVariables free_variables(const QuadraticModel& model, const SearchRoom& room) {
  FreeVariables free;
  for (std::size_t i = 0; i < most_variables; ++i) {
    if (model.gradient[i] > 0 ? room.down[i] < 0 : room.up[i] > 0) free.add(i);
  }
  return free;
}

/// The share of `rest` that can be gone after `step`, and who stops it (free.count = nobody).
struct SearchStop {
  double share = 1;
  std::size_t place = 0;
};

SearchStop first_stop(const SearchPoint& step, const SearchPoint& rest, const SearchRoom& room,
                      const FreeVariables& free) {
  SearchStop stop{1, free.count};
  for (std::size_t place = 0; place < free.count; ++place) {
    const std::size_t i = free.index[place];
    const double space = std::abs((rest[i] < 0 ? room.down[i] : room.up[i]) - step[i]);
    if (std::abs(rest[i]) * stop.share > space) stop = {space / std::abs(rest[i]), place};
  }
  return stop;
}

/// Downhill on the model: towards its lowest point until a variable has no more room, then on with
/// the others. Each leg lowers the model, so the whole is downhill for the function.
SearchPoint step_within(const QuadraticModel& model, const SearchRoom& room, double factor) {
  constexpr double ridge = 1e-8;  // a step that changes nothing has an end all the same
  SearchMatrix curvature = model.curvature;
  for (std::size_t i = 0; i < most_variables; ++i) {
    for (double& each : curvature[i]) each *= factor;
    curvature[i][i] *= 1 + ridge;
  }
  SearchPoint step{};
  SearchPoint slope = model.gradient;
  FreeVariables free = free_variables(model, room);
  while (free.count > 0) {
    const SearchPoint rest = step_to_lowest(curvature, slope, free);
    const SearchStop stop = first_stop(step, rest, room, free);
    for (std::size_t place = 0; place < free.count; ++place) {
      step[free.index[place]] += stop.share * rest[free.index[place]];
    }
    if (stop.place == free.count) break;
    const std::size_t stopped = free.index[stop.place];
    step[stopped] = rest[stopped] < 0 ? room.down[stopped] : room.up[stopped];
    free.remove(stop.place);
    for (std::size_t i = 0; i < most_variables; ++i) {
      slope[i] = model.gradient[i] + inner_product(curvature[i], step);
    }
  }
  return step;
}

double promised_decrease(const QuadraticModel& model, const SearchPoint& step, double factor) {
  double bend = 0;
  for (std::size_t i = 0; i < most_variables; ++i) {
    bend += step[i] * inner_product(model.curvature[i], step);
  }
  return -inner_product(model.gradient, step) - factor * bend / 2;
}

SearchPoint point_along(const BoundedFunction& function, const SearchPoint& from,
                        const SearchPoint& step) {
  SearchPoint at{};
  for (std::size_t i = 0; i < most_variables; ++i) {
    const double lower = function.lower[i];
    const double upper = function.upper[i];
    at[i] = std::clamp(from[i] + step[i], lower, upper);
    // The sum may be rounded to just inside.
    if (step[i] == lower - from[i]) at[i] = lower;
    if (step[i] == upper - from[i]) at[i] = upper;
  }
  return at;
}

/// How much more than the model says the function is curved, after a step that kept this share of
/// what was promised with `factor`: on a parabola 2 - kept is exactly by how much it was wrong.
double factor_after(double kept, double factor) {
  constexpr double least = 0.1;  // a model may be from above
  return std::max(factor * std::clamp(2 - kept, 0.5, 4.0), least);
}

}  // namespace

Minimum bounded_minimum(const BoundedFunction& function, const SearchPoint& start,
                        const SearchLimits& limits) {
  Minimum best;
  best.at = point_along(function, start, {});
  QuadraticModel model = function.model_at(best.at);
  best.evaluations = 1;
  double factor = 1;
  while (best.evaluations < limits.evaluations) {
    const SearchRoom room = room_around(function, best.at, limits.largest_step);
    const SearchPoint step = step_within(model, room, factor);
    const double promised = promised_decrease(model, step, factor);
    best.found = promised <= limits.decrease;
    if (!(promised > limits.decrease)) break;
    const SearchPoint at = point_along(function, best.at, step);
    const QuadraticModel next = function.model_at(at);
    ++best.evaluations;
    const double kept = std::max(-2.0, (model.value - next.value) / promised);  // no number: -2
    factor = factor_after(kept, factor);
    if (!(kept > 0)) continue;
    best.at = at;
    model = next;
  }
  best.value = model.value;
  return best;
}

}  // namespace schedmate::elastic
