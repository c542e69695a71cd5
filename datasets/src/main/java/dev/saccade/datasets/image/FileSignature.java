package dev.saccade.datasets.image;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An unsupported file format that is often named like an image.
 *
 * @param isImage whether other programs show such files as images
 * @param start pattern of the first bytes, one character per byte
 */
record FileSignature(String name, boolean isImage, Pattern start, String advice) {

    private static final int BYTES = 512;

    private static final String FETCH_IMAGE = "save the image itself";
    private static final String BRAND = "(?s)....ftyp";

    private static final List<FileSignature> ALL =
            List.of(
                    image("a HEIC image", BRAND + "(hei[cxms]|hev[cxms]|mif1|msf1)"),
                    image("a HEIF (AVIF) image", BRAND + "avi[fs]"),
                    image("a JPEG XL image", "(\u00FF\n|\0\0\0\fJXL )"),
                    image("a JPEG 2000 image", "(\0\0\0\fjP  |\u00FFO\u00FFQ)"),
                    image("a JPEG XR image", "II\u00BC"),
                    image("an icon", "\0\0[\1\2]\0[^\0]\0"),
                    image("an SVG image", "(?s)\\s*(<\\?xml.{0,400})?<svg"),
                    other("a video", BRAND, "extract its frames, or give it the suffix of a video"),
                    other("a PDF document", "%PDF", "convert its pages to PNG"),
                    other("a git-lfs pointer", "version https://git-lfs", "run git lfs pull"),
                    other(
                            "a web page",
                            "(?is)(\u00EF\u00BB\u00BF)?\\s*<(!doctype html|html[^>]*>.|head|body)",
                            FETCH_IMAGE),
                    other("XML", "(\u00EF\u00BB\u00BF)?\\s*<\\?xml", FETCH_IMAGE),
                    other("JSON", "\\s*[\\[{]\\s*[\"{\\[]", FETCH_IMAGE),
                    other(
                            "Base64 text",
                            "(data:image/|/9j/|iVBORw0KGgo|UklGR|R0lGOD)",
                            "decode it first"),
                    other("a gzip file", "\u001F\u008B", "unpack it"),
                    other("a zip file", "PK\3\4", "unpack it"),
                    other("a macOS resource file", "\0\5\u0016\7", "delete it"),
                    other("zero bytes", "\0{16,}$", "copy or download it again"));

    private static FileSignature image(String name, String start) {
        return new FileSignature(name, true, Pattern.compile(start), "convert it to JPEG or PNG");
    }

    private static FileSignature other(String name, String start, String advice) {
        return new FileSignature(name, false, Pattern.compile(start), advice);
    }

    static Optional<FileSignature> of(byte[] bytes) {
        String start = new String(bytes, 0, Math.min(BYTES, bytes.length), ISO_8859_1);
        return ALL.stream()
                .filter(signature -> signature.start.matcher(start).lookingAt())
                .findFirst();
    }
}
