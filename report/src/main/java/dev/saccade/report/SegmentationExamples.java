package dev.saccade.report;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteSource;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Pictures under the colors of the classes of their pixels.
 *
 * @param pictures from top to bottom
 * @param classes the names of the labels
 */
public record SegmentationExamples(List<Picture> pictures, List<String> classes)
        implements Examples {

    /** Copies the lists. */
    public SegmentationExamples {
        pictures = ImmutableList.copyOf(pictures);
        classes = ImmutableList.copyOf(classes);
    }

    @Override
    public boolean isEmpty() {
        return pictures.isEmpty();
    }

    @Override
    public void write(Markup out) throws IOException {
        SegmentationExampleWriter.write(out, this);
    }

    /**
     * A held-back picture.
     *
     * @param name such as the name of its file
     * @param truth the picture under the colors of its labels, encoded as JPEG
     * @param predicted likewise, of what was predicted
     * @param labels all that occur in either
     * @param tally how well they agree, in a few words
     */
    public record Picture(
            String name,
            ByteSource truth,
            ByteSource predicted,
            Set<Integer> labels,
            String tally) {

        /** Copies the set. */
        public Picture {
            labels = ImmutableSet.copyOf(labels);
        }
    }
}
