package org.benchmark;

import ai.djl.inference.Predictor;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.output.DetectedObjects;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;

import dev.saccade.djl.SaccadeZoo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** The service of docs/spring.md with a DJL model and a pool of two predictors. */
@SpringBootApplication
public class DjlFinder {

    private static final BlockingQueue<Predictor<Image, DetectedObjects>> PREDICTORS =
            new ArrayBlockingQueue<>(2);

    public static void main(String[] arguments) throws Exception {
        Criteria<Image, DetectedObjects> criteria =
                Criteria.builder()
                        .setTypes(Image.class, DetectedObjects.class)
                        .optModelZoo(SaccadeZoo.open(Path.of(System.getProperty("model"))))
                        .optArgument("threshold", System.getProperty("threshold"))
                        .build();
        ZooModel<Image, DetectedObjects> model = criteria.loadModel();
        PREDICTORS.add(model.newPredictor());
        PREDICTORS.add(model.newPredictor());
        SpringApplication.run(DjlFinder.class, arguments);
    }

    @RestController
    static class ObjectController {

        @PostMapping(path = "/objects", consumes = "image/*")
        List<Map<String, Object>> detect(@RequestBody byte[] image) throws Exception {
            Image pixels =
                    ImageFactory.getInstance().fromInputStream(new ByteArrayInputStream(image));
            Predictor<Image, DetectedObjects> predictor = PREDICTORS.take();
            DetectedObjects found;
            try {
                found = predictor.predict(pixels);
            } finally {
                PREDICTORS.add(predictor);
            }
            List<Map<String, Object>> objects = new ArrayList<>();
            for (int i = 0; i < found.getNumberOfObjects(); i++) {
                DetectedObjects.DetectedObject object = found.item(i);
                objects.add(
                        Map.of(
                                "label", object.getClassName(),
                                "score", object.getProbability(),
                                "box", object.getBoundingBox().getBounds()));
            }
            return objects;
        }
    }
}
