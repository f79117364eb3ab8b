// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Config objects of the libraries, as AttributeDicts.

#include "python/natives/attribute_dict.hpp"

namespace schedmate::natives {

/// omegaconf.DictConfig; a list stays a list, anything else is itself.
[[nodiscard]] code::Value make_dict_config(code::Value plain, const code::PlacePtr& place = {});
/// The plain config behind a dict, a dataclass (instance or class), a YAML text or a DictConfig.
[[nodiscard]] code::Value plain_config(python::Machine& machine, const code::Value& value);
/// Merges `above` into the entries of `node` in place, so that handles into it stay good.
void merge_into(code::Value& node, const code::Value& above);

}  // namespace schedmate::natives
