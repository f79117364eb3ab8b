// SPDX-License-Identifier: Apache-2.0
#include "settings/data_files.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace schedmate::settings {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

/// "" in a program, of which the loader knows no more than argv[0].
fs::path folder_of_library() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&data_file), &here) == 0 || here.dli_fname == nullptr)
    return {};
  std::error_code error;
  const fs::path file = fs::canonical(here.dli_fname, error);
  return file.filename().string().contains(".so") ? file.parent_path() : fs::path();
}

std::vector<fs::path> data_folders() {
  const fs::path library = folder_of_library();
  if (!library.empty())
    return {library / "data", library / "../share/schedmate", library / "../../share/schedmate",
            library / "../../data"};
  const fs::path program = folder_of_program();
  return {program / "../share/schedmate", program / "../../data"};
}

}  // namespace

Result<std::string> data_file(std::string_view name) {
  std::error_code error;
  const auto places = data_folders();
  for (const fs::path& place : places) {
    const fs::path path = (place / name).lexically_normal();
    if (fs::exists(path, error)) return path.string();
  }
  std::string all;
  for (const fs::path& place : places)
    all += (all.empty() ? "" : " nor in ") + place.lexically_normal().string();
  return fail(ErrorCode::unavailable,
              fmt::format("the bundled file {} is neither in {}: install SchedMate completely "
                          "(make install), or run it from its build folder",
                          name, all));
}

std::string module_file(std::string_view name) {
  std::error_code error;
  const fs::path folder = folder_of_program();
  for (const fs::path& place : {folder, folder / "../lib/schedmate"}) {
    const fs::path path = (place / name).lexically_normal();
    if (fs::exists(path, error)) return path.string();
  }
  return {};
}

}  // namespace schedmate::settings
