// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept_uses.hpp"

#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/json_reader.hpp"
#include "base/output.hpp"

namespace schedmate::daemon {
namespace {

std::string file_in(const std::string& state_dir) { return state_dir + "/uses.json"; }

}  // namespace

void restore_uses(Probes& probes, const std::string& state_dir) {
  const auto text = read_file(file_in(state_dir));
  if (!text) return;
  constexpr JsonBounds bounds{.deepest = 8, .most_values = 50'000'000};
  if (const auto kept = read_json(*text, bounds)) probes.restore(*kept);
}

Result<void> keep_uses(const Document& kept, const std::string& state_dir) {
  auto file = OutputFile::create(file_in(state_dir), Kept::secret);
  if (!file) return tl::unexpected(file.error());
  file->append(in_one_line(kept));
  return file->commit();
}

}  // namespace schedmate::daemon
