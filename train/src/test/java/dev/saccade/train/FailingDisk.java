package dev.saccade.train;

import org.apache.lucene.tests.mockfile.FilterFileChannel;
import org.apache.lucene.tests.mockfile.FilterFileSystemProvider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.FileSystems;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;

/** The default file system, but one of the operations that change it goes wrong. */
public final class FailingDisk extends FilterFileSystemProvider {

    /** What goes wrong. */
    public enum Fault {
        /** There is no room, neither for this operation nor for later ones that need some. */
        FULL,
        /** The process ends in the middle of the operation; nothing it does later happens. */
        KILL
    }

    /** Thrown where the process would have ended. */
    static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    private Fault fault = Fault.FULL;
    private int operationsLeft = Integer.MAX_VALUE;

    /** Makes a disk that is sound so far. */
    public FailingDisk() {
        super("failing://", FileSystems.getDefault());
    }

    /** Lets the operation of a number, from 1 from now on, go wrong, and those after it. */
    public void failAt(int operation, Fault kind) {
        operationsLeft = operation;
        fault = kind;
    }

    /** Is a disk with room, and a process that lives. */
    public void recover() {
        operationsLeft = Integer.MAX_VALUE;
    }

    /** Counts an operation and returns whether it goes wrong. */
    private boolean fails() {
        if (operationsLeft <= 0 && fault == Fault.KILL) {
            throw new Killed();
        }
        operationsLeft--;
        return operationsLeft <= 0;
    }

    private void goWrong() throws IOException {
        if (fault == Fault.KILL) {
            throw new Killed();
        }
        throw new IOException("No space left on device");
    }

    private void operate() throws IOException {
        if (fails()) {
            goWrong();
        }
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
        operate();
        super.move(source, target, options);
    }

    @Override
    public void createLink(Path link, Path existing) throws IOException {
        operate();
        super.createLink(link, existing);
    }

    /** Needs no room, so that only a process that has ended does not do it. */
    @Override
    public boolean deleteIfExists(Path path) throws IOException {
        if (fails() && fault == Fault.KILL) {
            throw new Killed();
        }
        return super.deleteIfExists(path);
    }

    @Override
    public FileChannel newFileChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        if (!options.contains(StandardOpenOption.WRITE)) {
            return super.newFileChannel(path, options, attributes);
        }
        operate();
        return new FilterFileChannel(super.newFileChannel(path, options, attributes)) {

            /** Writes a half where it goes wrong. */
            @Override
            public int write(ByteBuffer source) throws IOException {
                if (fails()) {
                    ByteBuffer half = source.duplicate();
                    super.write(half.limit(half.position() + half.remaining() / 2));
                    goWrong();
                }
                return super.write(source);
            }

            /** Nobody pulls the plug, so that nothing needs to be forced in fact. */
            @Override
            public void force(boolean metaData) throws IOException {
                operate();
            }
        };
    }
}
