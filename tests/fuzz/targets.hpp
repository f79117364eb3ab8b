// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Fuzz targets: one function for each kind of text that comes from outside. libFuzzer drives them
/// through entry.cpp, the ordinary tests through seeded_test.cpp. A target aborts when a reader
/// breaks a promise; that it neither crashes nor hangs is the driver's business.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>
#include <string_view>

namespace schedmate::fuzz {

#define FORMAT(name, summary) void fuzz_##name(std::string_view input);
#include "trace/formats.def"
#undef FORMAT
void fuzz_cluster(std::string_view input);
void fuzz_tables(std::string_view input);
void fuzz_reply(std::string_view input);      ///< of a language model
void fuzz_log_reply(std::string_view input);  ///< of one about logs
void fuzz_redact(std::string_view input);
void fuzz_ignore(std::string_view input);
void fuzz_notebook(std::string_view input);
void fuzz_recipes(std::string_view input);  ///< and the files beside them
void fuzz_log_lines(std::string_view input);
void fuzz_log_formats(std::string_view input);
void fuzz_kernel_log(std::string_view input);
void fuzz_accounting(std::string_view input);  ///< and the world that whatif makes of it
void fuzz_jobstats(std::string_view input);    ///< comments in accounting dumps
void fuzz_slurm(std::string_view input);       ///< a cluster's queue
/// Answers of the process that has Slurm's library, what sacct prints, scripts of jobs.
void fuzz_ray(std::string_view input);  ///< a head of Ray
void fuzz_slurm_library(std::string_view input);
void fuzz_http(std::string_view input);     ///< heads of requests, targets, token files
void fuzz_wire(std::string_view input);     ///< lines of a cluster in another process
void fuzz_reader(std::string_view input);   ///< lines to and from what reads for users
void fuzz_probe(std::string_view input);    ///< messages, keys, DCGM's text, a kernel's records
void fuzz_elastic(std::string_view input);  ///< clusters, applications and their tables

/// What every reader promises of its result, good or bad.
void check_trace(const Result<Trace>& trace);

}  // namespace schedmate::fuzz
