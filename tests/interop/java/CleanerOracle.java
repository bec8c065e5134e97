import java.io.File;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.CleanerStats;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

// One round of Apache Kafka's own cleaner on the partition directory that is named:
//     java -cp 'libs/*' CleanerOracle.java DIRECTORY NOW_MS DELETE_RETENTION_MS SEGMENT_BYTES FIRST_DIRTY
// prints the new first dirty offset, and the seconds that it took.
public class CleanerOracle {
    public static void main(String[] args) throws Exception {
        File dir = new File(args[0]);
        long now = Long.parseLong(args[1]);
        Map<String, String> settings = new HashMap<>();
        settings.put("cleanup.policy", "compact");
        settings.put("delete.retention.ms", args[2]);
        settings.put("internal.segment.bytes", args[3]);
        settings.put("index.interval.bytes", "100");
        // All of it lives at NOW_MS: producers expire by the clock.
        Time clock = (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, arguments) -> method.getName().equals("milliseconds")
                ? (Object) now : method.invoke(Time.SYSTEM, arguments));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        UnifiedLog log = UnifiedLog.create(dir, new LogConfig(settings), 0L, Long.MAX_VALUE, scheduler,
            new BrokerTopicStats(), clock, 900000, new ProducerStateManagerConfig(Integer.MAX_VALUE, false),
            600000, new LogDirFailureChannel(1), true, Optional.empty());
        log.updateHighWatermark(log.logEndOffset());
        long uncleanable = Math.min(log.lastStableOffset(), log.activeSegment().baseOffset());
        LogToClean job = new LogToClean(log, Long.parseLong(args[4]), uncleanable, true);
        Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner", "bytes", Time.SYSTEM);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(128 << 20), 512 * 1024, 64 << 20, 0.9, throttler,
            Time.SYSTEM, partition -> { });
        long begin = System.nanoTime();
        Map.Entry<Long, CleanerStats> done = cleaner.doClean(job, now);
        double seconds = (System.nanoTime() - begin) / 1e9;
        log.close();
        scheduler.shutdown();
        System.out.println(done.getKey() + " " + seconds + " " + done.getValue().bytesRead());
        System.exit(0);
    }
}
