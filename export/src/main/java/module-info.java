open module dev.saccade.export {
    requires transitive dev.saccade.eval;
    requires com.fasterxml.jackson.databind;
    requires com.google.protobuf;
    requires com.microsoft.onnxruntime;
    requires transitive org.tribuo.util.onnx;

    exports dev.saccade.export;
    exports dev.saccade.export.onnx;
}
