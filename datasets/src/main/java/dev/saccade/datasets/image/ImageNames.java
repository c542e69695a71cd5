package dev.saccade.datasets.image;

import com.google.common.collect.ImmutableList;

import java.util.Locale;

/** Image files by their names. */
public final class ImageNames {

    /** The endings of images that can be read, in lower case. */
    public static final ImmutableList<String> ENDINGS =
            ImmutableList.of(
                    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".dib", ".webp", ".tif",
                    ".tiff");

    private ImageNames() {}

    /** Returns whether a file is named like an image that can be read, in any case. */
    public static boolean isImage(String file) {
        String lower = file.toLowerCase(Locale.ROOT);
        return ENDINGS.stream().anyMatch(lower::endsWith);
    }
}
