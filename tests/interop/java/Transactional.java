import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A transactional producer that is driven by lines.
 *
 * Arguments: bootstrap servers, transactional id, transaction time-out in milliseconds. Each line
 * of standard input is a call, its words separated by tabs; each gets one line in return: "ok", or
 * "failed" and the name of the exception. The first line of the output says how the start went.
 */
public final class Transactional {
    private final KafkaProducer<String, String> producer;

    private Transactional(String servers, String transactionalId, String timeout) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("transactional.id", transactionalId);
        settings.put("transaction.timeout.ms", timeout);
        settings.put("max.block.ms", "100000");
        settings.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        settings.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        producer = new KafkaProducer<>(settings);
    }

    public static void main(String[] arguments) throws Exception {
        var driven = new Transactional(arguments[0], arguments[1], arguments[2]);
        driven.answer("start");
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            driven.answer(line.split("\t"));
        }
        Runtime.getRuntime().halt(0);
    }

    private void answer(String... words) {
        try {
            call(words);
            System.out.println("ok");
        } catch (Exception failure) {
            Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
            cause.printStackTrace();
            System.out.println("failed\t" + cause.getClass().getSimpleName());
        }
        System.out.flush();
    }

    private void call(String[] words) throws Exception {
        switch (words[0]) {
            case "start" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "send" -> producer.send(
                new ProducerRecord<>(words[1], Integer.parseInt(words[2]), null, words[3])).get();
            case "offset" -> producer.sendOffsetsToTransaction(
                Map.of(
                    new TopicPartition(words[2], Integer.parseInt(words[3])),
                    new OffsetAndMetadata(Long.parseLong(words[4]))),
                new ConsumerGroupMetadata(words[1]));
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }
}
