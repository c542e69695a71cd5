package dev.saccade.checkpoint;

import com.google.common.base.Splitter;

import java.util.Locale;
import java.util.Set;

/** Preference among several models in one file; the lowest rank wins. */
public final class ModelRank {

    private static final Set<String> AVERAGED =
            Set.of("ema", "averaged", "average", "swa", "momentum", "shadow", "target", "k");

    private ModelRank() {}

    /**
     * Returns the rank of a model by its prefix: 2 for averaged weights or a teacher, else 1. If
     * there is also a student, the teacher has rank 0, as self-distillation evaluates the teacher.
     */
    public static int of(String path, boolean hasStudent) {
        boolean isTeacher = isOf(path, "teacher");
        if (hasStudent && isTeacher) {
            return 0;
        }
        return isTeacher || AVERAGED.stream().anyMatch(word -> isOf(path, word)) ? 2 : 1;
    }

    /** Returns whether a path contains a word, such as "ema" in "Model_EMA.fc", ignoring case. */
    public static boolean isOf(String path, String word) {
        return Splitter.onPattern("[._-]")
                .splitToStream(path.toLowerCase(Locale.ROOT))
                .anyMatch(word::equals);
    }
}
