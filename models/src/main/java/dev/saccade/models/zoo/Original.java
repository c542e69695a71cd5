package dev.saccade.models.zoo;

import java.util.Optional;

/**
 * Who published a recipe.
 *
 * @param title of the paper, or of the toolkit
 * @param website where its code is, and its weights if it gives any; none without code
 * @param license of its code and weights, as SPDX writes it; none without code
 */
public record Original(String title, Optional<String> website, Optional<String> license) {}
