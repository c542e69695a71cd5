package dev.saccade.tune;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.List;
import java.util.SplittableRandom;

/** A dimension with a list of values, all equally likely. */
record ListDimension(String name, List<Choice> choices) implements Dimension {

    ListDimension {
        choices = List.copyOf(choices);
        checkArgument(!choices.isEmpty(), "%s: no values", name);
    }

    @Override
    public Choice sample(SplittableRandom random) {
        return choices.get(random.nextInt(choices.size()));
    }
}
