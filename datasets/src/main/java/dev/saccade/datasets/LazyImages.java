package dev.saccade.datasets;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageHeader;

import java.nio.file.Path;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Image files with ids from 1; reads the size of a file on first access. Thread-safe. */
public final class LazyImages extends AbstractList<ImageFile> implements RandomAccess {

    private final List<Path> files;
    private final AtomicReferenceArray<Size> sizes;

    /** Creates a list for files in a fixed order; keeps the given list, which must not change. */
    public LazyImages(List<Path> files) {
        this.files = files;
        this.sizes = new AtomicReferenceArray<>(files.size());
    }

    @Override
    public ImageFile get(int index) {
        Path file = files.get(index);
        Size size = sizes.get(index);
        if (size == null) {
            size = ImageHeader.read(file).size();
            sizes.set(index, size);
        }
        return new ImageFile(index + 1L, file, size);
    }

    @Override
    public int size() {
        return files.size();
    }
}
