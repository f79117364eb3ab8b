// SPDX-License-Identifier: Apache-2.0

/// `sacct --parsable2` with any fields in any order (docs/formats/whatif.md).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "trace/accounting_builder.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/jobstats_summary.hpp"
#include "trace/sacct_rows.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

using Column = SacctRows::Column;

constexpr std::string_view all_fields =
    "JobID,User,Group,Account,Cluster,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,"
    "ElapsedRaw,TimelimitRaw,AllocTRES,TotalCPU,MaxRSS,NTasks,TRESUsageInTot,ConsumedEnergyRaw,"
    "NodeList,Reason,AdminComment,WorkDir,JobName,SubmitLine";

struct Columns {
  Column id, user, partition, qos, state, submit, eligible, start, end, elapsed;
  Column limit_minutes, limit_text, allocated, requested, cpus, nodes, reason, exit, restarts;
  Column name, work_dir, submit_line, cluster, account, log;
  Column cpu_time, peak, tasks, used, memory, node_count, comment;
  Column group, energy;
};

Columns find_columns(const SacctRows& rows) {
  using Names = std::initializer_list<std::string_view>;
  const auto first = [&](Names names) { return rows.find({names.begin(), names.size()}); };
  return {.id = first({"JobID", "JobIDRaw"}),
          .user = first({"User", "UID"}),
          .partition = rows.find("Partition"),
          .qos = rows.find("QOS"),
          .state = rows.find("State"),
          .submit = rows.find("Submit"),
          .eligible = rows.find("Eligible"),
          .start = rows.find("Start"),
          .end = rows.find("End"),
          .elapsed = first({"ElapsedRaw", "Elapsed"}),
          .limit_minutes = rows.find("TimelimitRaw"),
          .limit_text = rows.find("Timelimit"),
          .allocated = first({"AllocTRES", "AllocGRES"}),
          .requested = first({"ReqTRES", "ReqGRES"}),
          .cpus = first({"AllocCPUS", "NCPUS"}),
          .nodes = rows.find("NodeList"),
          .reason = rows.find("Reason"),
          .exit = rows.find("ExitCode"),
          .restarts = rows.find("Restarts"),
          .name = rows.find("JobName"),
          .work_dir = rows.find("WorkDir"),
          .submit_line = rows.find("SubmitLine"),
          .cluster = rows.find("Cluster"),
          .account = rows.find("Account"),
          .log = rows.find("StdOut"),
          .cpu_time = rows.find("TotalCPU"),
          .peak = rows.find("MaxRSS"),
          .tasks = rows.find("NTasks"),
          .used = rows.find("TRESUsageInTot"),
          .memory = rows.find("ReqMem"),
          .node_count = first({"NNodes", "AllocNodes"}),
          .comment = rows.find("AdminComment"),
          .group = first({"Group", "GID"}),
          .energy = rows.find("ConsumedEnergyRaw")};
}

Column either(Column first, Column second) { return first == SacctRows::none ? second : first; }

Result<void> check_columns(const Columns& columns, const std::string& name, bool lenient) {
  struct Needed {
    Column column;
    std::string_view field;
    bool by_all = true;
  };
  std::vector<std::string_view> missing;
  for (const auto& [column, field, by_all] :
       {Needed{columns.id, "JobID"}, Needed{columns.user, "User", false},
        Needed{columns.partition, "Partition", false}, Needed{columns.state, "State", false},
        Needed{columns.submit, "Submit"}, Needed{columns.start, "Start"},
        Needed{lenient ? either(columns.end, columns.elapsed) : columns.end, "End"},
        Needed{either(columns.allocated, columns.requested), "AllocTRES"}}) {
    if (column == SacctRows::none && (by_all || !lenient)) missing.emplace_back(field);
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::invalid,
              fmt::format("{}:1: the header line has no {}; make the dump with `{}`", name,
                          fmt::join(missing, ", "), sacct_command()));
}

bool counts_every_gpu(std::string_view tres) {
  while (const auto item = next_gpu_item(tres)) {
    if (!count_of_gpu_item(*item)) return false;
  }
  return true;
}

std::optional<std::int64_t> cpus_in(std::string_view tres) {
  for (const std::string_view item : split(tres, ',')) {
    if (item.starts_with("cpu=")) return parse_number<std::int64_t>(item.substr(4));
  }
  return std::nullopt;
}

/// What a row of a job or of a step says of its use. Nothing was measured where it says zero.
AccountedUse use_in(const SacctRows& rows, const Columns& columns, std::int64_t gpus) {
  AccountedUse use;
  const auto text = [&](Column column) { return trim(rows.field(column)); };
  const auto some = [](std::optional<double> number) {
    return number && *number > 0 ? number : std::nullopt;
  };
  if (const auto seconds = some(parse_cpu_time(text(columns.cpu_time))))
    use.cpu_time = FractionalSeconds(*seconds);
  constexpr double byte_mib = 1.0 / (1024 * 1024);
  const std::string_view used = text(columns.used);
  use.memory_mib = some(parse_memory_mib(tres_value(used, "mem"), byte_mib));
  if (!use.memory_mib) {
    const auto tasks = parse_number<std::int64_t>(text(columns.tasks)).value_or(1);
    const auto peak = some(parse_memory_mib(text(columns.peak), byte_mib));
    if (peak && tasks > 0) use.memory_mib = *peak * static_cast<double>(tasks);
  }
  const auto per_gpu = [&](std::optional<double> total) {
    return total && gpus > 0 ? std::optional(*total / static_cast<double>(gpus)) : std::nullopt;
  };
  use.gpu_util_pct = per_gpu(parse_number<double>(tres_value(used, "gres/gpuutil")));
  if (use.gpu_util_pct) use.gpu_util_pct = std::clamp(*use.gpu_util_pct, 0.0, 100.0);
  use.gpu_memory_mib = per_gpu(parse_memory_mib(tres_value(used, "gres/gpumem"), byte_mib));
  use.energy_j = known_energy(parse_number<double>(text(columns.energy)));
  if (!use.energy_j)
    use.energy_j =
        known_energy(parse_number<double>(tres_value(text(columns.allocated), "energy")));
  return use;
}

/// One row: its fields, and the first fault in them.
class RowReader {
 public:
  RowReader(const SacctRows& rows, const Columns& columns) : rows_(rows), columns_(columns) {}

  AccountingRow read() {
    AccountingRow row;
    row.id = text(columns_.id);
    row.user = text(columns_.user);
    row.group = text(columns_.group);
    row.partition = text(columns_.partition);
    row.qos = text(columns_.qos);
    row.state = text(columns_.state);
    row.reason = text(columns_.reason);
    row.exit_code = text(columns_.exit);
    row.cluster = text(columns_.cluster);
    row.account = text(columns_.account);
    row.log = text(columns_.log);
    row.nodes = text(columns_.nodes);
    row.name = text(columns_.name);
    row.work_dir = text(columns_.work_dir);
    row.submit_line = text(columns_.submit_line);
    row.submit_s = time(columns_.submit, RowField::submit);
    row.eligible_s = time(columns_.eligible, RowField::eligible);
    row.start_s = time(columns_.start, RowField::start);
    row.end_s = time(columns_.end, RowField::end);
    row.elapsed_s = parse_elapsed(text(columns_.elapsed));
    row.restarts = parse_number<std::int64_t>(text(columns_.restarts)).value_or(0);
    read_resources(row);
    read_limit(row);
    return row;
  }
  [[nodiscard]] const std::optional<RowFault>& fault() const { return fault_; }

 private:
  [[nodiscard]] std::string_view text(Column column) const { return trim(rows_.field(column)); }

  void blame(RowField field, std::string_view what) {
    if (!fault_) fault_ = RowFault{field, std::string(what)};
  }

  std::optional<std::int64_t> time(Column column, RowField field) {
    const std::string_view value = text(column);
    if (is_unknown(value)) return std::nullopt;
    const auto seconds = parse_time(value);
    if (!seconds) {
      blame(field,
            "is neither a date such as 2024-03-01T10:00:00 nor Unix seconds (unset "
            "SLURM_TIME_FORMAT for sacct)");
    }
    return seconds;
  }

  void read_resources(AccountingRow& row) {
    const std::string_view allocated = text(columns_.allocated);
    const std::string_view tres = allocated.empty() ? text(columns_.requested) : allocated;
    row.allocated = !allocated.empty();
    row.gpus = gpus_of_tres(tres).value_or(0);
    if (!counts_every_gpu(tres)) blame(RowField::gpus, "has no plausible number after gpu");
    types_ = gpu_types_of_tres(tres);
    row.gpu_type = types_;
    row.use = use_in(rows_, columns_, row.gpus);
    row.unread = read_summary(text(columns_.comment), row.use);
    row.cpus = cpus_in(tres).value_or(parse_number<std::int64_t>(text(columns_.cpus)).value_or(0));
    if (row.cpus < 0 || row.cpus > most_gpus) blame(RowField::cpus, "is not a plausible number");
    row.memory_mib = parse_memory_mib(tres_value(tres, "mem"), 1);
    if (!row.memory_mib) row.memory_mib = requested_memory(row.cpus);
  }

  /// ReqMem, which up to 21.08 ends in n (a node) or c (a CPU).
  [[nodiscard]] std::optional<double> requested_memory(std::int64_t cpus) const {
    std::string_view value = text(columns_.memory);
    double units = 1;
    if (value.ends_with('c')) units = static_cast<double>(cpus);
    if (value.ends_with('n')) units = parse_number<double>(text(columns_.node_count)).value_or(1);
    if (value.ends_with('c') || value.ends_with('n')) value.remove_suffix(1);
    const auto memory = parse_memory_mib(value, 1);
    return memory && *memory > 0 ? std::optional(*memory * units) : std::nullopt;
  }

  void read_limit(AccountingRow& row) {
    const bool raw = columns_.limit_minutes != SacctRows::none;
    if (!raw && columns_.limit_text == SacctRows::none) return;
    const std::string_view value = text(raw ? columns_.limit_minutes : columns_.limit_text);
    row.limit_kind = LimitKind::partition;
    if (value == "UNLIMITED") row.limit_kind = LimitKind::unlimited;
    if (is_unknown(value) || value == "Partition_Limit" || value == "UNLIMITED") return;
    const auto number = raw ? parse_number<std::int64_t>(value) : parse_elapsed(value);
    const std::int64_t unit_s = raw ? 60 : 1;
    if (!number || *number < 0 || *number > longest_run_s / unit_s)
      return blame(RowField::limit,
                   "is neither a number of minutes nor Partition_Limit or UNLIMITED");
    row.limit_kind = LimitKind::given;
    row.limit_s = *number * unit_s;
  }

  const SacctRows& rows_;
  const Columns& columns_;
  std::string types_;
  std::optional<RowFault> fault_;
};

Column column_of(RowField field, const Columns& columns) {
  switch (field) {
    case RowField::id:
      return columns.id;
    case RowField::state:
      return columns.state;
    case RowField::submit:
      return columns.submit;
    case RowField::eligible:
      return columns.eligible;
    case RowField::start:
      return columns.start;
    case RowField::end:
      return columns.end;
    case RowField::limit:
      return columns.limit_minutes != SacctRows::none ? columns.limit_minutes : columns.limit_text;
    case RowField::gpus:
      return columns.allocated != SacctRows::none ? columns.allocated : columns.requested;
    case RowField::cpus:
      return columns.cpus;
    case RowField::nodes:
      return columns.nodes;
  }
  return SacctRows::none;
}

void read_row(const SacctRows& rows, const Columns& columns, AccountingBuilder& builder) {
  if (!rows.fault().empty()) return builder.reject(rows.fault(), rows.line(), 1);
  const std::string_view id = trim(rows.field(columns.id));
  if (const std::size_t point = id.find('.'); point != std::string_view::npos) {
    const auto gpus = gpus_of_tres(rows.field(columns.allocated)).value_or(0);
    return builder.add_step(id.substr(0, point), use_in(rows, columns, gpus));
  }
  RowReader reader(rows, columns);
  const AccountingRow row = reader.read();
  auto fault = reader.fault();
  if (!fault) fault = builder.add(row);
  if (!fault) return;
  const Column column = column_of(fault->field, columns);
  const std::string name = column == SacctRows::none ? "a field" : rows.header()[column];
  builder.reject(fmt::format("{} {}", name, fault->what), rows.line(), rows.position(column));
}

}  // namespace

std::string sacct_command() {
  return fmt::format(
      "TZ=UTC sacct --allusers --duplicates --parsable2 --starttime 2024-01-01 --format {}",
      all_fields);
}

Result<AccountingDump> parse_accounting_text(std::string_view text, const std::string& name,
                                             const AccountingOptions& options) {
  constexpr std::uint64_t look_every = 4096;
  auto rows = SacctRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const Columns columns = find_columns(*rows);
  if (auto ok = check_columns(columns, name, options.lenient); !ok)
    return tl::unexpected(ok.error());
  AccountingBuilder builder(name, options);
  if (columns.eligible == SacctRows::none) builder.lacks_eligible();
  for (std::uint64_t count = 1; !builder.stopped() && rows->next(); ++count) {
    read_row(*rows, columns, builder);
    if (options.progress && count % look_every == 0) options.progress(rows->done());
  }
  return std::move(builder).finish();
}

}  // namespace schedmate::trace

namespace schedmate {

std::string_view accounting_fields() { return trace::all_fields; }

}  // namespace schedmate
