// SPDX-License-Identifier: Apache-2.0
#include "facts/tables.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/input.hpp"
#include "base/text.hpp"
#include "facts/tables_rows.hpp"

namespace schedmate::embedded {
extern const std::string_view models_toml;
extern const std::string_view datasets_toml;
extern const std::string_view optimizers_toml;
extern const std::string_view defaults_toml;
}  // namespace schedmate::embedded

namespace schedmate::facts {
namespace {

using AddRows = Result<void> (*)(const TableFile&, Tables::Rows&);
struct Reader {
  std::string_view name;
  AddRows add;
};
constexpr std::array readers = {
    Reader{"models.toml", add_models}, Reader{"datasets.toml", add_datasets},
    Reader{"optimizers.toml", add_optimizers}, Reader{"defaults.toml", add_defaults}};

// What may follow a name within one word: BertForMaskedLM, MNISTDataModule.
const std::vector<std::string_view> model_endings = {"for",  "lm",         "model",
                                                     "with", "classifier", "learner"};
const std::vector<std::string_view> dataset_endings = {"data", "dataset", "loader", "task"};

void put_size(std::string& name, const std::string& size) {
  constexpr std::string_view mark = "{size}";
  if (const auto at = name.find(mark); at != std::string::npos) name.replace(at, mark.size(), size);
}

bool fits(std::string_view callee, const CalleePattern& pattern) {
  return callee.size() >= pattern.start.size() + pattern.end.size() &&
         callee.starts_with(pattern.start) && callee.ends_with(pattern.end);
}

}  // namespace

std::span<const TableFile> builtin_tables() {
  static const std::array files = {TableFile{"models.toml", embedded::models_toml},
                                   TableFile{"datasets.toml", embedded::datasets_toml},
                                   TableFile{"optimizers.toml", embedded::optimizers_toml},
                                   TableFile{"defaults.toml", embedded::defaults_toml}};
  return files;
}

std::vector<int> version_numbers(std::string_view text) {
  std::vector<int> numbers;
  for (const auto part : split(text, '.')) {
    const auto number = parse_number<int>(part);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

Tables::Tables(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
Tables::Tables(Tables&&) noexcept = default;
Tables& Tables::operator=(Tables&&) noexcept = default;
Tables::~Tables() = default;

Result<Tables> Tables::load(std::span<const std::string> extra_folders) {
  auto rows = std::make_unique<Rows>();
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (auto added = readers[i].add(builtin_tables()[i], *rows); !added)
      return tl::unexpected(added.error());
  }
  for (const std::string& folder : extra_folders) {
    for (const auto& [name, add] : readers) {
      const auto path = std::filesystem::path(folder) / name;
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored)) continue;
      const auto text = read_file(path.string());
      if (!text) return tl::unexpected(text.error());
      if (auto added = add({name, *text}, *rows); !added) return tl::unexpected(added.error());
    }
  }
  return Tables(std::move(rows));
}

std::optional<ModelMatch> Tables::find_model(std::string_view text) const {
  const auto hit = rows_->model_names.search(text, model_endings);
  if (!hit) return std::nullopt;
  const ModelRow& row = rows_->models[hit->entry->row];
  ModelMatch match{row.name, row.family, row.type, row.task, row.params_millions, row.row};
  if (hit->entry->member) {
    const ModelMember& member = row.members[*hit->entry->member];
    match.name = member.name;
    match.params_millions = member.params_millions;
    match.row = member.row;
  } else if (hit->size) {
    match.name = row.sized;
    put_size(match.name, hit->size->text);
    match.params_millions = hit->size->millions;
  }
  return match;
}

std::optional<DatasetMatch> Tables::find_dataset(std::string_view text) const {
  const auto hit = rows_->dataset_names.search(text, dataset_endings);
  if (!hit) return std::nullopt;
  return rows_->datasets[hit->entry->row];
}

std::optional<OptimizerMatch> Tables::find_optimizer(std::string_view text) const {
  const NameEntry* entry = rows_->optimizer_names.find(text);
  if (entry == nullptr) entry = rows_->optimizer_names.find(text.substr(text.rfind('.') + 1));
  if (entry == nullptr) return std::nullopt;
  const auto& [name, row] = rows_->optimizers[entry->row];
  return OptimizerMatch{name, row};
}

std::optional<DefaultMatch> Tables::find_default(std::string_view callee, std::string_view argument,
                                                 std::string_view version) const {
  std::vector<std::size_t> candidates;
  const auto [first, last] = rows_->callees.equal_range(std::string(callee));
  for (auto at = first; at != last; ++at) candidates.push_back(at->second);
  if (candidates.empty()) {
    for (const CalleePattern& pattern : rows_->callee_patterns)
      if (fits(callee, pattern)) candidates.push_back(pattern.row);
  }
  // Rows of an operator come last and win; an older row only when the version is known to be older.
  std::ranges::sort(candidates, std::greater());
  const auto wanted = version_numbers(version);
  const DefaultRow* best = nullptr;
  for (const std::size_t at : candidates) {
    const DefaultRow& row = rows_->defaults[at];
    if (!row.arguments.contains(argument)) continue;
    if (!row.before.empty() && (wanted.empty() || wanted >= row.before)) continue;
    const bool is_closer = best != nullptr && !row.before.empty() &&
                           (best->before.empty() || row.before < best->before);
    if (best == nullptr || is_closer) best = &row;
  }
  if (best == nullptr) return std::nullopt;
  return best->arguments.find(argument)->second;
}

}  // namespace schedmate::facts
