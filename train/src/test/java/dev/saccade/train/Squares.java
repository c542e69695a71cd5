package dev.saccade.train;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.imageio.ImageIO;

/** Bright squares on gray, each photograph with one. */
record Squares(List<String> classes, List<ImageFile> images) implements Dataset {

    static final Size SIZE = new Size(48, 64);

    static int left(int index) {
        return 3 * index;
    }

    static Squares draw(Path folder, int count) throws IOException {
        List<ImageFile> photos = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            BufferedImage image =
                    new BufferedImage(SIZE.width(), SIZE.height(), BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.setColor(new Color(60, 70 + 5 * i, 80));
            graphics.fillRect(0, 0, SIZE.width(), SIZE.height());
            graphics.setColor(Color.YELLOW);
            graphics.fillRect(left(i), 8, 24, 24);
            graphics.dispose();
            Path file = folder.resolve("square" + i + ".png");
            ImageIO.write(image, "png", file.toFile());
            photos.add(ImageFile.read(i, file));
        }
        return new Squares(List.of("square"), photos);
    }

    /** The same photographs with a class for every pixel. */
    record Pixels(List<String> classes, List<ImageFile> images) implements Dataset {

        @Override
        public LabelMap labels(int index) {
            short[] labels = new short[(int) SIZE.area()];
            for (int y = 8; y < 32; y++) {
                for (int x = left(index); x < left(index) + 24; x++) {
                    labels[y * SIZE.width() + x] = 1;
                }
            }
            return LabelMap.of(SIZE, labels);
        }
    }

    @Override
    public List<Annotation> annotations(int index) {
        return List.of(Annotation.of(index, 0, left(index), 8, 24, 24));
    }
}
