// SPDX-License-Identifier: Apache-2.0
#include "log/failure/raised_in.hpp"

#include <algorithm>
#include <array>

namespace schedmate::failure {
namespace {

/// "torch" of ".../site-packages/torch/nn/modules/module.py".
std::string_view package_of(std::string_view file) {
  for (const std::string_view mark : {"-packages/", "-packages\\"}) {
    const auto at = file.rfind(mark);
    if (at == std::string_view::npos) continue;
    const auto rest = file.substr(at + mark.size());
    return rest.substr(0, rest.find_first_of("/\\."));
  }
  return "python";
}

}  // namespace

std::string_view name_of(RaisedIn place) {
  constexpr auto names = std::to_array<std::string_view>(
      {"none", "project", "library", "library_from_library", "only_library"});
  return names[static_cast<std::size_t>(place)];
}

bool is_library_file(std::string_view file) {
  constexpr auto marks = std::to_array<std::string_view>(
      {"site-packages", "dist-packages", "/lib/python", "\\Lib\\", "\\lib\\", "<frozen", "<string>",
       "<stdin>", "<__array_function__", "<decorator", ".pyx", ".egg/", "/cpython-"});
  const bool marked =
      std::ranges::any_of(marks, [&](std::string_view mark) { return file.contains(mark); });
  const auto name = file.substr(file.find_last_of("/\\") + 1);
  const bool script = file.contains("/bin/") && !name.contains('.');
  return marked || script;
}

RaisedIn raised_in(std::span<const Frame> frames) {
  // Who looks an attribute up that is not there fails, not the library's look-up.
  while (frames.size() > 1 && frames.back().function == "__getattr__" &&
         is_library_file(frames.back().file))
    frames = frames.first(frames.size() - 1);
  if (frames.empty()) return RaisedIn::nowhere;
  const auto is_own = [](const Frame& frame) { return !is_library_file(frame.file); };
  if (is_own(frames.back())) return RaisedIn::project;
  if (std::ranges::none_of(frames, is_own)) return RaisedIn::only_library;
  // Two packages between the job and the exception: one library called another one.
  std::vector<std::string_view> packages;
  for (std::size_t i = frames.size(); i > 0 && !is_own(frames[i - 1]); --i) {
    const auto package = package_of(frames[i - 1].file);
    if (std::ranges::find(packages, package) == packages.end()) packages.push_back(package);
  }
  std::erase(packages, "python");
  return packages.size() > 1 ? RaisedIn::library_from_library : RaisedIn::library;
}

}  // namespace schedmate::failure
