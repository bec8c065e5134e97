import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * Transactions of the Java client, one a word: `commit`, `abort`, `open` (left as it is).
 *
 * Arguments: bootstrap servers, topic, transactional id, first number, words...
 * Each transaction sends ten records to partition 0 in a codec of its own and an offset of the
 * group named like the transactional id.
 */
public final class Transactions {
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[3]);
        for (int word = 4; word < arguments.length; word++) {
            number = one(arguments, arguments[word], number, CODECS.get(word % CODECS.size()));
        }
        System.out.println(number);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static int one(String[] arguments, String end, int number, String codec) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("transactional.id", arguments[2]);
        // What is left open stays so while nodes are started and looked at.
        settings.put("transaction.timeout.ms", "900000");
        settings.put("compression.type", codec);
        settings.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        settings.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        KafkaProducer<String, String> producer = new KafkaProducer<>(settings);
        producer.initTransactions();
        producer.beginTransaction();
        for (int count = 0; count < 10; count++, number++) {
            var record = new ProducerRecord<>(arguments[1], 0, "k" + number % 7, end + " " + number);
            record.headers().add(new RecordHeader("n", ("" + number).getBytes(StandardCharsets.UTF_8)));
            producer.send(record);
        }
        producer.sendOffsetsToTransaction(
            Map.of(new TopicPartition(arguments[1], 0), new OffsetAndMetadata(number, end)),
            new ConsumerGroupMetadata(arguments[2]));
        producer.flush();
        switch (end) {
            case "commit": producer.commitTransaction(); break;
            case "abort": producer.abortTransaction(); break;
            case "open": return number;
            default: throw new IllegalArgumentException(end);
        }
        producer.close();
        return number;
    }
}
