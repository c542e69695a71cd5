package dev.saccade.models.zoo;

import java.util.Optional;

/** Paper or toolkit that published a recipe; {@code license} is an SPDX identifier. */
public record Publication(String title, Optional<String> website, Optional<String> license) {}
