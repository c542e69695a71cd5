package dev.saccade.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Application;
import ai.djl.Device;
import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.output.CategoryMask;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.repository.Artifact;
import ai.djl.repository.MRL;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ModelZoo;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opencv.core.Mat;
import org.opencv.imgcodecs.Imgcodecs;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import javax.imageio.ImageIO;

/** Saccade's models, used as any of DJL's. */
class SaccadeZooTest {

    private static final String SMALLEST = "semantic_fpn/linglo_b0_40k_ade20k";

    @TempDir Path folder;
    private Path photo;

    @BeforeEach
    void writePhoto() throws IOException {
        photo = Served.image(folder);
    }

    private static <I, O> ZooModel<I, O> load(Class<I> input, Class<O> output, Path checkpoint)
            throws Exception {
        return Criteria.builder()
                .setTypes(input, output)
                .optModelZoo(SaccadeZoo.open(checkpoint))
                .build()
                .loadModel();
    }

    private static <I> void assertFinds(Expected expected, Path checkpoint, Class<I> type, I photo)
            throws Exception {
        try (ZooModel<I, ?> model = load(type, expected.type(), checkpoint);
                Predictor<I, ?> predictor = model.newPredictor()) {
            expected.assertIs(predictor.predict(photo));
        }
    }

    @ParameterizedTest
    @EnumSource
    void equalsSaccadeForAllInputTypes(TinyModel model) throws Exception {
        Path checkpoint = Served.checkpoint(model, folder);
        Expected expected = Expected.of(model, checkpoint, photo);
        assertFinds(expected, checkpoint, Path.class, photo);
        assertFinds(expected, checkpoint, URL.class, photo.toUri().toURL());
        assertFinds(expected, checkpoint, byte[].class, Files.readAllBytes(photo));
        try (InputStream stream = Files.newInputStream(photo)) {
            assertFinds(expected, checkpoint, InputStream.class, stream);
        }
        Image image = ImageFactory.getInstance().fromFile(photo);
        assertFinds(expected, checkpoint, Image.class, image);
    }

    /** Returns an image as DJL's own factory of OpenCV images wraps it. */
    private static Image wrapping(Object pixels) {
        InvocationHandler handler =
                (image, method, arguments) -> {
                    assertEquals("getWrappedImage", method.getName());
                    return pixels;
                };
        ClassLoader loader = Image.class.getClassLoader();
        return (Image) Proxy.newProxyInstance(loader, new Class<?>[] {Image.class}, handler);
    }

    @ParameterizedTest
    @EnumSource
    void acceptsImagesOfOpenCv(TinyModel model) throws Exception {
        Path checkpoint = Served.checkpoint(model, folder);
        Expected expected = Expected.of(model, checkpoint, photo);
        Mat pixels = Imgcodecs.imread(photo.toString());
        assertFinds(expected, checkpoint, Image.class, wrapping(pixels));
        pixels.release();
        TranslateException refused =
                assertThrows(
                        TranslateException.class,
                        () -> assertFinds(expected, checkpoint, Image.class, wrapping("pixels")));
        assertTrue(refused.getMessage().contains("BufferedImage or a Mat"), refused.getMessage());
    }

    @ParameterizedTest
    @EnumSource(names = {"RETINANET", "MASK_RCNN"})
    void djlDrawsDetections(TinyModel model) throws Exception {
        Image picture = ImageFactory.getInstance().fromFile(photo);
        try (ZooModel<Path, DetectedObjects> loaded =
                        load(Path.class, DetectedObjects.class, Served.checkpoint(model, folder));
                Predictor<Path, DetectedObjects> predictor = loaded.newPredictor()) {
            picture.drawBoundingBoxes(predictor.predict(photo));
        }
        BufferedImage drawn = (BufferedImage) picture.getWrappedImage();
        BufferedImage plain = ImageIO.read(photo.toFile());
        int changed = 0;
        for (int x = 0; x < Served.WIDTH; x++) {
            changed += drawn.getRGB(x, 40) == plain.getRGB(x, 40) ? 0 : 1;
        }
        assertTrue(changed > 0);
    }

    @ParameterizedTest
    @EnumSource
    void predictsWithTestTimeAugmentation(TinyModel tiny) throws Exception {
        TestTimeAugmentation tta =
                new TestTimeAugmentation(
                        List.of(List.of(120, 80), List.of(180, 120)), /* flip= */ true);
        Path checkpoint =
                Served.checkpoint(
                        tiny,
                        folder,
                        new NamedAugmentations(Map.of("larger", tta), Optional.of("larger")));
        Expected single = Expected.of(tiny, checkpoint, photo);
        assertFinds(single, checkpoint, Path.class, photo);
        Criteria<Path, ?> criteria =
                Criteria.builder()
                        .setTypes(Path.class, single.type())
                        .optModelZoo(SaccadeZoo.open(checkpoint))
                        .optArgument("tta", "larger")
                        .build();
        try (ZooModel<Path, ?> model = criteria.loadModel();
                Predictor<Path, ?> predictor = model.newPredictor()) {
            Expected.of(tiny, checkpoint, photo, tta).assertIs(predictor.predict(photo));
        }
    }

    @ParameterizedTest
    @EnumSource
    void threadsShareAModel(TinyModel tiny) throws Exception {
        Path checkpoint = Served.checkpoint(tiny, folder);
        Expected expected = Expected.of(tiny, checkpoint, photo);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ZooModel<Path, ?> model = load(Path.class, expected.type(), checkpoint)) {
            List<Future<?>> both = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                both.add(
                        threads.submit(
                                () -> {
                                    try (Predictor<Path, ?> predictor = model.newPredictor()) {
                                        for (int i = 0; i < 5; i++) {
                                            expected.assertIs(predictor.predict(photo));
                                        }
                                        List<Path> photos = List.of(photo, photo);
                                        predictor.batchPredict(photos).forEach(expected::assertIs);
                                    }
                                    return null;
                                }));
            }
            for (Future<?> one : both) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource
    void predictsWithQuantizedLayers(TinyModel tiny) throws Exception {
        assumeTrue(Quantization.isFast());
        Path file = Served.checkpoint(tiny, folder);
        List<String> layers;
        try (TrainedModel<?> model = TrainedModel.load(file)) {
            layers = Quantization.layers(model.model());
        }
        Checkpoint stored = Checkpoints.open(file);
        ModelSpec spec = ModelSpec.fromMetadata(stored.metadata(), "stored");
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        metadata.putAll(
                spec.withPrecision(Precision.BFLOAT16).withQuantizedLayers(layers).toMetadata());
        Path quantized = folder.resolve("quantized.safetensors");
        Checkpoints.save(quantized, new Checkpoint(stored.tensors(), metadata));
        assertFinds(Expected.of(tiny, quantized, photo), quantized, Path.class, photo);
    }

    @Test
    void usesTheRequestedDevice() throws Exception {
        Path checkpoint = Served.checkpoint(TinyModel.RETINANET, folder);
        Criteria.Builder<Path, DetectedObjects> criteria =
                Criteria.builder()
                        .setTypes(Path.class, DetectedObjects.class)
                        .optModelZoo(SaccadeZoo.open(checkpoint));
        try (ZooModel<Path, DetectedObjects> auto = criteria.build().loadModel()) {
            assertEquals(Devices.local().choose("auto"), auto.getNDManager().getDevice());
        }
        try (ZooModel<Path, DetectedObjects> cpu =
                criteria.optDevice(Device.cpu()).build().loadModel()) {
            assertEquals(Device.cpu(), cpu.getNDManager().getDevice());
        }
        Criteria<Path, DetectedObjects> none = criteria.optDevice(Device.gpu(999)).build();
        SaccadeException refused = assertThrows(SaccadeException.class, none::loadModel);
        assertTrue(refused.getMessage().startsWith("cuda:999: "), refused.getMessage());
    }

    @Test
    void djlFindsAllRecipes() throws IOException {
        Map<Application, List<MRL>> listed =
                ModelZoo.listModels(Criteria.builder().optGroupId(SaccadeZoo.GROUP).build());
        Set<String> names =
                listed.values().stream()
                        .flatMap(List::stream)
                        .filter(mrl -> mrl.getGroupId().equals(SaccadeZoo.GROUP))
                        .map(MRL::getArtifactId)
                        .collect(Collectors.toSet());
        assertEquals(
                Zoo.packaged().recipes().stream().map(Recipe::name).collect(Collectors.toSet()),
                names);
        MRL swin =
                listed.get(Application.CV.INSTANCE_SEGMENTATION).stream()
                        .filter(
                                mrl ->
                                        mrl.getArtifactId()
                                                .equals("mask_rcnn/swin_tiny_fpn_1x_coco"))
                        .findAny()
                        .orElseThrow();
        Artifact artifact = swin.getDefaultArtifact();
        assertEquals(
                List.of(artifact.getName()),
                swin.listArtifacts().stream().map(Artifact::getName).toList());
        assertEquals(
                Map.of("box_ap", "43.7", "mask_ap", "39.8", "parameters", "48", "flops", "267"),
                artifact.getProperties());
        assertEquals("MIT", artifact.getMetadata().getLicenses().get("original").getName());
        assertEquals("Apache-2.0", artifact.getMetadata().getLicenses().get("recipe").getName());
        assertTrue(artifact.getMetadata().getDescription().startsWith("Swin Transformer"));
        assertEquals(swin.match(Map.of("box_ap", "43.7")).getName(), artifact.getName());
    }

    private static Criteria.Builder<Path, CategoryMask> smallest() {
        return Criteria.builder()
                .setTypes(Path.class, CategoryMask.class)
                .optApplication(Application.CV.SEMANTIC_SEGMENTATION)
                .optGroupId(SaccadeZoo.GROUP)
                .optArtifactId(SMALLEST);
    }

    @Test
    void loadsOfficialWeights() throws Exception {
        ModelSpec spec = Zoo.packaged().recipe(SMALLEST).spec();
        Path ours = folder.resolve("ours.safetensors");
        TinyModel.save(spec, ours);
        Path theirs = folder.resolve("theirs.pth");
        Checkpoint bare = Checkpoints.open(ours);
        Checkpoints.save(theirs, new Checkpoint(bare.tensors(), Map.of()));
        try (ZooModel<Path, CategoryMask> model =
                        smallest().optArgument("checkpoint", theirs).build().loadModel();
                Predictor<Path, CategoryMask> predictor = model.newPredictor();
                Segmenter segmenter = Segmenter.load(ours)) {
            CategoryMask found = predictor.predict(photo);
            assertEquals(150, found.getClasses().size());
            assertEquals("wall", found.getClasses().get(0));
            assertEquals(
                    segmenter.segment(photo).at(70, 40),
                    found.getClasses().get(found.getMask()[40][70]));
        }
    }

    @Test
    void namesTheClassesOfImageNet() throws Exception {
        String name = "classification/swin_tiny_imagenet";
        ModelSpec spec = Zoo.packaged().recipe(name).spec();
        Path ours = TinyModel.save(spec, folder.resolve("ours.safetensors"));
        Path theirs = folder.resolve("timm.safetensors");
        Checkpoint named = Naming.of("timm").fromSaccade(Checkpoints.open(ours));
        Map<String, Tensor> bare = new HashMap<>();
        named.tensors()
                .forEach((key, value) -> bare.put(key.replaceFirst("^backbone\\.", ""), value));
        assertTrue(bare.containsKey("head.fc.weight"), bare.keySet().toString());
        Checkpoints.save(theirs, new Checkpoint(bare, Map.of()));
        try (ZooModel<Path, Classifications> model =
                        Criteria.builder()
                                .setTypes(Path.class, Classifications.class)
                                .optApplication(Application.CV.IMAGE_CLASSIFICATION)
                                .optGroupId(SaccadeZoo.GROUP)
                                .optArtifactId(name)
                                .optArgument("checkpoint", theirs)
                                .build()
                                .loadModel();
                Predictor<Path, Classifications> predictor = model.newPredictor();
                Classifier classifier = Classifier.load(ours)) {
            Classifications found = predictor.predict(photo);
            assertEquals(1000, found.getClassNames().size());
            assertEquals("toilet tissue", found.getClassNames().get(999));
            ClassScore best = classifier.classify(photo).get(0);
            assertEquals(best.label(), found.best().getClassName());
            assertEquals(best.score(), found.best().getProbability());
        }
    }

    @Test
    void explainsMissingWeights() {
        SaccadeException asked =
                assertThrows(SaccadeException.class, () -> smallest().build().loadModel());
        assertTrue(asked.getMessage().contains("optArgument(\"checkpoint\", file)"));
        assertThrows(
                ModelNotFoundException.class,
                () -> smallest().optArtifactId(null).build().loadModel());
    }

    @Test
    void rejectsOtherModels() throws Exception {
        Path checkpoint = Served.checkpoint(TinyModel.RETINANET, folder);
        assertTrue(
                assertThrows(
                                SaccadeException.class,
                                () -> load(Path.class, CategoryMask.class, checkpoint))
                        .getMessage()
                        .contains("a detector returns DetectedObjects"));
        assertTrue(
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        smallest()
                                                .optArgument("checkpoint", checkpoint)
                                                .build()
                                                .loadModel())
                        .getMessage()
                        .contains("does not match recipe " + SMALLEST));
        assertTrue(
                assertThrows(
                                SaccadeException.class,
                                () ->
                                        smallest()
                                                .optArgument("checkpoint", folder.resolve("none"))
                                                .build()
                                                .loadModel())
                        .getMessage()
                        .contains("none: no such file"));
    }

    @Test
    void loadsAFolderByItsPath() throws Exception {
        Path checkpoint = Served.checkpoint(TinyModel.MASK_RCNN, folder);
        Path model = folder.resolve("model");
        ServingFolder.write(checkpoint, model);
        Expected expected = Expected.of(TinyModel.MASK_RCNN, checkpoint, photo);
        try (ZooModel<Path, DetectedObjects> loaded =
                        Criteria.builder()
                                .setTypes(Path.class, DetectedObjects.class)
                                .optModelPath(model)
                                .optTranslatorFactory(new SaccadeTranslatorFactory())
                                .build()
                                .loadModel();
                Predictor<Path, DetectedObjects> predictor = loaded.newPredictor()) {
            expected.assertIs(predictor.predict(photo));
        }
        assertFinds(expected, model, Path.class, photo);
        assertServes(expected, model);
        Files.copy(checkpoint, model.resolve("another.safetensors"));
        assertTrue(
                assertThrows(SaccadeException.class, () -> SaccadeZoo.open(model))
                        .getMessage()
                        .contains("2 checkpoints"));
        assertTrue(
                assertThrows(SaccadeException.class, () -> ServingFolder.write(checkpoint, model))
                        .getMessage()
                        .endsWith("not empty; choose a new or empty folder"));
    }

    /**
     * For requests DJL reads the name of the factory in the folder; for other types it does not.
     */
    private void assertServes(Expected expected, Path model) throws Exception {
        Input request = new Input();
        request.add(Files.readAllBytes(photo));
        try (ZooModel<Input, Output> loaded =
                        Criteria.builder()
                                .setTypes(Input.class, Output.class)
                                .optModelPath(model)
                                .build()
                                .loadModel();
                Predictor<Input, Output> predictor = loaded.newPredictor()) {
            expected.assertIsJson(predictor.predict(request).getData().getAsString());
        }
        Criteria<Path, DetectedObjects> others =
                Criteria.builder()
                        .setTypes(Path.class, DetectedObjects.class)
                        .optModelPath(model)
                        .build();
        Throwable refused = assertThrows(ModelNotFoundException.class, others::loadModel);
        while (refused.getCause() != null) {
            refused = refused.getCause();
        }
        assertTrue(
                refused.getMessage().startsWith("No matching default translator found."),
                refused.getMessage());
    }
}
