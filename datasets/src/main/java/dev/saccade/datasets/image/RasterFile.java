package dev.saccade.datasets.image;

import dev.saccade.core.SaccadeException;

import java.io.Closeable;
import java.util.List;

/** An opened image whose pixels are read as stored, in windows. Not thread-safe. */
public interface RasterFile extends Closeable {

    int height();

    int width();

    int channels();

    SampleType type();

    /** Returns warnings about ignored content, such as further pages, without the file name. */
    List<String> warnings();

    /**
     * Reads a part of the image; decodes only the strips or tiles that it needs.
     *
     * @throws SaccadeException of kind user that names the file, if it is damaged or the window is
     *     larger than 2 GB
     */
    Raster read(Window window);

    default Raster read() {
        return read(new Window(0, 0, width(), height()));
    }
}
