package dev.saccade.report;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Printable;

import java.util.List;
import java.util.Set;

/**
 * A page to browse the images of a data set, filtered by class, object size and problem. The page
 * loads the pictures lazily from the folder it is in, 60 at a time; with 10,000 images it has about
 * 2 MB.
 *
 * @param title of the page
 * @param subtitle one sentence about the photographs
 * @param classes the names of the labels
 * @param photos in their order
 * @param findings what is wrong with the data set and belongs to none of them
 */
public record Browse(
        String title,
        String subtitle,
        List<String> classes,
        List<Photo> photos,
        List<String> findings) {

    /** Only pictures beside the page are loaded. */
    private static final String BESIDE = "'self' file:";

    private static final ObjectMapper JSON = new ObjectMapper();

    /** How large an object is, by the square root of its area in pixels, as COCO tells them. */
    public enum ObjectSize {
        /** Below 32. */
        SMALL,
        /** From 32 to below 96. */
        MEDIUM,
        /** 96 and more. */
        LARGE;

        /** Returns the size of an area in pixels. */
        public static ObjectSize of(double area) {
            return area < 32 * 32 ? SMALL : area < 96 * 96 ? MEDIUM : LARGE;
        }
    }

    /**
     * A photograph.
     *
     * @param name such as the name of its file
     * @param picture the file of its picture, from the folder of the page; empty if there is none
     * @param thumbnail likewise, of a small one
     * @param labels the positions of the classes that it shows
     * @param sizes of its objects
     * @param objects how many there are
     * @param faults what is wrong with it
     */
    public record Photo(
            String name,
            String picture,
            String thumbnail,
            Set<Integer> labels,
            Set<ObjectSize> sizes,
            int objects,
            List<String> faults) {

        /** Returns it in the order that the script knows; texts as they may be shown. */
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

    /** Returns the page, whose place is the folder of the pictures. */
    public String page() {
        Markup out = new Markup();
        PageFrame.open(out, title, BESIDE, "report.css", "browse.css");
        out.open("header").leaf("h1", title).leaf("p", subtitle).close();
        search(out);
        out.open("div", "id", "photos", "class", "photos").close();
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
        if (photos.stream().anyMatch(photo -> !photo.sizes.isEmpty())) {
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

    /** Returns the photographs as JSON that ends no script. */
    private String data() {
        List<String> names = classes.stream().map(Printable::line).toList();
        return JSON.valueToTree(List.of(names, photos.stream().map(Photo::row).toList()))
                .toString()
                .replace("<", "\\u003c")
                .replace(">", "\\u003e")
                .replace("&", "\\u0026");
    }
}
