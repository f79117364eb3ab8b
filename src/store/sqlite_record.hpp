// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Job records as rows of the tables `jobs` and `details`.

#include <schedmate/job_record.hpp>
#include <string>

#include "sqlite/database.hpp"

namespace schedmate::store {

/// Writes both rows, replacing those under `key`; 0 = a new job.
void write_job(sqlite::Database& database, std::int64_t key, const JobRecord& record);
void write_outcome(sqlite::Database& database, std::int64_t key, const Outcome& outcome);

/// "SELECT ... FROM jobs ... WHERE condition"; a brief one leaves the long texts where they are.
[[nodiscard]] std::string select_jobs(bool brief, const std::string& condition);
/// The current row of such a selection. Errors: invalid (damaged).
[[nodiscard]] Result<JobRecord> read_job(const sqlite::Query& query);

}  // namespace schedmate::store
