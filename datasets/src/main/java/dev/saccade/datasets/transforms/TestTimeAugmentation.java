package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.datasets.Transform;

import java.util.ArrayList;
import java.util.List;

/**
 * Several views of a photograph at test time, for a model that merges what it finds in them: every
 * scale as it is and, where wanted, mirrored left to right.
 *
 * @param scales pairs of edges in pixels, each in place of those of the {@link Resize} among the
 *     transforms; none for its own
 * @param flip whether every scale is looked at in a mirror, too
 */
public record TestTimeAugmentation(
        @Default("[]") List<List<Integer>> scales, @Default("false") boolean flip) {

    private static final RandomFlip MIRROR = new RandomFlip(1, RandomFlip.Direction.HORIZONTAL);

    /** Checks the scales. */
    public TestTimeAugmentation {
        scales = scales.stream().map(List::copyOf).toList();
        Resize.checks(scales).size("scales", scales, 0, Resize.MOST_SCALES).throwIfAny();
    }

    /**
     * Returns the transforms of each view: scale by scale, each as it is and then mirrored, right
     * after it is resized.
     *
     * @param transforms those of a single view
     * @throws IllegalArgumentException unless exactly one of them is a {@link Resize}
     */
    public List<List<Transform>> views(List<Transform> transforms) {
        List<Transform> resizes = transforms.stream().filter(Resize.class::isInstance).toList();
        Checks.require(
                resizes.size() == 1,
                "views",
                "the transforms " + transforms.stream().map(PartConfig::type).toList(),
                "exactly one resize among them, which views of other scales are made with");
        Resize own = (Resize) resizes.get(0);
        int place = transforms.indexOf(own);
        ImmutableList.Builder<List<Transform>> views = ImmutableList.builder();
        for (Resize resize : resizes(own)) {
            List<Transform> view = new ArrayList<>(transforms);
            view.set(place, resize);
            views.add(List.copyOf(view));
            if (flip) {
                view.add(place + 1, MIRROR);
                views.add(List.copyOf(view));
            }
        }
        return views.build();
    }

    private List<Resize> resizes(Resize own) {
        return scales.isEmpty() ? List.of(own) : scales.stream().map(own::to).toList();
    }
}
