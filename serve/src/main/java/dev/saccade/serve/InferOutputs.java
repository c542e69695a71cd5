package dev.saccade.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Lists;
import com.google.common.primitives.Ints;
import com.google.common.primitives.Shorts;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.PredictionJson;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Converts predictions to outputs of the Open Inference Protocol. */
final class InferOutputs {

    private InferOutputs() {}

    /** Returns the metadata of all outputs of a model; -1 is a variable size. */
    static List<OutputTensor> describe(TrainedModel<?> model) {
        return model.match(
                detector -> {
                    ImmutableList.Builder<OutputTensor> outputs = ImmutableList.builder();
                    outputs.add(described("num_detections", OutputTensor.Type.INT32, -1));
                    outputs.add(described("boxes", OutputTensor.Type.FP32, -1, 4));
                    outputs.add(described("scores", OutputTensor.Type.FP32, -1));
                    outputs.add(described("labels", OutputTensor.Type.INT32, -1));
                    outputs.add(described("label_names", OutputTensor.Type.BYTES, -1));
                    if (ModelInfo.hasMasks(model)) {
                        outputs.add(described("masks", OutputTensor.Type.BYTES, -1));
                    }
                    return outputs.build();
                },
                segmenter ->
                        ImmutableList.of(
                                described("label_map", OutputTensor.Type.INT32, -1, -1, -1)),
                classifier ->
                        ImmutableList.of(
                                described(
                                        "scores",
                                        OutputTensor.Type.FP32,
                                        -1,
                                        classifier.classes().size()),
                                described("labels", OutputTensor.Type.INT32, -1),
                                described("label_names", OutputTensor.Type.BYTES, -1)));
    }

    private static OutputTensor described(String name, OutputTensor.Type type, Integer... shape) {
        return new OutputTensor(name, type, List.of(shape), List.of());
    }

    static List<OutputTensor> of(
            List<UploadQueue.Predicted> images,
            List<String> classes,
            ScoreThresholds thresholds,
            boolean hasMasks,
            int maxPixels) {
        List<Object> predictions = Lists.transform(images, image -> image.prediction());
        if (predictions.get(0) instanceof LabelMap) {
            return List.of(
                    labelMaps(Lists.transform(predictions, LabelMap.class::cast), maxPixels));
        } else if (predictions.get(0) instanceof ClassScores) {
            return scores(Lists.transform(predictions, ClassScores.class::cast), classes);
        }
        return objects(
                predictions.stream()
                        .map(each -> thresholds.select((Instances) each, classes))
                        .map(each -> DetectedObject.of(each, classes))
                        .toList(),
                hasMasks);
    }

    private static List<OutputTensor> objects(List<List<DetectedObject>> images, boolean hasMasks) {
        List<DetectedObject> all = images.stream().flatMap(List::stream).toList();
        int count = all.size();
        ImmutableList.Builder<OutputTensor> outputs = ImmutableList.builder();
        outputs.add(
                new OutputTensor(
                        "num_detections",
                        OutputTensor.Type.INT32,
                        List.of(images.size()),
                        images.stream().map(List::size).toList()));
        outputs.add(
                new OutputTensor(
                        "boxes",
                        OutputTensor.Type.FP32,
                        List.of(count, 4),
                        all.stream().flatMap(each -> corners(each.box())).toList()));
        outputs.add(
                new OutputTensor(
                        "scores",
                        OutputTensor.Type.FP32,
                        List.of(count),
                        all.stream().map(each -> (float) each.score()).toList()));
        outputs.addAll(
                labels(
                        all.stream().map(DetectedObject::classIndex).toList(),
                        all.stream().map(DetectedObject::label).toList()));
        if (hasMasks) {
            List<String> masks = all.stream().map(each -> json(each.mask().orElseThrow())).toList();
            outputs.add(new OutputTensor("masks", OutputTensor.Type.BYTES, List.of(count), masks));
        }
        return outputs.build();
    }

    private static Stream<Float> corners(Box box) {
        return Stream.of((float) box.x1(), (float) box.y1(), (float) box.x2(), (float) box.y2());
    }

    private static String json(Rle mask) {
        return new String(JsonBody.bytes(PredictionJson.rle(mask).orElseThrow()), UTF_8);
    }

    private static List<OutputTensor> labels(List<Integer> indices, List<String> names) {
        List<Integer> shape = List.of(indices.size());
        return List.of(
                new OutputTensor("labels", OutputTensor.Type.INT32, shape, indices),
                new OutputTensor("label_names", OutputTensor.Type.BYTES, shape, names));
    }

    /** Returns the scores of all classes, and the class with the highest score. */
    private static List<OutputTensor> scores(List<ClassScores> images, List<String> classes) {
        List<Float> values = new ArrayList<>();
        images.forEach(
                each ->
                        IntStream.range(0, each.size())
                                .forEach(label -> values.add((float) each.score(label))));
        List<Integer> best = images.stream().map(ClassScores::best).toList();
        return ImmutableList.<OutputTensor>builder()
                .add(
                        new OutputTensor(
                                "scores",
                                OutputTensor.Type.FP32,
                                List.of(images.size(), classes.size()),
                                values))
                .addAll(labels(best, best.stream().map(classes::get).toList()))
                .build();
    }

    /** Returns label maps [N, H, W]; -1 is {@link LabelMap#IGNORE}. */
    private static OutputTensor labelMaps(List<LabelMap> images, int maxPixels) {
        Size size = images.get(0).size();
        if (images.stream().anyMatch(each -> !each.size().equals(size))) {
            throw Problem.badRequest(
                    "inputs: images of different sizes have no common label map; send each image"
                            + " in a separate request");
        }
        if (images.size() * size.area() > maxPixels) {
            throw Problem.badRequest(
                    "inputs: got %d images of %d pixels, expected at most %d pixels in total;"
                            + " send several requests",
                    images.size(), size.area(), maxPixels);
        }
        int pixels = Ints.checkedCast(size.area());
        short[] labels = new short[pixels * images.size()];
        for (int i = 0; i < images.size(); i++) {
            images.get(i).copyTo(0, 0, size, labels, i * pixels, size.width());
        }
        return new OutputTensor(
                "label_map",
                OutputTensor.Type.INT32,
                List.of(images.size(), size.height(), size.width()),
                Lists.transform(Shorts.asList(labels), InferOutputs::label));
    }

    private static int label(short stored) {
        return stored == (short) LabelMap.IGNORE ? LabelMap.IGNORE : Short.toUnsignedInt(stored);
    }

    /** Returns the JSON of the metadata. */
    static Map<String, Object> metadata(OutputTensor tensor) {
        return ImmutableMap.of(
                "name", tensor.name(), "datatype", tensor.type().name(), "shape", tensor.shape());
    }
}
