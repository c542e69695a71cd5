package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.Text;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A TIFF or BigTIFF whose first page has the expected channels, or whose pages of the same size
 * have them together.
 */
final class TiffFile implements RasterFile {

    private static final int ORIENTATION = 0x112;
    private static final int PHOTOMETRIC = 0x106;
    private static final int PALETTE = 3;

    private final String name;
    private final FileBytes bytes;
    private final List<TiffPage> pages;
    private final List<String> warnings = new ArrayList<>();

    private TiffFile(String name, FileBytes bytes, List<TiffPage> pages) {
        this.name = name;
        this.bytes = bytes;
        this.pages = pages;
    }

    /** Opens a file; errors of the file are {@link RuntimeException}s that do not name it. */
    static TiffFile open(String name, FileBytes bytes, int channels) {
        List<TiffTags> tags = TiffTags.pages(bytes);
        long orientation = tags.get(0).value(ORIENTATION, 1);
        checkArgument(
                orientation <= 1 || orientation > 8,
                "it has orientation %s; save it upright",
                orientation);
        checkArgument(
                tags.get(0).value(PHOTOMETRIC, 1) != PALETTE,
                "its values are indices of a color palette; save it as gray or RGB");
        TiffPage first = new TiffPage(bytes, tags.get(0));
        TiffFile file = new TiffFile(name, bytes, new ArrayList<>(List.of(first)));
        int others = 0;
        int found = first.layout().channels();
        for (TiffTags page : tags.subList(1, tags.size())) {
            if (TiffLayout.isCopy(page)) {
                continue;
            }
            others++;
            if (found < channels && first.layout().channels() < channels) {
                TiffPage more = new TiffPage(bytes, page);
                checkArgument(
                        isAlike(first.layout(), more.layout()),
                        "it has %s channels, expected %s, and its pages have different sizes",
                        found,
                        channels);
                file.pages.add(more);
                found += more.layout().channels();
            }
        }
        int used = file.pages.size() - 1;
        if (others > used) {
            file.warnings.add(
                    used == 0
                            ? "has several pages; only the first is read"
                            : Text.format(
                                    "has %d pages; only the first %d are read",
                                    others + 1, used + 1));
        }
        return file;
    }

    private static boolean isAlike(TiffLayout a, TiffLayout b) {
        return a.height() == b.height() && a.width() == b.width() && a.type() == b.type();
    }

    @Override
    public int height() {
        return pages.get(0).layout().height();
    }

    @Override
    public int width() {
        return pages.get(0).layout().width();
    }

    @Override
    public int channels() {
        return pages.stream().mapToInt(page -> page.layout().channels()).sum();
    }

    @Override
    public SampleType type() {
        return pages.get(0).layout().type();
    }

    @Override
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    @Override
    public Raster read(Window window) {
        return RasterFiles.reading(
                name,
                () -> {
                    RasterFiles.requireInside(this, window);
                    Raster raster =
                            Raster.allocate(
                                    name, window.height(), window.width(), channels(), type());
                    int channel = 0;
                    for (TiffPage page : pages) {
                        page.read(window, raster, channel);
                        channel += page.layout().channels();
                    }
                    return raster;
                });
    }

    @Override
    public void close() throws IOException {
        bytes.close();
    }
}
