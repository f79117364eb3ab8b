// SPDX-License-Identifier: Apache-2.0
#include "python/natives/table.hpp"

namespace schedmate::python::natives {

[[gnu::weak]] const Native* find_native(std::string_view dotted) {
  static const NativeTable table = [] {
    NativeTable all;
    add_argparse(all);
    add_flag_libraries(all);
    add_dataclasses(all);
    add_config_readers(all);
    add_standard_library(all);
    add_environment(all);
    return all;
  }();
  const auto found = table.find(dotted);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace schedmate::python::natives
