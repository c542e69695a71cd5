package dev.saccade.export;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.StringStringEntryProto;

import com.google.common.base.Ascii;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.ExtensionRegistryLite;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;

import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads the metadata of exported models without loading them. */
public final class ExportMetadata {

    /** Larger values are not texts and are skipped. */
    private static final int MAX_ENTRY = 1 << 20;

    private ExportMetadata() {}

    /**
     * Reads the metadata of an ONNX or TorchScript file; empty for files in other formats.
     *
     * @throws SaccadeException of kind user, if the file is damaged; of kind I/O, if it cannot be
     *     read
     */
    public static Optional<Map<String, String>> read(Path file) {
        String name = Ascii.toLowerCase(file.toString());
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        return name.endsWith(ExportFormat.ONNX.suffix())
                ? Optional.of(readOnnx(file))
                : name.endsWith(ExportFormat.TORCHSCRIPT.suffix())
                        ? TorchFile.readExtraFiles(file)
                        : Optional.empty();
    }

    private static Map<String, String> readOnnx(Path file) {
        Map<String, String> metadata = new TreeMap<>();
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            CodedInputStream proto = CodedInputStream.newInstance(in);
            proto.setSizeLimit(Integer.MAX_VALUE);
            for (int tag = proto.readTag(); tag != 0; tag = proto.readTag()) {
                boolean isMetadata =
                        WireFormat.getTagFieldNumber(tag) == ModelProto.METADATA_PROPS_FIELD_NUMBER
                                && WireFormat.getTagWireType(tag)
                                        == WireFormat.WIRETYPE_LENGTH_DELIMITED;
                if (!isMetadata) {
                    proto.skipField(tag);
                    continue;
                }
                int length = proto.readRawVarint32();
                if (length < 0 || length > MAX_ENTRY) {
                    proto.skipRawBytes(length);
                    continue;
                }
                StringStringEntryProto entry =
                        StringStringEntryProto.parseFrom(
                                proto.readRawBytes(length),
                                ExtensionRegistryLite.getEmptyRegistry());
                metadata.put(entry.getKey(), entry.getValue());
            }
        } catch (InvalidProtocolBufferException e) {
            throw SaccadeException.user("%s: not an ONNX model, or damaged; export it again", file);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
        return metadata;
    }
}
