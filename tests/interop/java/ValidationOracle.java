import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

// What Apache Kafka answers to produced records, one log for all of them.
//     java -cp 'libs/*' ValidationOracle.java DIRECTORY NOW_MS KEY=VALUE...
// in   int32 length | records          out   int16 error | int64 base offset | int64 last offset |
//                                            int32 n | n times int32 index of a record in error
public class ValidationOracle {
    public static void main(String[] args) throws Exception {
        long now = Long.parseLong(args[1]);
        Map<String, String> settings = new HashMap<>();
        for (int i = 2; i < args.length; i++) {
            String[] parts = args[i].split("=", 2);
            settings.put(parts[0], parts[1]);
        }
        Time clock = (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, arguments) -> method.getName().equals("milliseconds")
                ? (Object) now : method.invoke(Time.SYSTEM, arguments));
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        UnifiedLog log = UnifiedLog.create(new File(args[0]), new LogConfig(settings), 0L, 0L, scheduler,
            new BrokerTopicStats(), clock, 900000, new ProducerStateManagerConfig(86400000, false),
            600000, new LogDirFailureChannel(1), true, Optional.empty());
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        while (true) {
            byte[] bytes;
            try {
                bytes = new byte[in.readInt()];
            } catch (EOFException end) {
                System.exit(0);
                return;
            }
            in.readFully(bytes);
            MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes));
            Errors error = Errors.NONE;
            long first = -1;
            long last = -1;
            List<ProduceResponse.RecordError> wrong = List.of();
            try {
                ProduceRequest.validateRecords((short) 9, records);
                LogAppendInfo info = log.appendAsLeader(records, 0);
                first = info.firstOffset();
                last = info.lastOffset();
            } catch (RecordValidationException refused) {
                error = Errors.forException(refused.invalidException());
                wrong = refused.recordErrors();
            } catch (Throwable refused) {
                error = Errors.forException(refused);
            }
            out.writeShort(error.code());
            out.writeLong(first);
            out.writeLong(last);
            out.writeInt(wrong.size());
            for (ProduceResponse.RecordError each : wrong)
                out.writeInt(each.batchIndex);
            out.flush();
        }
    }
}
