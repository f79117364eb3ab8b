// SPDX-License-Identifier: Apache-2.0

/// `sacct --parsable2` with any fields in any order (docs/formats/whatif.md).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "base/text.hpp"
#include "trace/accounting_builder.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/sacct_rows.hpp"
#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

using Column = SacctRows::Column;

constexpr std::string_view command =
    "TZ=UTC sacct --allusers --duplicates --parsable2 --starttime 2024-01-01 --format "
    "JobID,User,Partition,QOS,State,ExitCode,Submit,Eligible,Start,End,TimelimitRaw,AllocTRES,"
    "NodeList,Reason,WorkDir,JobName,SubmitLine";

struct Columns {
  Column id, user, partition, qos, state, submit, eligible, start, end, elapsed;
  Column limit_minutes, limit_text, allocated, requested, cpus, nodes, reason, exit, restarts;
  Column name, work_dir, submit_line, cluster;
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
          .cluster = rows.find("Cluster")};
}

Result<void> check_columns(const Columns& columns, const std::string& name) {
  std::vector<std::string_view> missing;
  for (const auto& [column, field] :
       {std::pair{columns.id, "JobID"}, std::pair{columns.user, "User"},
        std::pair{columns.partition, "Partition"}, std::pair{columns.state, "State"},
        std::pair{columns.submit, "Submit"}, std::pair{columns.start, "Start"},
        std::pair{columns.end, "End"},
        std::pair{columns.allocated == SacctRows::none ? columns.requested : columns.allocated,
                  "AllocTRES"}}) {
    if (column == SacctRows::none) missing.emplace_back(field);
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::invalid,
              fmt::format("{}:1: the header line has no {}; make the dump with `{}`", name,
                          fmt::join(missing, ", "), command));
}

/// The types in "gres/gpu:a100=4,gres/gpu=4", each once, in order, separated by commas.
std::string types_in(std::string_view tres) {
  std::string types;
  while (auto item = next_gpu_item(tres)) {
    if (!item->starts_with(':')) continue;
    item->remove_prefix(1);
    const std::string_view type = item->substr(0, item->find_first_of("=:"));
    if (type.empty() || parse_number<std::int64_t>(type)) continue;  // "gpu:4" has no type
    add_gpu_type(types, type);
  }
  return types;
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

/// One row: its fields, and the first fault in them.
class RowReader {
 public:
  RowReader(const SacctRows& rows, const Columns& columns) : rows_(rows), columns_(columns) {}

  AccountingRow read() {
    AccountingRow row;
    row.id = text(columns_.id);
    row.user = text(columns_.user);
    row.partition = text(columns_.partition);
    row.qos = text(columns_.qos);
    row.state = text(columns_.state);
    row.reason = text(columns_.reason);
    row.exit_code = text(columns_.exit);
    row.cluster = text(columns_.cluster);
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
    types_ = types_in(tres);
    row.gpu_type = types_;
    row.cpus = cpus_in(tres).value_or(parse_number<std::int64_t>(text(columns_.cpus)).value_or(0));
    if (row.cpus < 0 || row.cpus > most_gpus) blame(RowField::cpus, "is not a plausible number");
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
  if (rows.field(columns.id).find('.') != std::string_view::npos) return builder.skip("job step");
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

Result<AccountingDump> parse_accounting_text(std::string_view text, const std::string& name,
                                             const AccountingOptions& options) {
  constexpr std::uint64_t look_every = 4096;
  auto rows = SacctRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const Columns columns = find_columns(*rows);
  if (auto ok = check_columns(columns, name); !ok) return tl::unexpected(ok.error());
  AccountingBuilder builder(name, options.strict);
  if (columns.eligible == SacctRows::none) builder.lacks_eligible();
  for (std::uint64_t count = 1; !builder.stopped() && rows->next(); ++count) {
    read_row(*rows, columns, builder);
    if (options.progress && count % look_every == 0) options.progress(rows->done());
  }
  return std::move(builder).finish();
}

}  // namespace schedmate::trace
