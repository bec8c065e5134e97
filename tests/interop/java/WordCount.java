import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Kafka Streams: counts flights by carrier, exactly once, until it is killed.
 *
 * Arguments: bootstrap servers, application id, topic of flights (JSON), topic of counts, directory
 * of the state, replicas of the topics that Streams makes. Every flight yields one record: its
 * carrier and how many there have been. Ends with 1 when its threads are dead.
 */
public final class WordCount {
    private static final Pattern CARRIER = Pattern.compile("\"carrier\":\"(\\w+)\"");

    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.putAll(Map.of(
            "bootstrap.servers", arguments[0],
            "application.id", arguments[1],
            "state.dir", arguments[4],
            "replication.factor", arguments[5],
            "processing.guarantee", "exactly_once_v2",
            "statestore.cache.max.bytes", "0",
            "consumer.session.timeout.ms", "6000",
            "producer.linger.ms", "5"));
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(arguments[2], Consumed.with(Serdes.ByteArray(), Serdes.String()))
            .groupBy((key, flight) -> carrier(flight), Grouped.with(Serdes.String(), Serdes.String()))
            .count()
            .toStream()
            .to(arguments[3], Produced.with(Serdes.String(), Serdes.Long()));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                System.out.println("RUNNING");
            } else if (now == KafkaStreams.State.ERROR) {
                Runtime.getRuntime().halt(1);
            }
        });
        streams.start();
    }

    private static String carrier(String flight) {
        Matcher found = CARRIER.matcher(flight);
        if (!found.find()) {
            throw new IllegalArgumentException(flight);
        }
        return found.group(1);
    }
}
