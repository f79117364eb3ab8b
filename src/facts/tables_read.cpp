// SPDX-License-Identifier: Apache-2.0

/// The rule tables from TOML. A row that cannot be right is an error with its line.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.hpp"
#include "facts/tables_rows.hpp"

namespace schedmate {
namespace {

constexpr double most_params_millions = 5e6;

tl::unexpected<Error> refuse(const TableFile& file, const toml::node& at, std::string_view why) {
  return fail(ErrorCode::invalid,
              fmt::format("rules/{}:{}: {}", file.name, at.source().begin.line, why));
}

/// Lines of the file, for evidence.
class Lines {
 public:
  explicit Lines(const TableFile& file) : file_(file), lines_(split(file.text, '\n')) {}
  Evidence of(const toml::node& node) const {
    const auto line = node.source().begin.line;
    const auto text = line >= 1 && line <= lines_.size() ? trim(lines_[line - 1]) : "";
    return {fmt::format("rules/{}", file_.name), static_cast<int>(line), std::string(text)};
  }

 private:
  const TableFile& file_;
  std::vector<std::string_view> lines_;
};

using Keys = std::initializer_list<std::string_view>;

/// A [[row]] with text, number and list members, each checked.
class Row {
 public:
  Row(const TableFile& file, const toml::table& table) : file_(file), table_(table) {}

  Result<void> check(Keys allowed) const {
    const std::vector<std::string_view> names(allowed);
    for (const auto& [key, value] : table_) {
      if (std::ranges::find(names, key.str()) != names.end()) continue;
      return refuse(file_, value, unknown_name("key", key.str(), names));
    }
    if (text("name").empty()) return refuse(file_, table_, "a row needs a name");
    for (const std::string_view list : {"aliases", "weak", "sizes", "callees"}) {
      const toml::node* node = table_.get(list);
      if (node != nullptr && !node->is_array())
        return refuse(file_, *node, fmt::format("{} must be a list", list));
    }
    return {};
  }

  [[nodiscard]] std::string text(std::string_view key) const {
    return table_[key].value<std::string>().value_or("");
  }
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> found;
    if (const toml::array* list = table_[key].as_array()) {
      for (const auto& each : *list)
        if (const auto one = each.value<std::string>()) found.push_back(*one);
    }
    return found;
  }
  Result<std::optional<double>> params() const {
    const toml::node* node = table_.get("params_m");
    if (node == nullptr) return std::optional<double>();
    const auto number = node->value<double>();
    if (!number || !(*number > 0) || *number > most_params_millions)
      return refuse(file_, *node, "params_m must be millions of parameters, above 0");
    return number;
  }
  [[nodiscard]] const toml::node& name_node() const { return *table_.get("name"); }
  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
  const TableFile& file_;
  const toml::table& table_;
};

/// Calls `use` with each [[kind]] of the file.
template <class Use>
Result<void> each_row(const TableFile& file, std::string_view kind, Use use) {
  try {
    const toml::table table = toml::parse(file.text);
    for (const auto& [key, value] : table)
      if (key.str() != kind || !value.is_array())
        return refuse(file, value, fmt::format("expected [[{}]] only", kind));
    const toml::array* rows = table[kind].as_array();
    for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
      const toml::table* row = (*rows)[i].as_table();
      if (row == nullptr) return refuse(file, *rows, fmt::format("expected [[{}]]", kind));
      if (auto done = use(*row); !done) return done;
    }
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("rules/{}:{}: {}", file.name,
                                                error.source().begin.line, error.description()));
  }
  return {};
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
Result<void> enter(NameIndex& index, const std::vector<std::string>& names, NameEntry entry,
                   OwnerOf owner_of) {
  for (const std::string& name : names) {
    if (name_key(name).size() < 2)
      return fail(ErrorCode::invalid, fmt::format("the alias '{}' is too short", name));
    if (const NameEntry* held = index.add(name, entry)) {
      return fail(ErrorCode::conflict,
                  fmt::format("the alias '{}' belongs to '{}' already", name, owner_of(held->row)));
    }
  }
  return {};
}

Result<void> add_model(const TableFile& file, const Row& row, const Lines& lines,
                       Tables::Rows& rows) {
  const auto params = row.params();
  if (!params) return tl::unexpected(params.error());
  const auto place = place_for(row.text("name"), rows.models, rows.model_names);
  ModelRow& made = rows.models[place];
  made = {row.text("name"),
          row.text("family"),
          row.text("type"),
          row.text("task"),
          *params,
          row.text("sized"),
          {},
          lines.of(row.name_node())};
  if (made.family.empty()) made.family = made.name;
  const auto enter_names = [&](const Row& of, std::string_view list, NameEntry entry) {
    const auto owner = [&](std::size_t at) { return rows.models[at].name; };
    auto done = enter(rows.model_names, of.texts(list), entry, owner);
    return done ? done : Result<void>(refuse(file, of.name_node(), done.error().message));
  };
  NameEntry entry{.row = place, .sized = !made.sized.empty()};
  if (auto done = enter_names(row, "aliases", entry); !done) return done;
  const toml::array* sizes = row.table()["sizes"].as_array();
  for (std::size_t i = 0; sizes != nullptr && i < sizes->size(); ++i) {
    const toml::table* table = (*sizes)[i].as_table();
    if (table == nullptr) return refuse(file, *sizes, "sizes must be tables in braces");
    const Row member(file, *table);
    if (auto good = member.check({"name", "params_m", "aliases"}); !good) return good;
    const auto own = member.params();
    if (!own) return tl::unexpected(own.error());
    made.members.push_back({member.text("name"), *own, lines.of(member.name_node())});
    const NameEntry one{.row = place, .member = i};
    if (auto done = enter_names(member, "aliases", one); !done) return done;
  }
  entry.weak = true;
  return enter_names(row, "weak", entry);
}

/// A default's value; nothing for lists and tables.
FactValue value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  return {};
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

Result<void> add_models(const TableFile& file, Tables::Rows& rows) {
  const Lines lines(file);
  return each_row(file, "model", [&](const toml::table& table) -> Result<void> {
    const Row row(file, table);
    if (auto good = row.check(
            {"name", "family", "type", "task", "params_m", "sized", "aliases", "weak", "sizes"});
        !good)
      return good;
    return add_model(file, row, lines, rows);
  });
}

Result<void> add_datasets(const TableFile& file, Tables::Rows& rows) {
  const Lines lines(file);
  return each_row(file, "dataset", [&](const toml::table& table) -> Result<void> {
    const Row row(file, table);
    if (auto good = row.check({"name", "domain", "samples", "aliases", "weak"}); !good) return good;
    const auto samples = table["samples"].value<std::int64_t>();
    if (table.contains("samples") && (!samples || *samples <= 0))
      return refuse(file, row.name_node(), "samples must be a whole number above 0");
    const auto place = place_for(row.text("name"), rows.datasets, rows.dataset_names);
    rows.datasets[place] = {row.text("name"), row.text("domain"), samples,
                            lines.of(row.name_node())};
    const auto owner = [&](std::size_t at) { return rows.datasets[at].name; };
    for (const bool weak : {false, true}) {
      const NameEntry entry{.row = place, .weak = weak};
      auto done = enter(rows.dataset_names, row.texts(weak ? "weak" : "aliases"), entry, owner);
      if (!done) return refuse(file, row.name_node(), done.error().message);
    }
    return {};
  });
}

Result<void> add_optimizers(const TableFile& file, Tables::Rows& rows) {
  const Lines lines(file);
  return each_row(file, "optimizer", [&](const toml::table& table) -> Result<void> {
    const Row row(file, table);
    if (auto good = row.check({"name", "aliases"}); !good) return good;
    const auto place = place_for(row.text("name"), rows.optimizers, rows.optimizer_names);
    rows.optimizers[place] = {row.text("name"), lines.of(row.name_node())};
    const auto owner = [&](std::size_t at) { return rows.optimizers[at].name; };
    auto done = enter(rows.optimizer_names, row.texts("aliases"), {.row = place}, owner);
    if (!done) return refuse(file, row.name_node(), done.error().message);
    return done;
  });
}

Result<void> add_defaults(const TableFile& file, Tables::Rows& rows) {
  const Lines lines(file);
  return each_row(file, "default", [&](const toml::table& table) -> Result<void> {
    const Row row(file, table);
    const toml::table* arguments = table["arguments"].as_table();
    const auto callees = row.texts("callees");
    if (callees.empty() || arguments == nullptr)
      return refuse(file, table, "a [[default]] needs callees and [default.arguments]");
    DefaultRow made;
    made.before = version_numbers(row.text("before"));
    for (const auto& [name, node] : *arguments)
      made.arguments[std::string(name.str())] = {value_of(node), lines.of(node)};
    for (const std::string& callee : callees) add_callee(callee, rows.defaults.size(), rows);
    rows.defaults.push_back(std::move(made));
    return {};
  });
}

}  // namespace schedmate
