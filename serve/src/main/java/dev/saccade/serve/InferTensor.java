package dev.saccade.serve;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.Json;

import org.eclipse.jetty.http.HttpStatus;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The input tensor of a V2 request: encoded images, or RGB pixels. */
final class InferTensor {

    static final String NAME = "image";

    private static final int MAX_RANK = 4;

    private String name = "";
    private String datatype = "";
    private List<Long> shape = List.of();
    private Map<String, Object> parameters = Map.of();
    private List<String> strings = List.of();
    private byte[] numbers = {};
    private boolean hasData;

    private InferTensor() {}

    /** Reads a tensor, in which {@code data} may come before the shape. */
    static InferTensor read(JsonParser json, int maxImages) throws IOException {
        InferTensor tensor = new InferTensor();
        InferRequest.requireObject(json, "inputs");
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            switch (key) {
                case "name" -> tensor.name = InferRequest.text(json, "inputs.name");
                case "datatype" -> tensor.datatype = InferRequest.text(json, "inputs.datatype");
                case "shape" -> tensor.shape = readShape(json);
                case "parameters" -> tensor.parameters = InferRequest.readParameters(json);
                case "data" -> tensor.readData(json, maxImages);
                default -> throw InferRequest.unknown("inputs." + key);
            }
        }
        return tensor;
    }

    private static List<Long> readShape(JsonParser json) throws IOException {
        ImmutableList.Builder<Long> shape = ImmutableList.builder();
        int rank = 0;
        if (!json.isExpectedStartArrayToken()) {
            throw Problem.badRequest("inputs.shape: expected a list of sizes");
        }
        while (json.nextToken() != JsonToken.END_ARRAY) {
            OptionalLong size = Json.integer(json);
            if (size.isEmpty() || size.getAsLong() < 1 || ++rank > MAX_RANK) {
                throw Problem.badRequest(
                        "inputs.shape: expected 1 to %d sizes of at least 1", MAX_RANK);
            }
            shape.add(size.getAsLong());
        }
        return shape.build();
    }

    /** Reads flat or nested values; the tensor holds at most as many bytes as the request. */
    private void readData(JsonParser json, int maxImages) throws IOException {
        hasData = true;
        List<String> texts = new ArrayList<>();
        ByteArrayOutputStream values = new ByteArrayOutputStream();
        int depth = 0;
        do {
            switch (json.currentToken()) {
                case START_ARRAY -> depth++;
                case END_ARRAY -> depth--;
                case VALUE_STRING -> texts.add(json.getText());
                case VALUE_NUMBER_INT -> values.write(pixel(json));
                default ->
                        throw Problem.badRequest(
                                "inputs.data: got %s, expected base64 text or integers from 0"
                                        + " to 255",
                                json.getText());
            }
            // An empty text needs many more bytes in memory than in the request.
            if (texts.size() > maxImages) {
                throw Problem.badRequest(
                        "inputs.data: got more than %d images; send several requests", maxImages);
            }
        } while (depth > 0 && json.nextToken() != null);
        strings = texts;
        numbers = values.toByteArray();
    }

    private static int pixel(JsonParser json) throws IOException {
        OptionalLong value = Json.integer(json);
        if (value.isEmpty() || value.getAsLong() < 0 || value.getAsLong() > 0xFF) {
            throw Problem.badRequest(
                    "inputs.data: got %s, expected integers from 0 to 255", json.getText());
        }
        return (int) value.getAsLong();
    }

    /** Returns the images; {@code binary} is the data after the JSON. */
    List<Upload> images(ByteBuffer binary, ServerLimits limits) {
        if (!name.equals(NAME)) {
            throw Problem.badRequest("inputs.name: got %s, expected %s", name, NAME);
        }
        boolean encoded = datatype.equals("BYTES");
        if (!encoded && !datatype.equals("UINT8")) {
            throw Problem.badRequest(
                    "inputs.datatype: got %s, expected BYTES (encoded images) or UINT8 (RGB"
                            + " pixels)",
                    datatype);
        }
        boolean isBinary = checkParameters(binary);
        long count = encoded ? encodedCount() : pixelCount(limits);
        if (count > limits.queue()) {
            throw Problem.badRequest(
                    "inputs.shape: got %d images, expected at most %d; send several requests",
                    count, limits.queue());
        }
        if (encoded) {
            return isBinary ? binaryImages(binary, (int) count) : base64Images((int) count);
        }
        if (!isBinary && !strings.isEmpty()) {
            throw Problem.badRequest("inputs.data: got text, expected integers from 0 to 255");
        }
        return pixelImages(isBinary ? binary : ByteBuffer.wrap(numbers), (int) count);
    }

    /** Returns whether the data is binary. */
    private boolean checkParameters(ByteBuffer binary) {
        parameters.keySet().stream()
                .filter(key -> !key.equals(InferRequest.BINARY_SIZE))
                .findFirst()
                .ifPresent(
                        key -> {
                            throw InferRequest.unknown("inputs.parameters." + key);
                        });
        Object size = parameters.get(InferRequest.BINARY_SIZE);
        if (size != null && hasData) {
            throw Problem.badRequest("inputs: got data and binary_data_size, expected one of both");
        } else if (size == null && !hasData) {
            throw Problem.badRequest(
                    "inputs: has neither data nor binary_data_size; send one of both");
        }
        Object expected = size == null ? (Object) 0L : size;
        if (!expected.equals((long) binary.remaining())) {
            throw Problem.badRequest(
                    "inputs.parameters.binary_data_size: got %s, but %d bytes follow the JSON;"
                            + " expected equal sizes, and %s as the length of the JSON",
                    size == null ? "none" : size, binary.remaining(), InferRequest.JSON_LENGTH);
        }
        return size != null;
    }

    private long encodedCount() {
        boolean isList = shape.size() == 1 || (shape.size() == 2 && shape.get(1) == 1);
        if (!isList) {
            throw Problem.badRequest(
                    "inputs.shape: got %s, expected [N], the number of images", shape);
        }
        return shape.get(0);
    }

    /** Checks the size of each image and of the data, and returns the number of images. */
    private long pixelCount(ServerLimits limits) {
        int rank = shape.size();
        if (rank < 3 || shape.get(rank - 1) != 3) {
            throw Problem.badRequest(
                    "inputs.shape: got %s, expected [height, width, 3] or [N, height, width, 3]",
                    shape);
        }
        long height = shape.get(rank - 3);
        long width = shape.get(rank - 2);
        if (height > limits.pixels() || width > limits.pixels() / height) {
            throw Problem.exception(
                    HttpStatus.UNPROCESSABLE_ENTITY_422,
                    "inputs.shape: got %d x %d pixels, expected at most %d pixels; send a smaller"
                            + " image",
                    height,
                    width,
                    limits.pixels());
        }
        return rank == 4 ? shape.get(0) : 1;
    }

    private static List<Upload> binaryImages(ByteBuffer data, int count) {
        ByteBuffer binary = data.order(ByteOrder.LITTLE_ENDIAN);
        List<Upload> images = new ArrayList<>();
        while (binary.hasRemaining() && images.size() < count) {
            long length = binary.remaining() < 4 ? -1 : Integer.toUnsignedLong(binary.getInt());
            if (length < 0 || length > binary.remaining()) {
                throw Problem.badRequest(
                        "inputs: element %d of the binary data exceeds the data; each element is"
                                + " its length as 4 bytes, little-endian, followed by its bytes",
                        images.size());
            }
            byte[] content = new byte[(int) length];
            binary.get(content);
            images.add(upload(images.size(), content));
        }
        if (images.size() < count || binary.hasRemaining()) {
            throw Problem.badRequest(
                    "inputs: the binary data holds %s elements than the shape; expected %d",
                    images.size() < count ? "fewer" : "more", count);
        }
        return images;
    }

    private List<Upload> base64Images(int count) {
        if (strings.size() != count || numbers.length > 0) {
            throw Problem.badRequest(
                    "inputs.data: got %d strings, expected %d images, each as base64 text",
                    strings.size(), count);
        }
        List<Upload> images = new ArrayList<>();
        for (String text : strings) {
            try {
                images.add(upload(images.size(), Base64.getDecoder().decode(text)));
            } catch (IllegalArgumentException e) {
                throw Problem.badRequest(
                        "inputs.data: element %d is not base64; encode the image file, or send it"
                                + " as binary data",
                        images.size());
            }
        }
        return images;
    }

    private List<Upload> pixelImages(ByteBuffer pixels, int count) {
        int height = shape.get(shape.size() - 3).intValue();
        int width = shape.get(shape.size() - 2).intValue();
        long expected = 3L * height * width * count;
        if (pixels.remaining() != expected) {
            throw Problem.badRequest(
                    "inputs: got %d values, expected %d for shape %s",
                    pixels.remaining(), expected, shape);
        }
        List<Upload> images = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            images.add(upload(i, bitmap(pixels, height, width)));
        }
        return images;
    }

    /** Encodes RGB pixels as a BMP, which loses nothing, so they are decoded like any image. */
    private static byte[] bitmap(ByteBuffer rgb, int height, int width) {
        int headers = 54;
        int stride = (3 * width + 3) / 4 * 4;
        int bytes = Math.toIntExact(headers + (long) stride * height);
        ByteBuffer bmp = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        bmp.put((byte) 'B').put((byte) 'M').putInt(bytes).putInt(0).putInt(headers);
        bmp.putInt(40).putInt(width).putInt(height).putShort((short) 1).putShort((short) 24);
        byte[] row = new byte[3 * width];
        for (int y = height - 1; y >= 0; y--) {
            rgb.get(row);
            for (int x = 0; x < row.length; x += 3) {
                byte red = row[x];
                row[x] = row[x + 2];
                row[x + 2] = red;
            }
            bmp.put(headers + y * stride, row);
        }
        return bmp.array();
    }

    private static Upload upload(int index, byte[] content) {
        return new Upload(NAME + "[" + index + "]", content);
    }

    @Override
    public String toString() {
        return name + Arrays.toString(shape.toArray());
    }
}
