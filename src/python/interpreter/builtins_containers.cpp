// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/interpreter/builtins.hpp"

namespace schedmate::python {
namespace {

code::Value make_list(Interpreter& in, const Arguments& arguments) {
  const code::Value* given = argument_at(arguments, 0);
  if (given == nullptr) return code::Value::list({}, arguments.place);
  auto items = in.iterate(*given);
  if (!items) return {code::Unknown{}, given->place};
  return code::Value::list(std::move(*items), given->place ? given->place : arguments.place);
}

code::Value make_set(Interpreter& in, const Arguments& arguments) {
  code::Value all = make_list(in, arguments);
  if (all.items() == nullptr) return all;
  code::List once;
  for (const code::Value& item : *all.items()) {
    const bool held = std::ranges::any_of(
        once, [&](const code::Value& other) { return equal_values(item, other) == true; });
    if (!held) once.push_back(item);
  }
  return code::Value::list(std::move(once), all.place);
}

code::Value make_dict(Interpreter& in, const Arguments& arguments) {
  code::Value made = code::Value::dict({}, arguments.place);
  if (const code::Value* given = argument_at(arguments, 0)) {
    const code::Value plain = in.as_plain(*given);
    if (plain.entries() == nullptr && plain.items() == nullptr)
      return {code::Unknown{}, given->place};
  }
  in.call_method_of_data({made, {}, "update"}, arguments);
  return made;
}

/// Lists of pairs where all parts can be listed, else something that is looped over like `first`.
code::Value zipped(Interpreter& in, const std::vector<code::Value>& parts,
                   const code::PlacePtr& place) {
  std::vector<code::List> lists;
  for (const code::Value& part : parts) {
    auto items = in.iterate(part);
    if (!items) {
      auto loop = std::make_shared<Iteration>();
      loop->inner = part;
      return wrap(std::move(loop), place);
    }
    lists.push_back(std::move(*items));
  }
  code::List rows;
  if (lists.empty()) return code::Value::list(std::move(rows), place);
  const auto shortest = std::ranges::min(lists, {}, &code::List::size).size();
  for (std::size_t i = 0; i < shortest; ++i) {
    code::List row;
    for (const code::List& list : lists) row.push_back(list[i]);
    rows.push_back(code::Value::list(std::move(row), place));
  }
  return code::Value::list(std::move(rows), place);
}

code::Value zip(Interpreter& in, const Arguments& arguments) {
  return zipped(in, arguments.positional, arguments.place);
}

code::Value enumerated(Interpreter& in, const Arguments& arguments) {
  const code::Value* given = arguments.find("iterable", 0);
  if (given == nullptr) return {};
  const code::Value* start = arguments.find("start", 1);
  const auto items = in.iterate(*given);
  // A long range() stays a range, so that its length is not lost.
  if (!items || as<Range>(*given) != nullptr || (start != nullptr && start->integer() == nullptr)) {
    auto loop = std::make_shared<Iteration>();
    loop->inner = *given;
    return wrap(std::move(loop), given->place);
  }
  std::int64_t number = start == nullptr ? 0 : *start->integer();
  code::List rows;
  for (const code::Value& item : *items)
    rows.push_back(
        code::Value::list({code::Value(number++, arguments.place), item}, arguments.place));
  return code::Value::list(std::move(rows), arguments.place);
}

code::Value mapped(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const code::Value function = arguments.positional[0];
  const auto items = in.iterate(arguments.positional[1]);
  if (!items || arguments.positional.size() > 2 || items->size() > 256)
    return {code::Unknown{}, arguments.place};
  code::List results;
  for (const code::Value& item : *items) {
    Arguments one;
    one.positional.push_back(item);
    one.place = arguments.place;
    results.push_back(in.call(function, std::move(one)));
  }
  return code::Value::list(std::move(results), arguments.place);
}

code::Value filtered(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.size() < 2) return {};
  const code::Value function = arguments.positional[0];
  const auto items = in.iterate(arguments.positional[1]);
  if (!items || items->size() > 256) return {code::Unknown{}, arguments.place};
  code::List results;
  for (const code::Value& item : *items) {
    Arguments one;
    one.positional.push_back(item);
    const auto keep = in.truth(function.is_none() ? item : in.call(function, std::move(one)));
    if (!keep) return {code::Unknown{}, arguments.place};
    if (*keep) results.push_back(item);
  }
  return code::Value::list(std::move(results), arguments.place);
}

code::Value sorted(Interpreter& in, const Arguments& arguments) {
  code::Value all = make_list(in, arguments);
  if (all.items() == nullptr) return all;
  const code::Value* reverse = arguments.named.find("reverse");
  in.sort(*all.items(), arguments.named.find("key"),
          reverse != nullptr && reverse->truth() == true);
  return all;
}

code::Value reversed(Interpreter& in, const Arguments& arguments) {
  if (const code::Value* given = argument_at(arguments, 0); given && as<Range>(*given) != nullptr) {
    auto loop = std::make_shared<Iteration>();
    loop->inner = *given;
    return wrap(std::move(loop), given->place);
  }
  code::Value all = make_list(in, arguments);
  if (all.items() != nullptr) std::ranges::reverse(*all.items());
  return all;
}

/// all() and any(): one deciding item is enough, also beside unknown ones.
code::Value quantified(Interpreter& in, const Arguments& arguments, bool deciding) {
  const code::Value* given = argument_at(arguments, 0);
  const auto items = given == nullptr ? std::nullopt : in.iterate(*given);
  if (!items) return {code::Unknown{}, arguments.place};
  bool open = false;
  for (const code::Value& item : *items) {
    const auto truth = in.truth(item);
    if (truth == deciding) return {deciding, arguments.place};
    open = open || !truth;
  }
  return open ? code::Value(code::Unknown{}, arguments.place)
              : code::Value(!deciding, arguments.place);
}

code::Value all_of(Interpreter& in, const Arguments& arguments) {
  return quantified(in, arguments, false);
}
code::Value any_of(Interpreter& in, const Arguments& arguments) {
  return quantified(in, arguments, true);
}

code::Value first_of(Interpreter& in, const Arguments& arguments) {
  const code::Value* given = argument_at(arguments, 0);
  if (given == nullptr) return {};
  const auto items = in.iterate(*given);
  if (items && !items->empty()) return items->front();
  return {code::Unknown{}, given->place};
}

code::Value itself(Interpreter&, const Arguments& arguments) {
  const code::Value* given = argument_at(arguments, 0);
  return given == nullptr ? code::Value{} : *given;
}

/// tqdm(iterable, ...) and its like hand on what they are given.
code::Value progress(Interpreter& in, const Arguments& arguments) {
  const code::Value* given = arguments.find("iterable", 0);
  if (given != nullptr && !given->is_none()) return *given;
  const code::Value* total = arguments.find("total", 2);
  if (total == nullptr) return {code::Unknown{}, arguments.place};
  (void)in;
  return {code::Unknown{}, total->place};
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
