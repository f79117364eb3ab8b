// SPDX-License-Identifier: Apache-2.0
#include "elastic/allocation_exchange.hpp"

#include <algorithm>

namespace schedmate::elastic {

void AllocationExchange::improve(const AllocationTable& table, TableChoice& choice) {
  // Each sweep raises the score or the order; two are nearly always enough.
  constexpr int most = 8;
  for (int i = 0; i < most && sweep(table, choice); ++i) continue;
}

bool AllocationExchange::sweep(const AllocationTable& table, TableChoice& choice) {
  collect(table, choice);
  std::ranges::sort(seats_, [](const Seat& a, const Seat& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.job < b.job;
  });
  bool changed = false;
  for (std::size_t begin = 0; begin < seats_.size();) {
    std::size_t end = begin;
    while (end < seats_.size() && seats_[end].pair == seats_[begin].pair) ++end;
    changed = settle(table, begin, end, choice) || changed;
    begin = end;
  }
  return changed;
}

void AllocationExchange::collect(const AllocationTable& table, const TableChoice& choice) {
  const auto nothing = static_cast<std::uint32_t>(table.shapes.size());
  const auto shape_of = [&](std::int32_t option) {
    return option == no_option
               ? nothing
               : static_cast<std::uint32_t>(table.shape[static_cast<std::size_t>(option)]);
  };
  // A place that nobody has is not to be had from anybody.
  taken_.assign(table.shapes.size() + 1, 0);
  for (const std::int32_t option : choice.option) taken_[shape_of(option)] = 1;
  seats_.clear();
  for (std::int32_t job = 0; job < table.jobs(); ++job) {
    const std::int32_t from = choice.option[static_cast<std::size_t>(job)];
    const std::uint64_t here = shape_of(from);
    const auto add = [&](std::int32_t to) {
      const std::uint64_t there = shape_of(to);
      if (there == here || taken_[there] == 0) return;
      const Score gain = table.score_of(to) - table.score_of(from);
      if (here < there) {
        seats_.push_back({here << 32U | there, gain, job, from, to, false});
      } else {
        seats_.push_back({there << 32U | here, -gain, job, to, from, true});
      }
    };
    add(no_option);
    for (std::int32_t option = table.begin(job); option < table.end(job); ++option) add(option);
  }
}

bool AllocationExchange::settle(const AllocationTable& table, std::size_t begin, std::size_t end,
                                TableChoice& choice) {
  present_.clear();
  std::size_t seconds = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Seat& seat = seats_[i];
    const std::int32_t at = seat.at_second ? seat.second : seat.first;
    if (choice.option[static_cast<std::size_t>(seat.job)] != at) continue;  // has moved meanwhile
    present_.push_back(seat);
    seconds += seat.at_second ? 1 : 0;
  }
  if (seconds == 0 || seconds == present_.size()) return false;
  std::ranges::sort(present_, [](const Seat& a, const Seat& b) {
    if (a.gain != b.gain) return a.gain > b.gain;
    if (a.gain == 0 && a.at_second != b.at_second) return a.at_second;
    return a.gain > 0 ? a.job < b.job : a.job > b.job;
  });
  bool changed = false;
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const Seat& seat = present_[i];
    const std::int32_t to = i < seconds ? seat.second : seat.first;
    changed = changed || choice.option[static_cast<std::size_t>(seat.job)] != to;
    choice.take(table, seat.job, to);
  }
  return changed;
}

}  // namespace schedmate::elastic
