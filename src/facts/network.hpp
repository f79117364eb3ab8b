// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Networks that the program builds from classes of its own tree, and how large they are.

#include "facts/finding.hpp"

namespace schedmate::facts {

struct Network {
  std::string name;  ///< class name
  PlacePtr place;
  bool certain = true;
};

/// Objects of network classes (torch.nn.Module, keras.Model, flax.linen.Module, ...) that are not
/// part of another one, losses and averages left out; a LightningModule stands for the network
/// inside it. In order of construction.
[[nodiscard]] std::vector<Network> networks_of(const Scene& scene);

/// A LightningModule of that name holds the network that it trains.
[[nodiscard]] bool is_shell(const Scene& scene, std::string_view type);

/// A network that a loss or a measure of quality looks through is not the one that is trained, and
/// has weights of its own.
[[nodiscard]] bool is_of_measure(const PlacePtr& place, std::string_view inside_class);

/// Classes of pretrained networks that turn images and prompts into what a diffusion model is
/// trained on: they come with weights and keep them.
[[nodiscard]] bool is_frozen_encoder(std::string_view callee);

/// "small" < 100 M <= "medium" <= 1 B < "large".
[[nodiscard]] std::string scale_of(double parameters);

/// params_scale from layer sizes: depth and width among the settings, else the layers that were
/// seen to be built.
void find_scale(const Scene& scene, Findings& out);

}  // namespace schedmate::facts
