// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a reading of the cluster says of an action: the outcome is what is read, not what a call
/// returned.

#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "live/settings.hpp"

namespace schedmate::live {

/// A listing by names. Refers to it.
class Reading {
 public:
  explicit Reading(const Listing& listing) : listing_(listing) {}
  [[nodiscard]] const SeenJob* job(const std::string& id) const;
  [[nodiscard]] const SeenNode* node(const std::string& name) const;
  /// The job that was submitted with it; null: none.
  [[nodiscard]] const SeenJob* submitted_with(const std::string& token) const;
  [[nodiscard]] const Listing& listing() const { return listing_; }

 private:
  template <class Seen>
  using ByName = std::unordered_map<std::string_view, const Seen*>;
  const Listing& listing_;
  // Made once somebody asks.
  mutable std::optional<ByName<SeenJob>> jobs_{}, tokens_{};
  mutable std::optional<ByName<SeenNode>> nodes_{};
};

enum class Shown : std::uint8_t {
  yes,     ///< it happened
  no,      ///< not, or not yet
  other,   ///< somebody else changed the target, or it is gone: it makes no sense any more
  silent,  ///< a reading never shows this kind: the call's answer must do
  begun,   ///< what is to come to its end has begun
};
[[nodiscard]] Shown shown(const Action& action, const Reading& reading, const Settings& settings);

/// Whether the effect of a verified action is still there.
[[nodiscard]] bool still_stands(const Action& action, const Reading& reading,
                                const Settings& settings);

}  // namespace schedmate::live
