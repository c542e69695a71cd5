package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.List;

/** Pictures with boxes and captions. */
public record Gallery(List<Picture> pictures) implements Block {

    /** Styles of boxes. */
    public enum Style {
        LABEL("label"),
        PREDICTION("predicted");

        private final String title;

        Style(String title) {
            this.title = title;
        }
    }

    /**
     * A box in pixels of the picture.
     *
     * @param name tooltip, such as the class
     */
    public record Mark(
            Style style, String name, double left, double top, double right, double bottom) {}

    /**
     * A picture.
     *
     * @param jpeg base64
     * @param width width in units of the marks
     * @param height height in units of the marks
     */
    public record Picture(
            String jpeg,
            double width,
            double height,
            List<Mark> marks,
            String title,
            List<String> lines) {

        public Picture {
            marks = ImmutableList.copyOf(marks);
            lines = ImmutableList.copyOf(lines);
        }
    }

    public Gallery {
        pictures = ImmutableList.copyOf(pictures);
    }

    @Override
    public boolean isEmpty() {
        return pictures.isEmpty();
    }

    @Override
    public void write(Markup out) {
        out.open("ul", "class", "legend marks");
        for (Style style : Style.values()) {
            if (pictures.stream().anyMatch(p -> p.marks.stream().anyMatch(m -> m.style == style))) {
                out.leaf("li", style.title, "class", style.title);
            }
        }
        out.close().open("div", "class", "gallery");
        pictures.forEach(picture -> write(picture, out));
        out.close();
    }

    private static void write(Picture picture, Markup out) {
        String width = Svg.number(picture.width);
        String height = Svg.number(picture.height);
        out.open("figure").open("svg", "viewBox", "0 0 " + width + " " + height, "role", "img");
        out.leaf("title", picture.title);
        String jpeg = "data:image/jpeg;base64," + picture.jpeg;
        out.empty("image", "href", jpeg, "width", width, "height", height);
        for (Mark mark : picture.marks) {
            String outline = Svg.rectangle(mark.left, mark.top, mark.right, mark.bottom);
            out.open("g", "class", "box " + mark.style.title).leaf("title", mark.name);
            out.empty("path", "class", "halo", "d", outline);
            out.empty("path", "class", "edge", "d", outline).close();
        }
        out.close().open("figcaption").leaf("b", picture.title);
        picture.lines.forEach(line -> out.leaf("span", line));
        out.close().close();
    }
}
