// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "base/text.hpp"
#include "schedmate/workload.hpp"
#include "workload/readers.hpp"

namespace schedmate {

Result<ExtractionErrors> workload::parse_extraction_errors(std::string_view text,
                                                           const std::string& file) {
  ExtractionErrors errors;
  errors.text = text;
  const auto done = TableReader::read(text, file, [&](TableReader& top) {
    top.tables("field", [&](TableReader& row) {
      FieldErrors field;
      row.text("name", field.field);
      row.number("missing", field.missing, {0, 1});
      row.number("wrong", field.wrong, {0, 1});
      if (std::ranges::find(workload_fields, field.field) == workload_fields.end())
        row.refuse("name", unknown_name("field", field.field, workload_fields));
      const auto same = [&](const FieldErrors& each) { return each.field == field.field; };
      if (std::ranges::any_of(errors.fields, same))
        row.refuse("name", fmt::format("the field {} is listed twice", field.field));
      errors.fields.push_back(std::move(field));
    });
  });
  if (!done) return tl::unexpected(done.error());
  return errors;
}

Result<ExtractionErrors> read_extraction_errors(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return workload::parse_extraction_errors(*text, path);
}

}  // namespace schedmate
