// SPDX-License-Identifier: Apache-2.0
#include "daemon/advice_desk.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/findings.hpp"
#include "daemon/historian.hpp"

namespace schedmate::daemon {
namespace {

/// A password may be put right: the study comes again, as ends of jobs do.
Error away(Error error) {
  if (error.code == ErrorCode::refused) error.code = ErrorCode::unavailable;
  return error;
}

}  // namespace

void AdviceDesk::make(std::uint64_t loop, live::Study study, const reader::Ask& ask) {
  if (study.what != live::Study::What::code || !ask) return studies_.make(loop, study, ask);
  worker_.ask([this, loop, ask, study = std::move(study)]() mutable {
    const auto found = given(study.job);
    if (!found) return studies_.settle(loop, study.number, tl::unexpected(found.error()));
    if (*found) return studies_.settle(loop, study.number, **found);
    scripts_.make(loop, std::move(study), ask);
  });
}

Result<std::optional<live::CodeFound>> AdviceDesk::given(const SeenJob& job) {
  const auto store = history_.store();
  if (!store) return tl::unexpected(away(store.error()));
  if (*store == nullptr) return std::nullopt;
  const auto record = (*store)->get(job.id);
  if (!record) {
    history_.close();
    return tl::unexpected(away(record.error()));
  }
  // Ids come again.
  const bool is_it =
      *record && (*record)->user == job.user && (*record)->submit == submission_on_record(job);
  if (!is_it || !(*record)->advice) return std::nullopt;
  return code_found(*(*record)->advice);
}

}  // namespace schedmate::daemon
