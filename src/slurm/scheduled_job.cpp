// SPDX-License-Identifier: Apache-2.0
#include "slurm/scheduled_job.hpp"

#include <algorithm>

namespace schedmate::slurm {

bool is_slurm_id(std::string_view text) {
  constexpr std::size_t longest = 40;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || text.size() > longest) return false;
  if (digits == text.size()) return true;
  const std::string_view rest = text.substr(digits + 1);
  return (text[digits] == '_' || text[digits] == '+') && !rest.empty() &&
         rest.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace schedmate::slurm
