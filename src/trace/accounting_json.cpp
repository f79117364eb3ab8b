// SPDX-License-Identifier: Apache-2.0

/// `sacct --json` of Slurm 21.08 to 25.11 (docs/formats/whatif.md), one job at a time.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trace/accounting_builder.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/jobstats_summary.hpp"
#include "trace/sacct_objects.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

/// Slurm's NO_VAL and INFINITE, as releases up to 22.05 print them.
constexpr std::int64_t no_value = 0xfffffffe;
constexpr std::int64_t infinite = 0xffffffff;

std::optional<JsonElement> at_path(JsonElement of, std::string_view first, std::string_view then) {
  const auto inner = member(of, first);
  return inner ? member(*inner, then) : std::nullopt;
}

/// GPUs, their types and CPUs of tres.allocated or tres.requested. False when the list is absent
/// or empty.
struct Resources {
  std::optional<std::int64_t> total, typed;
  std::int64_t cpus = 0;
  std::optional<double> memory_mib, energy_j;
  std::string types;
  bool wrong = false;
};
bool read_tres(JsonElement job, std::string_view which, Resources& out) {
  const auto list = at_path(job, "tres", which);
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS || items.size() == 0) return false;
  for (const JsonElement item : items) {
    const std::string_view type = text_of(member(item, "type"));
    const std::string_view name = text_of(member(item, "name"));
    const auto count = whole_of(member(item, "count"));
    if (type == "cpu") out.cpus = count.value_or(0);
    if (type == "mem" && count && *count > 0) out.memory_mib = static_cast<double>(*count);
    if (type == "energy" && count) out.energy_j = known_energy(static_cast<double>(*count));
    if (type != "gres" || (name != "gpu" && !name.starts_with("gpu:"))) continue;
    if (!count || *count < 0 || *count > most_gpus) {
      out.wrong = true;
    } else if (name == "gpu") {
      out.total = count;
    } else {
      out.typed = out.typed.value_or(0) + *count;
      add_gpu_type(out.types, name.substr(4));
    }
  }
  return true;
}

std::optional<FractionalSeconds> cpu_time_of(JsonElement of) {
  const auto total = at_path(of, "time", "total");
  if (!total) return std::nullopt;
  const double seconds =
      static_cast<double>(whole_of(member(*total, "seconds")).value_or(0)) +
      static_cast<double>(whole_of(member(*total, "microseconds")).value_or(0)) / 1e6;
  return seconds > 0 ? std::optional(FractionalSeconds(seconds)) : std::nullopt;
}

/// What a step used, as Slurm counts it: the total over its tasks, in bytes and per cent.
AccountedUse use_of_step(JsonElement step, std::int64_t gpus) {
  AccountedUse use;
  use.cpu_time = cpu_time_of(step);
  if (const auto energy = at_path(step, "statistics", "energy"))
    if (const auto joules = whole_of(member(*energy, "consumed")))
      use.energy_j = known_energy(static_cast<double>(*joules));
  const auto used = at_path(step, "tres", "requested");
  const auto list = used ? member(*used, "total") : std::nullopt;
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return use;
  constexpr double mib = 1024.0 * 1024;
  for (const JsonElement item : items) {
    const auto count = whole_of(member(item, "count")).value_or(0);
    if (count <= 0) continue;
    const auto total = static_cast<double>(count);
    const std::string_view name = text_of(member(item, "name"));
    if (text_of(member(item, "type")) == "mem") use.memory_mib = total / mib;
    if (gpus > 0 && name == "gpuutil")
      use.gpu_util_pct = std::min(100.0, total / static_cast<double>(gpus));
    if (gpus > 0 && name == "gpumem") use.gpu_memory_mib = total / mib / static_cast<double>(gpus);
  }
  return use;
}

class JobReader {
 public:
  explicit JobReader(JsonElement job) : job_(job) {}

  AccountingRow read() {
    AccountingRow row;
    row.id = id();
    row.user = user();
    row.group = text_of(member(job_, "group"));
    row.partition = text_of(member(job_, "partition"));
    row.qos = text_of(member(job_, "qos"));
    row.name = text_of(member(job_, "name"));
    row.work_dir = text_of(member(job_, "working_directory"));
    row.submit_line = text_of(member(job_, "submit_line"));
    row.state = state_of(job_);
    row.reason = text_of(at_path(job_, "state", "reason"));
    row.cluster = text_of(member(job_, "cluster"));
    row.account = text_of(member(job_, "account"));
    row.log = text_of(member(job_, "stdout"));
    row.nodes = text_of(member(job_, "nodes"));
    row.exit_code = exit_code();
    row.submit_s = time("submission", RowField::submit);
    row.eligible_s = time("eligible", RowField::eligible);
    row.start_s = time("start", RowField::start);
    row.end_s = time("end", RowField::end);
    row.elapsed_s = whole_of(at_path(job_, "time", "elapsed"));
    row.restarts = whole_of(member(job_, "restart_cnt")).value_or(0);
    read_limit(row);
    row.allocated = read_tres(job_, "allocated", resources_);
    if (!row.allocated) read_tres(job_, "requested", resources_);
    if (resources_.wrong) blame(RowField::gpus, "has no plausible number of GPUs");
    row.gpus = resources_.total.value_or(resources_.typed.value_or(0));
    row.gpu_type = resources_.types;
    row.cpus = resources_.cpus;
    row.memory_mib = resources_.memory_mib;
    row.use.cpu_time = cpu_time_of(job_);
    row.use.energy_j = resources_.energy_j;
    row.unread = read_summary(text_of(at_path(job_, "comment", "administrator")), row.use);
    if (row.cpus < 0 || row.cpus > most_gpus)
      blame(RowField::cpus, "has no plausible number of CPUs");
    return row;
  }
  [[nodiscard]] const std::optional<RowFault>& fault() const { return fault_; }

 private:
  void blame(RowField field, std::string_view what) {
    if (!fault_) fault_ = RowFault{field, std::string(what)};
  }

  /// "17+1" for a component of a het job.
  std::string_view id() {
    const auto leader = whole_of(at_path(job_, "het", "job_id"));
    const auto offset = whole_of(at_path(job_, "het", "job_offset"));
    if (leader.value_or(0) <= 0 || !offset) return print_id(job_, id_);
    const auto end = fmt::format_to_n(id_.begin(), id_.size(), "{}+{}", *leader, *offset);
    return {id_.data(), std::min(end.size, id_.size())};
  }

  /// Slurm 22.05 leaves `user` empty for jobs without an association; their Unix group is there.
  std::string_view user() {
    for (const auto& name :
         {member(job_, "user"), at_path(job_, "association", "user"), member(job_, "group")}) {
      if (const std::string_view text = text_of(name); !text.empty()) return text;
    }
    return {};
  }

  /// 0 is "not yet".
  std::optional<std::int64_t> time(std::string_view name, RowField field) {
    const auto value = at_path(job_, "time", name);
    const auto seconds = whole_of(value);
    if (seconds == 0) return std::nullopt;
    if (value && !value->is_object() && !seconds) blame(field, "is not a whole number of seconds");
    return seconds;
  }

  void read_limit(AccountingRow& row) {
    const auto value = at_path(job_, "time", "limit");
    if (!value) return;
    bool flag = false;
    row.limit_kind = LimitKind::partition;
    if (value->is_object() && value->at_key("infinite").get(flag) == simdjson::SUCCESS && flag)
      row.limit_kind = LimitKind::unlimited;
    const auto minutes = whole_of(value);
    if (minutes == infinite) row.limit_kind = LimitKind::unlimited;
    if (!minutes || *minutes == no_value || *minutes == infinite) return;
    if (*minutes < 0 || *minutes > longest_run_s / 60)
      return blame(RowField::limit, "is not a plausible number of minutes");
    row.limit_kind = LimitKind::given;
    row.limit_s = 60 * *minutes;
  }

  std::string_view exit_code() {
    const auto code = whole_of(at_path(job_, "exit_code", "return_code"));
    const auto signal = member(job_, "exit_code");
    const auto inner = signal ? member(*signal, "signal") : std::nullopt;
    auto number = inner ? whole_of(member(*inner, "id")) : std::nullopt;
    if (inner && !number) number = whole_of(member(*inner, "signal_id"));  // to 23.02
    const auto end = fmt::format_to_n(exit_.begin(), exit_.size(), "{}:{}", code.value_or(0),
                                      number.value_or(0));
    return {exit_.data(), std::min(end.size, exit_.size())};
  }

  JsonElement job_;
  std::array<char, 64> id_{};
  std::array<char, 64> exit_{};
  Resources resources_;
  std::optional<RowFault> fault_;
};

std::string_view name_of(RowField field) {
  switch (field) {
    case RowField::id:
      return "job_id";
    case RowField::state:
      return "state.current";
    case RowField::submit:
      return "time.submission";
    case RowField::eligible:
      return "time.eligible";
    case RowField::start:
      return "time.start";
    case RowField::end:
      return "time.end";
    case RowField::limit:
      return "time.limit";
    case RowField::gpus:
    case RowField::cpus:
      return "tres.allocated";
    case RowField::nodes:
      return "nodes";
  }
  return "a field";
}

void add_steps(JsonElement job, const AccountingRow& row, AccountingBuilder& builder) {
  const auto list = member(job, "steps");
  simdjson::dom::array steps;
  if (!list || list->get(steps) != simdjson::SUCCESS) return;
  for (const JsonElement step : steps) builder.use_step(row.id, use_of_step(step, row.gpus));
}

void read_job(JsonElement job, std::uint64_t line, AccountingBuilder& builder) {
  JobReader reader(job);
  const AccountingRow row = reader.read();
  // Often all of the JSON is one line: the job's number finds the place.
  const auto reject = [&](std::string_view what) {
    builder.reject(fmt::format("job {}: {}", row.id.empty() ? "without number" : row.id, what),
                   line, 0);
  };
  if (!member(job, "time")) return reject("it has no object \"time\"");
  auto fault = reader.fault();
  if (!fault) fault = builder.add(row);
  if (!fault) add_steps(job, row, builder);
  if (fault) reject(fmt::format("{} {}", name_of(fault->field), fault->what));
}

}  // namespace

Result<AccountingDump> parse_accounting_json(std::string start, const ReadBytes& rest,
                                             const std::string& name,
                                             const AccountingOptions& options) {
  JsonArray jobs(std::move(start), rest, name, "jobs");
  AccountingBuilder builder(name, options);
  simdjson::dom::parser parser;
  for (std::uint64_t number = 1; !builder.stopped(); ++number) {
    const auto object = jobs.next();
    if (!object) {
      return fail(ErrorCode::invalid,
                  object.error().message + " (make the dump again with `sacct --json`)");
    }
    if (!object->has_value()) break;
    if (const auto element = parse_object(parser, **object)) {
      read_job(*element, jobs.line(), builder);
    } else {
      builder.reject(fmt::format("job object {} of the array is not valid JSON (cut off or edited? "
                                 "make the dump again)",
                                 number),
                     jobs.line(), 0);
    }
  }
  return std::move(builder).finish();
}

}  // namespace schedmate::trace
