import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.FileLogInputStream;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;

/**
 * What Apache Kafka reads in each segment file of a directory, in the order of their names.
 *
 * A line a batch: file, position, base offset, whether the checksum is right, then the number of
 * records and a checksum over them, or `bad`. A line `file corrupt` where the batches end in one.
 */
public final class SegmentOracle {
    public static void main(String[] arguments) throws Exception {
        File[] files = new File(arguments[0]).listFiles((at, name) -> name.endsWith(".log"));
        Arrays.sort(files);
        StringBuilder out = new StringBuilder();
        for (File file : files) {
            try (FileRecords records = FileRecords.open(file, false)) {
                for (FileLogInputStream.FileChannelRecordBatch batch : records.batches()) {
                    out.append(file.getName()).append(' ').append(batch.position()).append(' ')
                        .append(batch.baseOffset()).append(' ').append(one(batch)).append('\n');
                }
            } catch (Exception corrupt) {
                out.append(file.getName()).append(" corrupt\n");
            }
        }
        System.out.print(out);
    }

    private static String one(FileLogInputStream.FileChannelRecordBatch batch) {
        try {
            batch.ensureValid();
        } catch (Exception wrong) {
            return "invalid";
        }
        CRC32 digest = new CRC32();
        int count = 0;
        try {
            for (Record record : batch) {
                digest.update(encoded(record));
                count++;
            }
        } catch (Exception | Error bad) {
            return "bad";
        }
        return count + " " + digest.getValue();
    }

    private static byte[] encoded(Record record) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(record.offset());
        out.writeLong(record.timestamp());
        put(out, record.hasKey() ? record.key() : null);
        put(out, record.hasValue() ? record.value() : null);
        for (Header header : record.headers()) {
            put(out, ByteBuffer.wrap(header.key().getBytes(StandardCharsets.UTF_8)));
            put(out, header.value() == null ? null : ByteBuffer.wrap(header.value()));
        }
        return bytes.toByteArray();
    }

    private static void put(DataOutputStream out, ByteBuffer part) throws Exception {
        out.writeInt(part == null ? -1 : part.remaining());
        if (part != null) {
            byte[] copy = new byte[part.remaining()];
            part.duplicate().get(copy);
            out.write(copy);
        }
    }
}
