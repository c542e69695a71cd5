package dev.saccade.datasets.image;

import com.google.common.collect.ImmutableList;

import java.util.Locale;

public final class ImageNames {

    /** Suffixes of supported images, in lower case. */
    public static final ImmutableList<String> ENDINGS =
            ImmutableList.of(
                    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".dib", ".webp", ".tif",
                    ".tiff", ".npy");

    private ImageNames() {}

    /** Returns whether a file has the suffix of a supported image, in any case. */
    public static boolean isImage(String file) {
        String lower = file.toLowerCase(Locale.ROOT);
        return ENDINGS.stream().anyMatch(lower::endsWith);
    }
}
