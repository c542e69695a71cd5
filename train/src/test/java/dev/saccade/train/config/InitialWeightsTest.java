package dev.saccade.train.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.models.zoo.PretrainedWeights;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

class InitialWeightsTest {

    @Test
    void usePublishedAverages(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("both.pth");
        try (InputStream both =
                InitialWeightsTest.class.getResourceAsStream("state_dict_and_ema.pth")) {
            Files.copy(both, file);
        }
        Map<String, Tensor> plain = Checkpoints.open(file).tensors();
        Map<String, Tensor> averaged = TorchFile.readAveraged(file).tensors();
        assertNotEquals(plain, averaged);
        assertEquals(averaged, tensors(file, Optional.of("elsa_swin_base")));
        assertEquals(plain, tensors(file, Optional.of("elsa_swin_tiny")));
        assertEquals(plain, tensors(file, Optional.empty()));
    }

    private static Map<String, Tensor> tensors(Path file, Optional<String> name) {
        return new InitialWeights(file, name.map(PretrainedWeights::named)).open().tensors();
    }
}
