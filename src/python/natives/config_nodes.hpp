// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Config objects of the libraries, as AttributeDicts.

#include "python/natives/attribute_dict.hpp"

namespace schedmate::python::natives {

/// omegaconf.DictConfig; a list stays a list, anything else is itself.
[[nodiscard]] Value make_dict_config(Value plain, const PlacePtr& place = {});
/// The plain config behind a dict, a dataclass (instance or class), a YAML text or a DictConfig.
[[nodiscard]] Value plain_config(Machine& machine, const Value& value);
/// Merges `above` into the entries of `node` in place, so that handles into it stay good.
void merge_into(Value& node, const Value& above);

}  // namespace schedmate::python::natives
