package dev.saccade.tune;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/** Dimensions of a search, and the trials sampled from them. */
final class SearchSpace {

    private static final int MAX_ATTEMPTS = 1000;

    private final RunConfig base;
    private final List<Dimension> dimensions;

    private SearchSpace(RunConfig base, List<Dimension> dimensions) {
        this.base = base;
        this.dimensions = dimensions;
    }

    /**
     * Returns the default dimensions of a config and the user's dimensions.
     *
     * @param search dimensions as in {@link SearchOption}; they replace default dimensions of the
     *     same name or key
     * @param fixed names of default dimensions to leave out; {@code all} for all of them
     */
    static SearchSpace of(RunConfig base, List<String> search, List<String> fixed) {
        List<Dimension> defaults = new DefaultDimensions(base).list();
        List<String> names = defaults.stream().map(Dimension::name).toList();
        for (String name : fixed) {
            if (!name.equals("all") && !DefaultDimensions.NAMES.contains(name)) {
                throw SaccadeException.user(
                        "fix: got %s, expected all or one of %s",
                        name, String.join(", ", DefaultDimensions.NAMES));
            }
        }
        List<Dimension> own = search.stream().map(text -> SearchOption.parse(text, base)).toList();
        List<Dimension> all = new ArrayList<>(defaults);
        all.removeIf(each -> fixed.contains("all") || fixed.contains(each.name()));
        all.removeIf(
                each ->
                        own.stream()
                                .anyMatch(
                                        other ->
                                                DefaultDimensions.replaces(
                                                        other.name(), each.name())));
        all.addAll(own);
        if (all.isEmpty()) {
            throw SaccadeException.user(
                    "the search has no dimensions; fix fewer of %s, or add some with search",
                    names);
        }
        SearchSpace space = new SearchSpace(base, all);
        space.sample(0, 1);
        return space;
    }

    List<String> names() {
        return dimensions.stream().map(Dimension::name).toList();
    }

    /**
     * Returns the values of a trial by dimension. Trial 0 is the base config. Other trials change
     * each dimension with probability 1/2, so that most are close to the base config. Values that
     * do not fit the values before them are left out.
     *
     * @throws SaccadeException of kind user, if no value differs from the config
     */
    Map<String, Choice> sample(long seed, int trial) {
        Map<String, Choice> values = new LinkedHashMap<>();
        for (int attempt = 0; trial > 0 && values.isEmpty(); attempt++) {
            if (attempt == MAX_ATTEMPTS) {
                throw SaccadeException.user(
                                "the search has no values that differ from the config and fit it;"
                                        + " add values to %s",
                                String.join(", ", names()))
                        .withSettings("search");
            }
            sample(SeededRandom.of(seed, "tune", trial, attempt), values);
        }
        return values;
    }

    private void sample(SplittableRandom random, Map<String, Choice> values) {
        RunConfig config = base;
        for (Dimension dimension : dimensions) {
            boolean isChanged = random.nextBoolean();
            Choice choice = dimension.sample(random.split());
            Optional<RunConfig> changed = isChanged ? apply(config, choice) : Optional.empty();
            if (changed.isPresent() && !changed.get().equals(config)) {
                config = changed.get();
                values.put(dimension.name(), choice);
            }
        }
    }

    /** Returns the changed config; empty if the value does not fit the config. */
    private static Optional<RunConfig> apply(RunConfig config, Choice choice) {
        try {
            return Optional.of(config.with(choice.overrides().toArray(String[]::new)));
        } catch (SaccadeException e) {
            return Optional.empty();
        }
    }
}
