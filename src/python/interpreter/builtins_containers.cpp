// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

Value make_list(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return Value::list({}, arguments.place);
  auto items = in.iterate(*given);
  if (!items) return {Unknown{}, given->place};
  return Value::list(std::move(*items), given->place ? given->place : arguments.place);
}

Value make_set(Interpreter& in, const Arguments& arguments) {
  Value all = make_list(in, arguments);
  if (all.items() == nullptr) return all;
  List once;
  for (const Value& item : *all.items()) {
    const bool held = std::ranges::any_of(
        once, [&](const Value& other) { return equal_values(item, other) == true; });
    if (!held) once.push_back(item);
  }
  return Value::list(std::move(once), all.place);
}

Value make_dict(Interpreter& in, const Arguments& arguments) {
  Value made = Value::dict({}, arguments.place);
  if (const Value* given = argument_at(arguments, 0)) {
    const Value plain = in.as_plain(*given);
    if (plain.entries() == nullptr && plain.items() == nullptr) return {Unknown{}, given->place};
  }
  in.call_method_of_data({made, {}, "update"}, arguments);
  return made;
}

/// Lists of pairs where all parts can be listed, else something that is looped over like `first`.
Value zipped(Interpreter& in, const std::vector<Value>& parts, const PlacePtr& place) {
  std::vector<List> lists;
  for (const Value& part : parts) {
    auto items = in.iterate(part);
    if (!items) {
      auto loop = std::make_shared<Iteration>();
      loop->inner = part;
      return wrap(std::move(loop), place);
    }
    lists.push_back(std::move(*items));
  }
  List rows;
  if (lists.empty()) return Value::list(std::move(rows), place);
  const auto shortest = std::ranges::min(lists, {}, &List::size).size();
  for (std::size_t i = 0; i < shortest; ++i) {
    List row;
    for (const List& list : lists) row.push_back(list[i]);
    rows.push_back(Value::list(std::move(row), place));
  }
  return Value::list(std::move(rows), place);
}

Value zip(Interpreter& in, const Arguments& arguments) {
  return zipped(in, arguments.positional, arguments.place);
}

Value enumerated(Interpreter& in, const Arguments& arguments) {
  const Value* given = arguments.find("iterable", 0);
  if (given == nullptr) return {};
  const Value* start = arguments.find("start", 1);
  const auto items = in.iterate(*given);
  // A long range() stays a range, so that its length is not lost.
  if (!items || as<Range>(*given) != nullptr || (start != nullptr && start->integer() == nullptr)) {
    auto loop = std::make_shared<Iteration>();
    loop->inner = *given;
    return wrap(std::move(loop), given->place);
  }
  std::int64_t number = start == nullptr ? 0 : *start->integer();
  List rows;
  for (const Value& item : *items)
    rows.push_back(Value::list({Value(number++, arguments.place), item}, arguments.place));
  return Value::list(std::move(rows), arguments.place);
}

Value mapped(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const Value function = arguments.positional[0];
  const auto items = in.iterate(arguments.positional[1]);
  if (!items || arguments.positional.size() > 2 || items->size() > 256)
    return {Unknown{}, arguments.place};
  List results;
  for (const Value& item : *items) {
    Arguments one;
    one.positional.push_back(item);
    one.place = arguments.place;
    results.push_back(in.call(function, std::move(one)));
  }
  return Value::list(std::move(results), arguments.place);
}

Value filtered(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const Value function = arguments.positional[0];
  const auto items = in.iterate(arguments.positional[1]);
  if (!items || items->size() > 256) return {Unknown{}, arguments.place};
  List results;
  for (const Value& item : *items) {
    Arguments one;
    one.positional.push_back(item);
    const auto keep = in.truth(function.is_none() ? item : in.call(function, std::move(one)));
    if (!keep) return {Unknown{}, arguments.place};
    if (*keep) results.push_back(item);
  }
  return Value::list(std::move(results), arguments.place);
}

Value sorted(Interpreter& in, const Arguments& arguments) {
  Value all = make_list(in, arguments);
  if (all.items() == nullptr) return all;
  const Value* reverse = arguments.named.find("reverse");
  in.sort(*all.items(), arguments.named.find("key"),
          reverse != nullptr && reverse->truth() == true);
  return all;
}

Value reversed(Interpreter& in, const Arguments& arguments) {
  if (const Value* given = argument_at(arguments, 0); given && as<Range>(*given) != nullptr) {
    auto loop = std::make_shared<Iteration>();
    loop->inner = *given;
    return wrap(std::move(loop), given->place);
  }
  Value all = make_list(in, arguments);
  if (all.items() != nullptr) std::ranges::reverse(*all.items());
  return all;
}

/// all() and any(): one deciding item is enough, also beside unknown ones.
Value quantified(Interpreter& in, const Arguments& arguments, bool deciding) {
  const Value* given = argument_at(arguments, 0);
  const auto items = given == nullptr ? std::nullopt : in.iterate(*given);
  if (!items) return {Unknown{}, arguments.place};
  bool open = false;
  for (const Value& item : *items) {
    const auto truth = in.truth(item);
    if (truth == deciding) return {deciding, arguments.place};
    open = open || !truth;
  }
  return open ? Value(Unknown{}, arguments.place) : Value(!deciding, arguments.place);
}

Value all_of(Interpreter& in, const Arguments& arguments) {
  return quantified(in, arguments, false);
}
Value any_of(Interpreter& in, const Arguments& arguments) {
  return quantified(in, arguments, true);
}

Value first_of(Interpreter& in, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {};
  const auto items = in.iterate(*given);
  if (items && !items->empty()) return items->front();
  return {Unknown{}, given->place};
}

Value itself(Interpreter&, const Arguments& arguments) {
  const Value* given = argument_at(arguments, 0);
  return given == nullptr ? Value{} : *given;
}

/// tqdm(iterable, ...) and its like hand on what they are given.
Value progress(Interpreter& in, const Arguments& arguments) {
  const Value* given = arguments.find("iterable", 0);
  if (given != nullptr && !given->is_none()) return *given;
  const Value* total = arguments.find("total", 2);
  if (total == nullptr) return {Unknown{}, arguments.place};
  (void)in;
  return {Unknown{}, total->place};
}

}  // namespace

void add_container_builtins(BuiltinTable& table) {
  table["list"] = make_list;
  table["tuple"] = make_list;
  table["set"] = make_set;
  table["frozenset"] = make_set;
  table["dict"] = make_dict;
  table["zip"] = zip;
  table["enumerate"] = enumerated;
  table["map"] = mapped;
  table["filter"] = filtered;
  table["sorted"] = sorted;
  table["reversed"] = reversed;
  table["all"] = all_of;
  table["any"] = any_of;
  table["next"] = first_of;
  table["iter"] = itself;
  for (const std::string_view name :
       {"tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.rich.tqdm", "tqdm.std.tqdm",
        "tqdm.asyncio.tqdm", "rich.progress.track", "fastprogress.progress_bar",
        "fastprogress.master_bar", "alive_progress.alive_it", "tqdm.tqdm_notebook",
        "tqdm.autonotebook.tqdm", "accelerate.utils.tqdm"})
    table[name] = progress;
}

}  // namespace schedmate::python
