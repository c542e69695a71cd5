package dev.saccade.datasets;

import java.util.AbstractList;
import java.util.function.IntFunction;

/** Photographs that are made as they are asked for. */
final class Photos extends AbstractList<Photo> {

    private final int size;
    private final IntFunction<Photo> photo;

    Photos(int size, IntFunction<Photo> photo) {
        this.size = size;
        this.photo = photo;
    }

    @Override
    public Photo get(int index) {
        return photo.apply(index);
    }

    @Override
    public int size() {
        return size;
    }
}
