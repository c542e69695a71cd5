package dev.saccade.report;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Printable;

import java.util.List;
import java.util.Set;

/** A page to browse images by class, object size and problem. Loads 60 pictures at a time. */
public record BrowsePage(
        String title,
        String subtitle,
        List<String> classes,
        List<Entry> images,
        List<String> findings) {

    /** Image sources allowed by the content security policy: own server and local files. */
    private static final String IMAGE_SOURCES = "'self' file:";

    private static final ObjectMapper JSON = new ObjectMapper();

    /** COCO's object sizes, by the square root of the area in pixels. */
    public enum ObjectSize {
        /** Below 32. */
        SMALL,
        /** From 32 to below 96. */
        MEDIUM,
        /** 96 and more. */
        LARGE;

        public static ObjectSize of(double area) {
            return area < 32 * 32 ? SMALL : area < 96 * 96 ? MEDIUM : LARGE;
        }
    }

    /**
     * An image with the class indices of its labels. {@code picture} and {@code thumbnail} are
     * paths relative to the page, or empty.
     */
    public record Entry(
            String name,
            String picture,
            String thumbnail,
            Set<Integer> labels,
            Set<ObjectSize> sizes,
            int objects,
            List<String> faults) {

        /** Returns the fields in the order that the script expects. */
        private List<Object> row() {
            return List.of(
                    Printable.line(name),
                    picture,
                    thumbnail,
                    labels,
                    sizes.stream().map(Enum::ordinal).toList(),
                    objects,
                    faults.stream().map(Printable::line).toList());
        }
    }

    /** Returns the HTML; the page belongs in the folder of the pictures. */
    public String page() {
        Markup out = new Markup();
        PageFrame.open(out, title, IMAGE_SOURCES, "report.css", "browse.css");
        out.open("header").leaf("h1", title).leaf("p", subtitle).close();
        search(out);
        out.open("div", "id", "images", "class", "images").close();
        out.open("nav").leaf("button", "Previous", "id", "before", "type", "button");
        out.leaf("span", "", "id", "range");
        out.leaf("button", "Next", "id", "after", "type", "button").close();
        out.leaf("noscript", "Enable JavaScript to browse the images in this folder.");
        if (!findings.isEmpty()) {
            out.open("section").leaf("h2", "Other problems").open("ul");
            findings.forEach(finding -> out.leaf("li", finding));
            out.close().close();
        }
        out.open("script", "type", "application/json", "id", "data").verbatim(data()).close();
        PageFrame.close(out, "browse.js");
        return out.toString();
    }

    private void search(Markup out) {
        out.open("form", "class", "search");
        out.open("label").text("File name ");
        out.empty("input", "type", "search", "id", "name", "autocomplete", "off").close();
        select(out, "Class", "class", classes);
        if (images.stream().anyMatch(image -> !image.sizes.isEmpty())) {
            select(out, "Object size", "size", List.of("small", "medium", "large"));
        }
        select(out, "Problems", "fault", List.of("with problems", "without problems"));
        out.close();
    }

    private static void select(Markup out, String name, String id, List<String> options) {
        out.open("label").text(name + " ").open("select", "id", id);
        out.leaf("option", "any", "value", "");
        for (int i = 0; i < options.size(); i++) {
            out.leaf("option", options.get(i), "value", String.valueOf(i));
        }
        out.close().close();
    }

    /** Returns class names and images as JSON that is safe inside a script element. */
    private String data() {
        List<String> names = classes.stream().map(Printable::line).toList();
        return JSON.valueToTree(List.of(names, images.stream().map(Entry::row).toList()))
                .toString()
                .replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("&", "\\u0026");
    }
}
