// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "advisor/advisor.hpp"
#include "advisor/command_flags.hpp"
#include "advisor/variant.hpp"
#include "core/facts_json.hpp"

namespace schedmate::advisor {
namespace {

/// Only of a program that was read: made metadata has a command that nothing stands behind.
void add_command_fields(const CommandFlags& flags, const Facts& facts, const FlagRules& rules,
                        Fields& fields) {
  fields["method"] = method_of(flags, rules);
  fields["variant"] = variant_of(flags, rules, fields);
  if (std::string program = program_of(facts); !program.empty())
    fields["program"] = std::move(program);
}

}  // namespace

JobRecord make_record(const Submission& submission, const Facts& facts, const FlagRules& rules) {
  JobRecord record = comparable_record(submission, facts, rules);
  record.facts_json = facts_json(facts, FactsDetail::found);
  record.closure = facts.tree;
  return record;
}

JobRecord comparable_record(const Submission& submission, const Facts& facts,
                            const FlagRules& rules) {
  JobRecord record;
  record.id = submission.id;
  record.user = submission.user;
  record.vc = submission.vc;
  record.submit = submission.submit;
  record.root = submission.job.root;
  record.workdir = submission.job.workdir;
  record.command = submission.job.command;
  record.branch = submission.branch;
  record.gpus = submission.job.gpus;
  record.nodes = submission.job.nodes;
  record.gpu_type = submission.job.gpu_type;
  record.time_limit = submission.time_limit;
  record.fields = fields_of(facts);
  if (field(record.fields, "gpus").empty() && record.gpus > 0)
    record.fields["gpus"] = std::to_string(record.gpus);
  if (!record.gpu_type.empty()) record.fields["gpu_type"] = record.gpu_type;
  record.text = embedding_text(record.fields);
  const std::string folder = folder_of(record.root, record.workdir);
  const CommandFlags flags = read_command_flags(record.command, rules, folder);
  record.entry = flags.entry;
  if (!facts.files_read.empty()) add_command_fields(flags, facts, rules, record.fields);
  return record;
}

}  // namespace schedmate::advisor
