// SPDX-License-Identifier: Apache-2.0

/// The rule tables from TOML. A row that cannot be right is an error with its line.

#include <fmt/format.h>

#include <algorithm>

#include "base/table_reader.hpp"
#include "base/text.hpp"
#include "facts/tables_rows.hpp"

namespace schedmate::facts {
namespace {

constexpr Bounds params_in_millions{1e-6, 5e6};
constexpr Bounds number_of_samples{1, 1e15};

/// One file of rows of a kind; its lines are the evidence of what is read.
class RowFile {
 public:
  explicit RowFile(const TableFile& file)
      : file_(fmt::format("rules/{}", file.name)),
        text_(file.text),
        lines_(split(file.text, '\n')) {}

  /// Calls `read` with each [[kind]].
  Result<void> rows(std::string_view kind, const TableReader::Read& read) const {
    return TableReader::read(text_, file_, [&](TableReader& all) { all.maybe_tables(kind, read); });
  }
  [[nodiscard]] Evidence at(TomlPlace place) const {
    const auto text =
        place.line >= 1 && place.line <= lines_.size() ? trim(lines_[place.line - 1]) : "";
    return {file_, static_cast<int>(place.line), std::string(text)};
  }

 private:
  std::string file_;
  std::string_view text_;
  std::vector<std::string_view> lines_;
};

/// Text, list and number members of a row, each "" or empty where it has none.
std::string text_of(TableReader& row, std::string_view key) {
  std::string text;
  row.maybe_text(key, text);
  return text;
}

std::vector<std::string> texts_of(TableReader& row, std::string_view key) {
  std::vector<std::string> texts;
  row.maybe_texts(key, texts);
  return texts;
}

std::string name_of(TableReader& row) {
  std::string name;
  row.text("name", name);
  return name;
}

std::optional<double> params_of(TableReader& row) {
  double params = 0;
  if (!row.maybe_number("params_m", params, params_in_millions)) return std::nullopt;
  return params;
}

/// The place of a row: that of the row of the same name, which it replaces, or a new one.
template <class Rows>
std::size_t place_for(std::string_view name, Rows& rows, NameIndex& index) {
  const auto is_same = [&](const auto& row) { return row.name == name; };
  const auto held = std::ranges::find_if(rows, is_same);
  const auto place = static_cast<std::size_t>(held - rows.begin());
  if (held == rows.end()) {
    rows.emplace_back();
  } else {
    index.remove_row(place);
    *held = {};
  }
  return place;
}

/// Enters names of a row; `owner_of` names the row that has one already.
template <class OwnerOf>
void enter(TableReader& row, NameIndex& index, NameEntry entry, OwnerOf owner_of) {
  for (const std::string& name : texts_of(row, entry.weak ? "weak" : "aliases")) {
    if (name_key(name).size() < 2)
      return row.refuse("name", fmt::format("the alias '{}' is too short", name));
    if (const NameEntry* held = index.add(name, entry))
      row.refuse("name",
                 fmt::format("the alias '{}' belongs to '{}' already", name, owner_of(held->row)));
  }
}

void add_model(const RowFile& file, TableReader& row, Tables::Rows& rows) {
  const std::string name = name_of(row);
  const auto place = place_for(name, rows.models, rows.model_names);
  ModelRow& made = rows.models[place];
  made = {name,
          text_of(row, "family"),
          text_of(row, "type"),
          text_of(row, "task"),
          params_of(row),
          text_of(row, "sized"),
          {},
          file.at(row.place("name"))};
  if (made.family.empty()) made.family = made.name;
  const auto owner = [&](std::size_t at) { return rows.models[at].name; };
  NameEntry entry{.row = place, .sized = !made.sized.empty()};
  enter(row, rows.model_names, entry, owner);
  row.maybe_tables("sizes", [&](TableReader& member) {
    const NameEntry one{.row = place, .member = made.members.size()};
    made.members.push_back({name_of(member), params_of(member), file.at(member.place("name"))});
    enter(member, rows.model_names, one, owner);
  });
  entry.weak = true;
  enter(row, rows.model_names, entry, owner);
}

void add_dataset(const RowFile& file, TableReader& row, Tables::Rows& rows) {
  const std::string name = name_of(row);
  const auto place = place_for(name, rows.datasets, rows.dataset_names);
  DatasetMatch& made = rows.datasets[place];
  made = {name, text_of(row, "domain"), {}, file.at(row.place("name"))};
  if (std::int64_t samples = 0; row.maybe_whole("samples", samples, number_of_samples))
    made.samples = samples;
  const auto owner = [&](std::size_t at) { return rows.datasets[at].name; };
  for (const bool weak : {false, true})
    enter(row, rows.dataset_names, {.row = place, .weak = weak}, owner);
}

/// A default's value; nothing for lists.
FactValue value_of(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::text:
      return value.text;
    case TomlValue::Kind::whole:
      return value.whole;
    case TomlValue::Kind::real:
      return value.number;
    case TomlValue::Kind::flag:
      return value.flag;
    default:
      return {};
  }
}

void add_callee(const std::string& callee, std::size_t row, Tables::Rows& rows) {
  const auto star = callee.find('*');
  if (star == std::string::npos) {
    rows.callees.emplace(callee, row);
  } else {
    rows.callee_patterns.push_back({callee.substr(0, star), callee.substr(star + 1), row});
  }
}

}  // namespace

Result<void> add_models(const TableFile& table, Tables::Rows& rows) {
  const RowFile file(table);
  return file.rows("model", [&](TableReader& row) { add_model(file, row, rows); });
}

Result<void> add_datasets(const TableFile& table, Tables::Rows& rows) {
  const RowFile file(table);
  return file.rows("dataset", [&](TableReader& row) { add_dataset(file, row, rows); });
}

Result<void> add_optimizers(const TableFile& table, Tables::Rows& rows) {
  const RowFile file(table);
  return file.rows("optimizer", [&](TableReader& row) {
    const std::string name = name_of(row);
    const auto place = place_for(name, rows.optimizers, rows.optimizer_names);
    rows.optimizers[place] = {name, file.at(row.place("name"))};
    const auto owner = [&](std::size_t at) { return rows.optimizers[at].name; };
    enter(row, rows.optimizer_names, {.row = place}, owner);
  });
}

Result<void> add_defaults(const TableFile& table, Tables::Rows& rows) {
  const RowFile file(table);
  return file.rows("default", [&](TableReader& row) {
    DefaultRow made;
    made.before = version_numbers(text_of(row, "before"));
    std::vector<std::string> callees;
    row.texts("callees", callees);
    row.table("arguments", [&](TableReader& arguments) {
      arguments.entries([&](const std::string& name, const TomlValue& value) -> Result<void> {
        made.arguments[name] = {value_of(value), file.at(value.place)};
        return {};
      });
    });
    for (const std::string& callee : callees) add_callee(callee, rows.defaults.size(), rows);
    rows.defaults.push_back(std::move(made));
  });
}

}  // namespace schedmate::facts
