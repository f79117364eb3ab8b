// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace schedmate::synth {

/// The places 0 to count-1 of a list from which places are taken; finds the nearest that is left.
class Unused {
 public:
  explicit Unused(std::size_t count) : up_(count + 1), down_(count + 1), left_(count) {
    std::iota(up_.begin(), up_.end(), std::size_t{0});
    std::iota(down_.begin(), down_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t left() const { return left_; }
  /// The first at or after `place`; count when there is none.
  std::size_t from(std::size_t place) { return root(up_, place); }
  /// One more than the last before `place`; 0 when there is none.
  std::size_t before(std::size_t place) { return root(down_, place); }
  void take(std::size_t place) {
    up_[place] = place + 1;
    down_[place + 1] = place;
    --left_;
  }

 private:
  static std::size_t root(std::vector<std::size_t>& links, std::size_t place) {
    while (links[place] != place) {
      links[place] = links[links[place]];
      place = links[place];
    }
    return place;
  }

  std::vector<std::size_t> up_, down_;
  std::size_t left_;
};

}  // namespace schedmate::synth
