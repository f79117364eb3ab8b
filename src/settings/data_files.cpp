// SPDX-License-Identifier: Apache-2.0
#include "settings/data_files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace schedmate::settings {

Result<std::string> data_file(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::array places{folder / "../share/schedmate", folder / "../../data"};
  for (const fs::path& place : places) {
    const fs::path path = (place / name).lexically_normal();
    if (fs::exists(path, error)) return path.string();
  }
  return fail(ErrorCode::unavailable,
              fmt::format("the bundled file {} is neither in {} nor in {}: install SchedMate "
                          "completely (make install), or run it from its build folder",
                          name, places[0].lexically_normal().string(),
                          places[1].lexically_normal().string()));
}

}  // namespace schedmate::settings
